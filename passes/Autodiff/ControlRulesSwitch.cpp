// switch: the residuals of all branches are joined. Each branch returns zeros for the residuals of
// the others.
#include "Autodiff/ControlRules.h"
#include "Autodiff/Residuals.h"
#include "XTensor/Fault.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace xtensor;

/// Whether the size of a dim of `v` is computed inside of `branch`, so that the other branches
/// cannot return zeros of this size.
static bool isSizedInside(Linearizer &l, Region &branch, Value v) {
  return llvm::any_of(l.sizes(v),
                      [&](Value size) { return branch.isAncestor(size.getParentRegion()); });
}

/// Computes residuals of `branch` again in `draft`, its linear part, from values that can be
/// residuals.
class Recomputed {
public:
  Recomputed(Linearizer &l, Region &branch, Block &draft)
      : l(l), branch(branch), draft(draft), b(draft.getParentOp()->getContext()) {
    b.setInsertionPointToStart(&draft);
  }

  /// Adds to `residuals` what `v` needs: itself, or the operands of the op that is computed again.
  LogicalResult add(Value v, llvm::SetVector<Value> &residuals) {
    if (!branch.isAncestor(v.getParentRegion()) || map.contains(v))
      return success();
    if (!isSizedInside(l, branch, v)) {
      residuals.insert(v);
      return success();
    }
    for (StringAttr dim : dynamicDims(arrayType(v)))
      if (branch.isAncestor(l.sizeOf(v, dim).getParentRegion()) && !names.contains(dim))
        names[dim] =
            nameOfSteps(branch.getParentOp(), llvm::to_vector(llvm::make_second_range(names)));
    Operation *op = v.getDefiningOp();
    bool hasOrder = false;
    op->walk([&](CallbackOp call) { hasOrder |= call.getOrdered(); });
    if (hasOrder)
      return op->emitOpError("has the size of a dim that is known only inside of a branch, and the "
                             "derivative needs it outside. Leave the dims that it follows from out "
                             "of dynamic_dims=")
             << Fault::Size;
    SmallVector<Value> operands; // and what its regions use from outside
    forEachUse(op, [&](OpOperand &use) {
      if (!op->isAncestor(use.get().getParentRegion()->getParentOp()))
        operands.push_back(use.get());
    });
    for (Value operand : operands)
      if (failed(add(operand, residuals)))
        return failure();
    Operation *again = b.clone(*op, map);
    for (auto [from, to] : llvm::zip_equal(op->getResults(), again->getResults()))
      replaceUsesInside(*draft.getParent(), from, to);
    return success();
  }

  /// Renames the dims whose sizes are computed again: in a function, all dims of one name have one
  /// size, and neither place can see the other's.
  void renameDims() {
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](StringAttr name) -> std::optional<Attribute> {
      auto found = names.find(name);
      return found == names.end() ? std::nullopt : std::optional<Attribute>(found->second);
    });
    if (!names.empty())
      for (Operation &op : draft)
        replacer.recursivelyReplaceElementsIn(&op, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                              /*replaceTypes=*/true);
  }

private:
  Linearizer &l;
  Region &branch;
  Block &draft;
  OpBuilder b;
  IRMapping map;
  DenseMap<StringAttr, StringAttr> names;
};

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
    SmallVector<Value> chosen = chooseResiduals(branch, *draft, isFree);
    Recomputed recomputed(l, branch, *draft);
    llvm::SetVector<Value> needed;
    for (Value v : chosen)
      if (failed(recomputed.add(v, needed)))
        return failure();
    recomputed.renameDims();
    for (Value v : needed) {
      auto known = llvm::find(own, v);
      residuals.push_back(
          {draft->getParent(), v, known != own.end() ? known - own.begin() : types.size()});
      if (known != own.end())
        continue;
      types.push_back(v.getType());
      for (Region &other : op.getBranches()) {
        Operation *yield = other.front().getTerminator();
        l.primal.setInsertionPoint(yield);
        Value out =
            &other == &branch ? v : zeros(l.primal, l.primal.getLoc(), arrayType(v), l.sizes(v));
        yield->insertOperands(yield->getNumOperands(), out);
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
