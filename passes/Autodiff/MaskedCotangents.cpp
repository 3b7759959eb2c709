// Cotangents in which a select has put zeros. A zero must win against an infinite factor, so
// `scale` looks at every cotangent. It is cheaper to multiply what the select lets through, and to
// select afterwards. A sum of the cotangents of both branches does not have such zeros at all.
#include "Autodiff/Transposer.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace xtensor;

namespace {

/// How far is looked: selects in selects, and ops that make one cotangent of another.
constexpr unsigned kDepth = 6;

/// `value` where the condition has `side`, zeros elsewhere.
struct Masked {
  SelectOp op; // null: something else
  bool side = true;

  explicit operator bool() const { return op != nullptr; }
  Value value() { return side ? op.getLhs() : op.getRhs(); }
  Value zero() { return side ? op.getRhs() : op.getLhs(); }
  Value around(ImplicitLocOpBuilder &b, Value v) {
    return SelectOp::create(b, op.getCondition(), side ? v : zero(), side ? zero() : v);
  }
};

Masked maskedBySelect(Value ct) {
  auto op = ct.getDefiningOp<SelectOp>();
  if (op && isSplat(op.getRhs(), 0))
    return {op, true};
  if (op && isSplat(op.getLhs(), 0))
    return {op, false};
  return {};
}

} // namespace

/// Whether there is something in each sum over `dims`: what is put somewhere along them is.
static bool isFullSummed(Value ct, ArrayAttr dims, function_ref<bool(Value)> isFull,
                         unsigned depth = 0) {
  Operation *op = ct.getDefiningOp();
  if (!op || depth == kDepth)
    return false;
  if (auto scatter = dyn_cast<ScatterOp>(op))
    return scatter.getKind() == ScatterKind::add && scatter.getMode() != IndexMode::drop &&
           llvm::all_of(scatter.getAlong(),
                        [&](Attribute dim) { return llvm::is_contained(dims, dim); }) &&
           isFull(scatter.getUpdates());
  return isa<AddOp, BroadcastOp, NegOp, SizedOp>(op) &&
         llvm::any_of(op->getOperands(), [&](Value v) {
           return isFloat(v) && isFullSummed(v, dims, isFull, depth + 1);
         });
}

bool Transposer::isFull(Value ct, unsigned depth) {
  if (auto known = full->find(ct); known != full->end())
    return known->second;
  Operation *op = ct.getDefiningOp();
  if (!op || depth == kDepth)
    return false;
  auto isFullOperand = [&](Value v) { return isFloat(v) && isFull(v, depth + 1); };
  bool found = false;
  if (isa<AddOp, BroadcastOp, CastOp, ContractOp, MulOp, NegOp, ReduceOp, RenameOp, ReverseOp,
          SizedOp, SliceOp, SqueezeOp, SubOp>(op))
    found = llvm::any_of(op->getOperands(), isFullOperand);
  if (auto contract = dyn_cast<ContractOp>(op))
    found |= llvm::any_of(contract.getInputs(), [&](Value v) {
      return isFullSummed(v, contract.getOver(), isFullOperand);
    });
  else if (auto reduce = dyn_cast<ReduceOp>(op))
    found |= isFullSummed(reduce.getX(), reduce.getDims(), isFullOperand);
  else if (auto select = dyn_cast<SelectOp>(op))
    found = isFullOperand(select.getLhs()) && isFullOperand(select.getRhs());
  return (*full)[ct] = found;
}

/// `fn` of what selects let through below broadcasts, selected again; of `ct` itself if there are
/// none.
Value Transposer::insideOfMasks(Value ct, function_ref<Value(Value)> fn, unsigned depth) {
  Value inner = ct;
  while (auto broadcast = inner.getDefiningOp<BroadcastOp>())
    inner = broadcast.getX();
  if (Masked mask = maskedBySelect(inner); mask && depth < kDepth)
    return mask.around(b, insideOfMasks(mask.value(), fn, depth + 1));
  return fn(ct);
}

Value Transposer::scaled(ScaleOp op, Value ct) {
  Value factor = residual(op.getLhs());
  bool isGuard = op->hasAttr(kGuardAttr);
  if (isGuard && isFull(ct))
    return product({ct, factor}, arrayType(op.getRhs()));
  return insideOfMasks(ct, [&](Value v) -> Value {
    if (isGuard && isFull(v))
      return MulOp::create(b, factor, v);
    return ScaleOp::create(b, factor, v);
  });
}

Value Transposer::scaledBy(ScaleOp op, Value ct) {
  Value by = residual(op.getRhs());
  bool isGuard = op->hasAttr(kGuardAttr);
  return insideOfMasks(ct, [&](Value v) -> Value {
    Value byZero = ScaleOp::create(b, v, by);
    if (!isGuard || isFull(v))
      return byZero;
    // Zeros of both win. Each side is the product where it is chosen, to any order; which one it is
    // does not depend on the cotangent.
    Value zero = scalar(b, b.getLoc(), arrayType(by).getElementType(), 0);
    Value isZero = CompareOp::create(b, ComparePredicate::eq, by, zero);
    return SelectOp::create(b, isZero, byZero, ScaleOp::create(b, by, v));
  });
}

Value Transposer::insideOfMask(Value ct, function_ref<Value(Value)> fn) {
  Masked mask = maskedBySelect(ct);
  return mask ? mask.around(b, fn(mask.value())) : fn(ct);
}

Value Transposer::sum(Value x, Value y) {
  Masked one = maskedBySelect(x), other = maskedBySelect(y);
  if (one && other && one.op.getCondition() == other.op.getCondition()) {
    if (one.side == other.side)
      return one.around(b, AddOp::create(b, one.value(), other.value()));
    if (!one.side)
      std::swap(one, other);
    return SelectOp::create(b, one.op.getCondition(), one.value(), other.value());
  }
  return AddOp::create(b, x, y);
}
