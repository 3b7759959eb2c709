// What is the same at every step of a loop is worked out before it.
#include "Simplify/Patterns.h"
#include "XTensor/Dims.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;
using namespace xtensor;

/// Up to this many elements are read from a cache faster than they are worked out.
static constexpr int64_t kSmall = 4096;

static int64_t elements(ArrayType type) {
  int64_t product = 1;
  for (int64_t size : type.getShape())
    product = std::min<int64_t>(product * (size == ArrayType::kDynamic ? 4096 : size), 1 << 30);
  return product;
}

/// An outer sum or comparison costs less than reading it back at every step.
static bool isBetterRepeated(Operation *op) {
  if (!isa<AddOp, AndOp, CompareOp, MaximumOp, MinimumOp, MulOp, OrOp, SelectOp, SubOp, XorOp>(op))
    return false;
  int64_t size = elements(arrayType(op->getResult(0)));
  return size > kSmall && llvm::all_of(op->getOperands(), [&](Value operand) {
           return elements(arrayType(operand)) < size;
         });
}

static bool mayLeave(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>() || !isMemoryEffectFree(op) || !isSpeculatable(op))
    return false;
  if (!llvm::all_of(op->getResultTypes(), llvm::IsaPred<ArrayType>))
    return false;
  return !isBetterRepeated(op);
}

void xtensor::hoistInvariants(Operation *root) {
  root->walk([](LoopLikeOpInterface loop) { // inner loops first
    if (!isa<ScanOp, WhileOp>(loop))
      return;
    moveLoopInvariantCode(
        loop.getLoopRegions(),
        [&](Value value, Region *) { return loop.isDefinedOutsideOfLoop(value); },
        [](Operation *op, Region *) { return mayLeave(op); },
        [&](Operation *op, Region *) { loop.moveOutOfLoop(op); });
  });
}
