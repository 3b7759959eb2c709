#include "Autodiff/Passes.h"
#include "Autodiff/Transposer.h"
#include "Batch/Passes.h"

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

/// The search stops after this many values; "not known" is a valid answer.
static constexpr unsigned kLooks = 64;

static bool isNaN(Value v) {
  while (auto broadcast = v.getDefiningOp<BroadcastOp>())
    v = broadcast.getX();
  DenseElementsAttr value;
  return matchPattern(v, m_Constant(&value)) && value.isSplat() &&
         value.getSplatValue<APFloat>().isNaN();
}

static bool isZero(Value v, unsigned &looks) {
  if (looks == 0 || !isFloat(v))
    return false;
  --looks;
  if (isSplat(v, 0) || isNaN(v))
    return true;
  Operation *op = v.getDefiningOp();
  const Rule *rule = op ? Rules::get().lookup(op) : nullptr;
  auto all = [&](auto values) {
    return llvm::all_of(values, [&](Value v) { return isZero(v, looks); });
  };
  if (!rule)
    return false;
  if (isa<SwitchOp, CheckpointOp>(op)) {
    unsigned i = cast<OpResult>(v).getResultNumber();
    return all(llvm::map_range(op->getRegions(), [&](Region &region) {
      return region.front().getTerminator()->getOperand(i);
    }));
  }
  if (op->hasAttr(kStandInAttr))
    return true;
  SmallVector<Value> operands;
  for (OpOperand &operand : op->getOpOperands())
    if (rule->isLinearIn(operand.getOperandNumber()) && isFloat(operand.get()))
      operands.push_back(operand.get());
  switch (rule->linearity) {
  case Linearity::None:
    return false;
  case Linearity::Jointly:
    return all(operands);
  case Linearity::Each:
    return llvm::any_of(operands, [&](Value v) { return isZero(v, looks); });
  }
  return false;
}

bool xtensor::isZero(Value v) {
  unsigned looks = kLooks;
  return ::isZero(v, looks);
}

bool xtensor::isSameForAllTangents(Operation *op) {
  if (auto compare = dyn_cast<CompareOp>(op))
    return compare.getLhs() == compare.getRhs();
  return isa<IsfiniteOp, IsinfOp, IsnanOp, SizeOp>(op);
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
  }
  for (OpOperand &operand : op->getOpOperands()) {
    // Beside a tangent, only a zero keeps a sum linear.
    if (rule.linearity == Linearity::Jointly && rule.isLinearIn(operand.getOperandNumber()) &&
        !linear.contains(operand.get()) && isFloat(operand.get()) && !isZero(operand.get()))
      return op->emitOpError("puts a value that is neither a tangent nor zero beside a tangent");
  }
  if (rule.linearity == Linearity::Each && tangents != 1)
    return op->emitOpError() << "multiplies " << tangents << " tangents";
  return success();
}

LogicalResult xtensor::collectLinear(Block &block, DenseSet<Value> &linear) {
  for (Operation &op : block.without_terminator()) {
    bool any = false;
    forEachUse(&op, [&](OpOperand &operand) { any |= linear.contains(operand.get()); });
    if (!any || isSameForAllTangents(&op) || op.hasAttr(kStandInAttr))
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
    if (!linear.contains(v) && !isZero(v))
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
