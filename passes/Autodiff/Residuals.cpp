#include "Autodiff/Residuals.h"

#include "Autodiff/Transposer.h"
#include "XTensor/Products.h"
#include "mlir/IR/IRMapping.h"

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

/// What `op` is worked out from, again. Whether a product is fused with a sum shows where the sum
/// is computed, so the sum is worked out with its products, never from stored ones.
static SmallVector<Value> sourcesOf(Operation *op) {
  SmallVector<MulOp, 2> products = productsOf(op);
  SmallVector<Value> sources;
  for (Value operand : op->getOperands()) {
    auto product = operand.getDefiningOp<MulOp>();
    if (llvm::is_contained(products, product))
      llvm::append_range(sources, product->getOperands());
    else
      sources.push_back(operand);
  }
  return sources;
}

/// Whether what `op` gives is only a factor or a term inside of `own`. Elsewhere, as where it is
/// compared with what was found among its elements, it must be what it was to the last bit.
static bool isArithmetic(Operation *op, Region *own) {
  SetVector<Operation *> slice;
  slice.insert(op);
  for (size_t i = 0; i < slice.size(); ++i)
    for (Operation *user : slice[i]->getUsers()) {
      if (!own->isAncestor(user->getParentRegion()) || user->hasTrait<OpTrait::IsTerminator>())
        continue;
      if (!isa<AddOp, BroadcastOp, ContractOp, DivOp, MulOp, NegOp, RenameOp, ReduceOp, ScaleOp,
               SelectOp, SqueezeOp, SubOp>(user))
        return false;
      slice.insert(user);
    }
  return true;
}

/// `op` worked out again at the start of `user`. A quotient beside the reciprocal of its divisor,
/// as its derivative has it, is a product with that: one division, not two.
static Value workOutAgain(OpBuilder &b, Operation *op, Block &user) {
  b.setInsertionPointToStart(&user);
  if (auto quotient = dyn_cast<DivOp>(op); quotient && isArithmetic(op, user.getParent()))
    for (auto known : user.getOps<DivOp>())
      if (known.getRhs() == quotient.getRhs() && isSplat(known.getLhs(), 1) &&
          known.getLhs().getDefiningOp<ConstantOp>() &&
          known.getType() == known.getRhs().getType()) {
        Location loc = op->getLoc();
        IRMapping map;
        if (Operation *one = known.getLhs().getDefiningOp(); one->getBlock() == &user)
          b.clone(*one, map);
        Value inverse = b.clone(*known, map)->getResult(0);
        known.replaceAllUsesWith(inverse);
        known.erase();
        b.setInsertionPointAfterValue(inverse); // not before what is erased
        return MulOp::create(b, loc, quotient.getLhs(), inverse);
      }
  IRMapping map;
  for (MulOp product : productsOf(op))
    b.clone(*product, map);
  return b.clone(*op, map)->getResult(0);
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
    SmallVector<Value> sources = sourcesOf(&op);
    for (Value v : sources)
      if (isInside(v) && !isFree(v) && !needed.contains(v) && !v.getDefiningOp<ConstantOp>())
        more.insert(v);
    if (more.size() > 1 || (more.size() == 1 && !isNoLarger(more[0], result)))
      continue;
    Value again = workOutAgain(b, &op, user);
    result.replaceUsesWithIf(
        again, [&](OpOperand &use) { return own->isAncestor(use.getOwner()->getParentRegion()); });
    needed.erase(result);
    for (Value v : sources)
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
