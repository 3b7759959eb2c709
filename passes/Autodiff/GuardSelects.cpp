#include "Autodiff/Passes.h"
#include "Autodiff/Transposer.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace xtensor;

namespace xtensor {
#define GEN_PASS_DEF_GUARDSELECTS
#include "Autodiff/Passes.h.inc"
} // namespace xtensor

/// Whether no element of `v` can be infinite or NaN, as far as a short look tells.
static bool isFinite(Value v, unsigned depth = 4) {
  DenseElementsAttr constant;
  if (matchPattern(v, m_Constant(&constant)))
    return constant.isSplat() ? constant.getSplatValue<APFloat>().isFinite()
                              : llvm::all_of(constant.getValues<APFloat>(),
                                             [](const APFloat &x) { return x.isFinite(); });
  Operation *op = v.getDefiningOp();
  if (!op || depth == 0)
    return false;
  if (auto cast = dyn_cast<CastOp>(op))
    return arrayType(cast.getX()).getElementType().isInteger() &&
           !arrayType(v).getElementType().isF16();
  if (auto select = dyn_cast<SelectOp>(op))
    return isFinite(select.getLhs(), depth - 1) && isFinite(select.getRhs(), depth - 1);
  if (isa<BroadcastOp, NegOp, RenameOp, ReverseOp, SliceOp, SqueezeOp>(op))
    return isFinite(op->getOperand(0), depth - 1);
  return false;
}

/// A zero tangent only stays zero if it wins against an infinite coefficient.
static Value guarded(MulOp mul, const DenseSet<Value> &linear) {
  Value tangent = mul.getLhs(), coefficient = mul.getRhs();
  if (!linear.contains(tangent))
    std::swap(tangent, coefficient);
  if (isFinite(coefficient))
    return {};
  ImplicitLocOpBuilder b(mul.getLoc(), mul);
  auto scaled = ScaleOp::create(b, coefficient, tangent);
  scaled->setAttr(kGuardAttr, b.getUnitAttr());
  return conform(b, b.getLoc(), scaled, mul.getType(), {});
}

static void guard(Block &block, const DenseSet<Value> &linear, bool all) {
  DenseSet<Value> reaching;
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    bool holdsSelect = op.walk([](Operation *nested) {
                           bool selects = isa<ScaleOp, SelectOp, SwitchOp>(nested);
                           return selects ? WalkResult::interrupt() : WalkResult::advance();
                         }).wasInterrupted();
    bool reaches =
        all || llvm::any_of(op.getResults(), [&](Value v) { return reaching.contains(v); });
    if (!reaches && !holdsSelect)
      continue;
    // What comes after a select in a loop comes before it in the next turn.
    for (Region &region : op.getRegions())
      if (!region.empty())
        guard(region.front(), linear, reaches || isa<LoopLikeOpInterface>(op));
    forEachUse(&op, [&](OpOperand &operand) { reaching.insert(operand.get()); });
    if (auto scale = dyn_cast<ScaleOp>(op); scale && reaches && linear.contains(scale.getLhs()))
      scale->setAttr(kGuardAttr, UnitAttr::get(op.getContext()));
    auto mul = dyn_cast<MulOp>(op);
    if (!mul || !linear.contains(mul.getY()))
      continue;
    if (Value safe = guarded(mul, linear)) {
      mul.replaceAllUsesWith(safe);
      mul.erase();
    }
  }
}

namespace {
struct GuardSelects : xtensor::impl::GuardSelectsBase<GuardSelects> {
  void runOnOperation() final {
    WalkResult result = getOperation()->walk([&](LinearOp op) {
      // Only the way back multiplies a zero that a select made: forwards, the select itself
      // drops what was not chosen.
      if (llvm::none_of(op->getUsers(), [](Operation *user) { return isa<TransposedOp>(user); }))
        return WalkResult::advance();
      if (op.getTrusted()) // a user's rule says itself what it means
        return WalkResult::advance();
      DenseSet<Value> linear;
      if (failed(collectLinear(op, linear)))
        return WalkResult::interrupt();
      guard(*op.getBody(), linear, /*all=*/false);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
