#include "Estimates.h"
#include "XTensor/XTensor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace xtensor;

Amount xtensor::estimateIterations(linalg::LinalgOp op) {
  return Amount::ofSizes(op.getStaticLoopRanges());
}

bool xtensor::isFunction(Operation *op) {
  return isa_and_nonnull<math::MathDialect>(op->getDialect()) || isa<ElementaryOp>(op);
}

static bool isCheapMath(Operation &op) {
  return isa<math::AbsFOp, math::AbsIOp, math::FmaOp, math::CopySignOp, math::FloorOp, math::CeilOp,
             math::TruncOp, math::RoundEvenOp>(op);
}

static bool isDivision(Operation &op) {
  return isa<arith::DivFOp, arith::RemFOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp,
             arith::RemUIOp, arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
             math::SqrtOp>(op);
}

/// A bool on its way into a byte of memory and back: fused bodies have it as it is.
static bool isStoredBool(Operation &op) {
  if (isa<arith::ExtUIOp>(op))
    return op.getOperand(0).getType().isInteger(1);
  return isa<arith::CmpIOp>(op) && op.getOperand(0).getType().isInteger(8) &&
         matchPattern(op.getOperand(1), m_Zero());
}

static unsigned costOf(Operation &op) {
  if (op.hasTrait<OpTrait::IsTerminator>() || op.hasTrait<OpTrait::ConstantLike>() ||
      isa<linalg::IndexOp>(op) || isStoredBool(op))
    return 0;
  if (isDivision(op))
    return kDivisionCost;
  if (op.getNumRegions() || isa<tensor::ExtractOp>(op))
    return kMathCost;
  if (isFunction(&op) && !isCheapMath(op))
    return kMathCost;
  return 1;
}

unsigned xtensor::bodyCost(linalg::LinalgOp op) {
  unsigned cost = 0;
  for (Operation &inner : *op.getBlock())
    cost += costOf(inner);
  return cost;
}

bool xtensor::hasExpensiveBody(linalg::LinalgOp op) {
  return llvm::any_of(*op.getBlock(),
                      [](Operation &inner) { return costOf(inner) >= kDivisionCost; });
}

Amount xtensor::workOf(linalg::LinalgOp op) {
  return estimateIterations(op) * std::max(1u, bodyCost(op));
}
