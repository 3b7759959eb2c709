// Ops with regions: how each linearises, transposes and is checked for linearity.
#include "Autodiff/ControlRules.h"

using namespace mlir;
using namespace xtensor;

LogicalResult xtensor::verifyRegions(Operation *op, DenseSet<Value> &linear) {
  for (Value operand : op->getOperands())
    if (linear.contains(operand))
      return op->emitOpError("chooses by a tangent");
  for (Region &region : op->getRegions())
    if (failed(collectLinear(region.front(), linear)))
      return failure();
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    SmallVector<Value> yields;
    for (Region &region : op->getRegions())
      yields.push_back(region.front().getTerminator()->getOperand(i));
    if (llvm::none_of(yields, [&](Value v) { return linear.contains(v); }))
      continue;
    for (auto [region, v] : llvm::zip_equal(op->getRegions(), yields))
      if (failed(checkAllLinear(region.front().getTerminator(), v, linear)))
        return failure();
    linear.insert(result);
  }
  return success();
}

LogicalResult xtensor::transposeRegions(Transposer &t, Operation *from,
                                        function_ref<Operation *(ArrayRef<Type>)> make) {
  Location loc = t.b.getLoc();
  SmallVector<Value> captured = capturedLinear(t, from);
  Operation *op = make(llvm::map_to_vector(captured, [](Value v) { return v.getType(); }));
  for (auto [source, target] : llvm::zip_equal(from->getRegions(), op->getRegions())) {
    Transposer inner(t, source.front());
    inner.b.createBlock(&target);
    for (auto [v, y] :
         llvm::zip_equal(source.front().getTerminator()->getOperands(), from->getResults()))
      if (Value ct = t.isLinear(v) ? t.cotangent(y) : Value())
        inner.accumulate(v, ct);
    if (failed(inner.run(source.front())))
      return failure();
    inner.b.setLoc(loc);
    SmallVector<Value> yields =
        llvm::map_to_vector(captured, [&](Value v) { return inner.cotangentOrZero(v); });
    YieldOp::create(inner.b, yields);
  }
  for (auto [i, v] : llvm::enumerate(captured)) {
    // A zero that comes out of a region does not look like one: it would make a sum affine.
    bool isZero = llvm::all_of(op->getRegions(), [i = i](Region &region) {
      return isSplat(region.front().getTerminator()->getOperand(i), 0);
    });
    if (!isZero)
      t.accumulate(v, op->getResult(i));
  }
  return success();
}

//===- apply ---------------------------------------------------------------===//

static LogicalResult verifyApply(Operation *op, DenseSet<Value> &linear) {
  auto args = cast<ApplyOp>(op).getArgs();
  if (failed(checkAllLinear(op, args, linear)))
    return failure();
  linear.insert(op->result_begin(), op->result_end());
  return success();
}

/// A map inside of a map: its transpose is applied, and made only if it is not there already.
static LogicalResult transposeApply(Transposer &t, Operation *o) {
  auto op = cast<ApplyOp>(o);
  Value handle = t.residual(op.getMap()), back;
  if (auto transposed = handle.getDefiningOp<TransposedOp>())
    back = transposed.getMap();
  else
    back = TransposedOp::create(t.b, handle);
  SmallVector<Value> cts =
      llvm::map_to_vector(op.getResults(), [&](Value y) { return t.cotangentOrZero(y); });
  auto result = ApplyOp::create(t.b, op.getArgs().getTypes(), back, cts);
  for (auto [v, ct] : llvm::zip_equal(op.getArgs(), result.getResults()))
    if (t.isLinear(v))
      t.accumulate(v, ct);
  return success();
}

Rule xtensor::applyRule() {
  Rule rule{Table::Request};
  rule.verifyControl = verifyApply;
  rule.transposeControl = transposeApply;
  return rule;
}

void xtensor::addControlRules(Rules &rules) {
  rules.add<ApplyOp>(applyRule());
  rules.add<CheckpointOp>(checkpointRule());
  rules.add<CustomDerivativeOp>(customDerivativeRule());
  rules.add<ScanOp>(scanRule());
  rules.add<SwitchOp>(switchRule());
  rules.add<WhileOp>(whileRule());
}
