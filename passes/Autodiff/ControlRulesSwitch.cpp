// switch: the residuals of all branches are joined. Each branch returns zeros for the residuals of
// the others.
#include "Autodiff/ControlRules.h"
#include "Autodiff/Residuals.h"
#include "XTensor/Fault.h"

using namespace mlir;
using namespace xtensor;

/// Zeros of the type of `v`, a value of branch `home`, for another branch.
static FailureOr<Value> standIn(Linearizer &l, SwitchOp op, Region &home, Value v) {
  SmallVector<Value> sizes = l.sizes(v);
  for (auto [dim, size] : llvm::zip_equal(dynamicDims(arrayType(v)), sizes))
    if (home.isAncestor(size.getParentRegion()))
      return op.emitOpError("the size of dim ")
             << dim << " is known only inside of a branch, and the derivative needs it outside. "
             << "Leave the dims that it follows from out of dynamic_dims=" << Fault::Size;
  return zeros(l.primal, l.primal.getLoc(), arrayType(v), sizes);
}

static LogicalResult linearizeSwitch(Linearizer &l, Operation *o) {
  auto op = cast<SwitchOp>(o);
  Location loc = l.linear.getLoc(), primalLoc = l.primal.getLoc();
  OpBuilder::InsertPoint after = l.linear.saveInsertionPoint();
  SmallVector<Draft> drafts;
  for (Region &branch : op.getBranches()) {
    l.linear.restoreInsertionPoint(after);
    drafts.emplace_back(l.linear);
    l.linear.setInsertionPointToEnd(&*drafts.back());
    if (failed(l.runInside(branch.front())))
      return failure();
  }
  l.linear.setLoc(loc);
  l.primal.setLoc(primalLoc);

  SmallVector<unsigned> places;
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    if (llvm::any_of(op.getBranches(), [&](Region &branch) {
          Value v = branch.front().getTerminator()->getOperand(i);
          return isFloat(v) && l.tangent(v);
        }))
      places.push_back(i);
  for (auto [branch, draft] : llvm::zip_equal(op.getBranches(), drafts)) {
    l.linear.setInsertionPointToEnd(&*draft);
    SmallVector<Value> yields;
    for (unsigned i : places)
      yields.push_back(l.tangentOrZero(branch.front().getTerminator()->getOperand(i)));
    YieldOp::create(l.linear, yields);
    eraseUnused(l, *draft);
  }
  l.linear.restoreInsertionPoint(after);

  // Residuals become results; what is a result already is found there.
  SmallVector<Type> types(op.getResultTypes());
  SmallVector<std::tuple<Region *, Value, unsigned>> residuals; // linear branch, value, result
  for (auto [branch, draft] : llvm::zip_equal(op.getBranches(), drafts)) {
    OperandRange own =
        branch.front().getTerminator()->getOperands().take_front(op->getNumResults());
    auto isFree = [&](Value v) { return llvm::is_contained(own, v); };
    for (Value v : chooseResiduals(branch, *draft, isFree)) {
      auto known = llvm::find(own, v);
      residuals.push_back(
          {draft->getParent(), v, known != own.end() ? known - own.begin() : types.size()});
      if (known != own.end())
        continue;
      types.push_back(v.getType());
      for (Region &other : op.getBranches()) {
        Operation *yield = other.front().getTerminator();
        l.primal.setInsertionPoint(yield);
        FailureOr<Value> out = &other == &branch ? v : standIn(l, op, branch, v);
        if (failed(out))
          return failure();
        yield->insertOperands(yield->getNumOperands(), *out);
      }
      own = branch.front().getTerminator()->getOperands().take_front(op->getNumResults());
    }
  }

  OpBuilder b(op);
  auto primal = SwitchOp::create(b, op.getLoc(), types, op.getSelector(), drafts.size());
  for (auto [from, to] : llvm::zip_equal(op.getBranches(), primal.getBranches()))
    to.takeBody(from);
  for (auto [branch, v, result] : residuals)
    replaceUsesInside(*branch, v, primal.getResult(result));
  SmallVector<Type> linearTypes = llvm::map_to_vector(places, [&](unsigned i) { return types[i]; });
  auto linear = SwitchOp::create(l.linear, linearTypes, op.getSelector(), drafts.size());
  for (auto [draft, to] : llvm::zip_equal(drafts, linear.getBranches()))
    draft.moveTo(to);
  l.primal.setInsertionPointAfter(primal);
  for (auto [i, t] : llvm::zip_equal(places, linear.getResults()))
    l.setTangent(primal.getResult(i), t);
  op->replaceAllUsesWith(primal.getResults().take_front(op->getNumResults()));
  op->erase();
  return success();
}

static LogicalResult transposeSwitch(Transposer &t, Operation *o) {
  auto op = cast<SwitchOp>(o);
  return transposeRegions(t, op, [&](ArrayRef<Type> types) {
    return SwitchOp::create(t.b, types, t.residual(op.getSelector()), op.getBranches().size());
  });
}

Rule xtensor::switchRule() {
  Rule rule{Table::Control};
  rule.linearizeControl = linearizeSwitch;
  rule.transposeControl = transposeSwitch;
  rule.verifyControl = verifyRegions;
  rule.text = "residuals of all branches, zeros for those that did not run";
  return rule;
}
