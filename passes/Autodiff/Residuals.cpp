#include "Autodiff/Residuals.h"

#include "Autodiff/Transposer.h"

using namespace mlir;
using namespace xtensor;

/// Worth working out again rather than storing: no more than a few instructions per element
/// beside the loads.
static bool isCheap(Operation *op) {
  return isa<AbsOp, AddOp, AndOp, BroadcastOp, CastOp, CompareOp, ConstantOp, CopysignOp, DivOp,
             IotaOp, IsfiniteOp, IsinfOp, IsnanOp, MaximumOp, MinimumOp, MulOp, NegOp, NotOp, OrOp,
             RenameOp, ReverseOp, RsqrtOp, ScaleOp, SelectOp, SignOp, SizeOp, SqrtOp, SqueezeOp,
             StopGradientOp, SubOp, WindowOp, XorOp>(op);
}

/// Whether `v` has no more elements than `than`, as far as dims tell.
static bool isNoLarger(Value v, Value than) {
  return isa<SizeOp>(than.getDefiningOp()) || lacking(arrayType(v), arrayType(than)).empty();
}

/// A cheap value is worked out again where that needs at most one value more than is there.
SmallVector<Value> xtensor::chooseResiduals(Region &region, Block &user,
                                            function_ref<bool(Value)> isFree) {
  Region *own = user.getParent();
  auto isOutside = [&](Value v) { return !own->isAncestor(v.getParentRegion()); };
  auto isInside = [&](Value v) { return region.isAncestor(v.getParentRegion()) && isOutside(v); };
  DenseSet<Value> needed;
  for (Operation &op : user)
    forEachUse(&op, [&](OpOperand &operand) {
      if (isInside(operand.get()))
        needed.insert(operand.get());
    });

  OpBuilder b(region.getContext());
  for (Operation &op : llvm::reverse(region.front().without_terminator())) {
    if (op.getNumResults() != 1 || !isCheap(&op))
      continue;
    Value result = op.getResult(0);
    if (!needed.contains(result) || isFree(result))
      continue;
    llvm::SmallSetVector<Value, 2> more;
    for (Value v : op.getOperands())
      if (isInside(v) && !isFree(v) && !needed.contains(v) && !v.getDefiningOp<ConstantOp>())
        more.insert(v);
    if (more.size() > 1 || (more.size() == 1 && !isNoLarger(more[0], result)))
      continue;
    b.setInsertionPointToStart(&user);
    Value again = b.clone(op)->getResult(0);
    result.replaceUsesWithIf(
        again, [&](OpOperand &use) { return own->isAncestor(use.getOwner()->getParentRegion()); });
    needed.erase(result);
    for (Value v : op.getOperands())
      if (isInside(v))
        needed.insert(v);
  }

  // What is needed now, in the order of its use.
  llvm::SetVector<Value> residuals;
  for (Operation &op : user)
    forEachUse(&op, [&](OpOperand &operand) {
      if (needed.contains(operand.get()))
        residuals.insert(operand.get());
    });
  return residuals.takeVector();
}
