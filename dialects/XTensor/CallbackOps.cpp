// Verifier and effects of calls of functions that are not compiled.
#include "XTensor/CallbackOps.h"
#include "XTensor/Dims.h"
#include "XTensor/Fault.h"
#include "XTensor/XTensor.h"

using namespace mlir;
using namespace xtensor;

LogicalResult CallbackOp::verify() {
  for (Value result : getResults())
    for (StringAttr dim : dynamicDims(arrayType(result)))
      if (llvm::none_of(getArgs(), [&](Value arg) { return arrayType(arg).hasDim(dim); }))
        return emitOpError() << Fault::Size << "result " << describeDims(arrayType(result))
                             << ": no argument has the dim " << dim << ", so its size is not known";
  unsigned positions = getNumInstances();
  auto isPosition = [](Value v) {
    return arrayType(v).getRank() == 0 && arrayType(v).getElementType().isInteger(64);
  };
  if (positions > getArgs().size() || !llvm::all_of(getPositions(), isPosition))
    return emitOpError() << "has " << positions
                         << " names of instances: the last arguments must be "
                         << "as many positions, i64 without dims";
  if (getResults().empty() && !getOrdered())
    return emitOpError("has no results and is not ordered: nothing would keep it");
  if (getOrdered() && getTogether())
    return emitOpError("is ordered: it is made for one instance after another, not together");
  return success();
}

void CallbackOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  if (getOrdered())
    effects.emplace_back(MemoryEffects::Write::get());
}

/// It may raise, or take long: it must not run where the program would not run it.
Speculation::Speculatability CallbackOp::getSpeculatability() {
  return Speculation::NotSpeculatable;
}

static bool isEffect(CallbackOp op) { return op.getOrdered() && op.getResults().empty(); }

bool xtensor::callsInOrder(Operation *op) {
  auto found = [](CallbackOp call) {
    return call.getOrdered() ? WalkResult::interrupt() : WalkResult::advance();
  };
  return op->walk(found).wasInterrupted();
}

void xtensor::eraseEffects(Operation *op) {
  if (auto call = dyn_cast<CallbackOp>(op); call && isEffect(call)) {
    call.erase();
    return;
  }
  auto custom = dyn_cast<CustomDerivativeOp>(op);
  for (Region &region : op->getRegions())
    if (!custom || &region == &custom.getPrimal() || &region == &custom.getForward())
      for (Block &block : region)
        for (Operation &inner : llvm::make_early_inc_range(block))
          eraseEffects(&inner);
}
