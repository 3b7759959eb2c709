// Computes values that are the same in every step of a loop before the loop.
#include "Estimates.h"
#include "Simplify/Patterns.h"
#include "XTensor/Dims.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;
using namespace xtensor;

/// An outer sum or comparison costs less than reading it back at every step.
static bool isBetterRepeated(Operation *op) {
  if (!isa<AddOp, AndOp, CompareOp, MaximumOp, MinimumOp, MulOp, OrOp, SelectOp, SubOp, XorOp>(op))
    return false;
  auto elements = [](Value v) { return Amount::ofSizes(arrayType(v).getShape()); };
  Amount size = elements(op->getResult(0));
  return size > kSmallArray &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return elements(operand) < size; });
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
