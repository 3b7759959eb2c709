#include "Autodiff/Passes.h"
#include "Autodiff/Transposer.h"

using namespace mlir;
using namespace xtensor;

namespace xtensor {
#define GEN_PASS_DEF_VERIFYLINEAR
#include "Autodiff/Passes.h.inc"
} // namespace xtensor

void xtensor::forEachUse(Operation *op, function_ref<void(OpOperand &)> fn) {
  if (op->getNumRegions() == 0) {
    for (OpOperand &operand : op->getOpOperands())
      fn(operand);
    return;
  }
  op->walk([&](Operation *nested) {
    for (OpOperand &operand : nested->getOpOperands())
      fn(operand);
  });
}

static LogicalResult checkLinear(Operation *op, const Rule &rule, const DenseSet<Value> &linear) {
  unsigned tangents = 0;
  for (OpOperand &operand : op->getOpOperands()) {
    bool isTangent = linear.contains(operand.get());
    bool mayBeTangent = rule.isLinearIn(operand.getOperandNumber());
    tangents += isTangent;
    if (isTangent && !mayBeTangent)
      return op->emitOpError() << "depends on a tangent through operand "
                               << operand.getOperandNumber() << ", in which it is not linear";
    // Beside a tangent, only a zero keeps a sum linear.
    if (rule.linearity == Linearity::Jointly && mayBeTangent && !isTangent &&
        isFloat(operand.get()) && !isSplat(operand.get(), 0))
      return op->emitOpError() << "is affine: operand " << operand.getOperandNumber()
                               << " is neither a tangent nor zero";
  }
  if (rule.linearity == Linearity::Each && tangents != 1)
    return op->emitOpError() << "multiplies " << tangents << " tangents";
  return success();
}

LogicalResult xtensor::collectLinear(Block &block, DenseSet<Value> &linear) {
  for (Operation &op : block.without_terminator()) {
    bool any = false;
    forEachUse(&op, [&](OpOperand &operand) { any |= linear.contains(operand.get()); });
    if (!any || isa<SizeOp>(op)) // a size is the same for every tangent
      continue;
    const Rule *rule = Rules::get().lookup(&op);
    if (rule && rule->verifyControl) {
      if (failed(rule->verifyControl(&op, linear)))
        return failure();
      continue;
    }
    if (!rule || rule->linearity == Linearity::None)
      return op.emitOpError("depends on a tangent, but is not linear");
    if (failed(checkLinear(&op, *rule, linear)))
      return failure();
    for (Value v : op.getResults())
      if (isFloat(v))
        linear.insert(v);
  }
  return success();
}

LogicalResult xtensor::checkAllLinear(Operation *op, ValueRange values,
                                      const DenseSet<Value> &linear) {
  for (Value v : values)
    if (!linear.contains(v) && !isSplat(v, 0))
      return op->emitOpError("yields a value that no tangent reaches");
  return success();
}

LogicalResult xtensor::collectLinear(LinearOp map, DenseSet<Value> &linear) {
  Block *body = map.getBody();
  linear.insert(body->args_begin(), body->args_end());
  if (failed(collectLinear(*body, linear)))
    return failure();
  return checkAllLinear(body->getTerminator(), body->getTerminator()->getOperands(), linear);
}

namespace {
struct VerifyLinear : xtensor::impl::VerifyLinearBase<VerifyLinear> {
  void runOnOperation() final {
    getOperation()->walk([&](LinearOp op) {
      DenseSet<Value> linear;
      if (!op.getTrusted() && failed(collectLinear(op, linear)))
        signalPassFailure();
    });
  }
};
} // namespace
