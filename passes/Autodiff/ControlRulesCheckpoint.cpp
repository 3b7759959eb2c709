// checkpoint: the linear part recomputes what it needs from the values that the region captured.
#include "Autodiff/ControlRules.h"
#include "XTensor/CallbackOps.h"

using namespace mlir;
using namespace xtensor;

/// Forwards there is nothing to keep: the region's code stands in the op's place.
static bool dissolveForwards(Linearizer &l, Operation *op) {
  if (!l.isForward())
    return false;
  dissolve(cast<CheckpointOp>(op));
  return true;
}

void xtensor::dissolve(CheckpointOp op) {
  Block *body = op.getBody();
  SmallVector<Value> results(body->getTerminator()->getOperands());
  body->getTerminator()->erase();
  op->getBlock()->getOperations().splice(op->getIterator(), body->getOperations());
  op->replaceAllUsesWith(results);
  op->erase();
}

/// A copy of the region's code at the end of `block`, which reads what the region captures
/// through barriers. `values` maps the region's values to those of the copy.
static void copyBehindBarriers(ImplicitLocOpBuilder &b, Linearizer &l, CheckpointOp op,
                               IRMapping &values) {
  Region &region = op.getBodyRegion();
  Attribute id = DistinctAttr::create(b.getUnitAttr());
  for (Operation &inner : *op.getBody())
    forEachUse(&inner, [&](OpOperand &use) {
      Value v = use.get();
      if (region.isAncestor(v.getParentRegion()) || values.contains(v) ||
          v.getDefiningOp<ConstantOp>())
        return;
      Value copy = BarrierOp::create(b, v, id);
      values.map(v, copy);
      if (Value t = l.tangent(v))
        l.setKnownTangent(copy, t);
    });
  for (Operation &inner : op.getBody()->without_terminator()) {
    Operation *copy = b.clone(inner, values);
    copy->setLoc(derived(inner.getLoc(), "recomputed"));
    eraseEffects(copy);
  }
}

LogicalResult xtensor::linearizeCheckpoint(Linearizer &l, Operation *o) {
  auto op = cast<CheckpointOp>(o);
  Location loc = l.linear.getLoc(), primalLoc = l.primal.getLoc();
  OpBuilder::InsertPoint after = l.linear.saveInsertionPoint();
  Draft again(l.linear);
  l.linear.setInsertionPointToEnd(&*again);
  IRMapping values;
  copyBehindBarriers(l.linear, l, op, values);
  SmallVector<Value> copies =
      llvm::map_to_vector(op.getBody()->getTerminator()->getOperands(),
                          [&](Value v) { return values.lookupOrDefault(v); });
  YieldOp::create(l.linear, copies);

  l.linear.restoreInsertionPoint(after);
  Draft draft(l.linear);
  l.linear.setInsertionPointToEnd(&*draft);
  if (failed(l.runInside(*again)))
    return failure();
  l.linear.setLoc(loc);
  l.primal.setLoc(primalLoc);
  SmallVector<Value> yields;
  SmallVector<Type> types;
  SmallVector<Value> moving;
  for (auto [copy, y] : llvm::zip_equal(again->getTerminator()->getOperands(), op.getResults()))
    if (Value t = isFloat(copy) ? l.tangent(copy) : Value()) {
      yields.push_back(t);
      types.push_back(t.getType());
      moving.push_back(y);
    }
  YieldOp::create(l.linear, yields);
  l.linear.restoreInsertionPoint(after);

  again->getTerminator()->erase();
  eraseUnused(l, *draft);
  draft->getOperations().splice(draft->begin(), again->getOperations());
  auto linear = CheckpointOp::create(l.linear, types);
  draft.moveTo(linear.getBodyRegion());
  again->getParentOp()->erase();
  l.primal.setInsertionPointAfter(op);
  for (auto [y, t] : llvm::zip_equal(moving, linear.getResults()))
    l.setTangent(y, t);
  return success();
}

static LogicalResult transposeCheckpoint(Transposer &t, Operation *op) {
  return transposeRegions(t, op,
                          [&](ArrayRef<Type> types) { return CheckpointOp::create(t.b, types); });
}

Rule xtensor::checkpointRule() {
  Rule rule{Table::Control};
  rule.rewrite = dissolveForwards;
  rule.linearizeControl = linearizeCheckpoint;
  rule.transposeControl = transposeCheckpoint;
  rule.verifyControl = verifyRegions;
  rule.text = "computed again";
  return rule;
}
