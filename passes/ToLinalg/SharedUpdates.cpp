#include "ToLinalg/SharedUpdates.h"

#include "ToLinalg/Lowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace xtensor;

Value xtensor::combineNumbers(OpBuilder &b, Location loc, ScatterKind kind, Value old, Value update,
                              bool isUnsigned) {
  bool real = isa<FloatType>(old.getType());
  switch (kind) {
  case ScatterKind::set:
    return update;
  case ScatterKind::add:
    return real ? arith::AddFOp::create(b, loc, old, update).getResult()
                : arith::AddIOp::create(b, loc, old, update).getResult();
  case ScatterKind::mul:
    return real ? arith::MulFOp::create(b, loc, old, update).getResult()
                : arith::MulIOp::create(b, loc, old, update).getResult();
  case ScatterKind::max:
    return real         ? arith::MaximumFOp::create(b, loc, old, update).getResult()
           : isUnsigned ? arith::MaxUIOp::create(b, loc, old, update).getResult()
                        : arith::MaxSIOp::create(b, loc, old, update).getResult();
  case ScatterKind::min:
    return real         ? arith::MinimumFOp::create(b, loc, old, update).getResult()
           : isUnsigned ? arith::MinUIOp::create(b, loc, old, update).getResult()
                        : arith::MinSIOp::create(b, loc, old, update).getResult();
  }
  llvm_unreachable("an update without a lowering");
}

bool xtensor::addsNothing(ScatterOp op) {
  DenseElementsAttr known;
  if (op.getKind() != ScatterKind::add || !matchPattern(op.getUpdates(), m_Constant(&known)) ||
      !isa<FloatType>(known.getElementType()))
    return false;
  return llvm::all_of(known.getValues<APFloat>(), [](const APFloat &x) { return x.isNegZero(); });
}

Mask xtensor::maskOf(ScatterOp op) {
  auto select = op.getUpdates().getDefiningOp<SelectOp>();
  DenseElementsAttr where, elsewhere;
  Type element = arrayType(op.getTarget()).getElementType();
  if (!select ||
      arrayType(select.getCondition()).getRank() != arrayType(op.getUpdates()).getRank() ||
      !isa<FloatType>(element) || computeType(element) != element ||
      !matchPattern(select.getLhs(), m_Constant(&where)) ||
      !matchPattern(select.getRhs(), m_Constant(&elsewhere)) || !where.isSplat() ||
      !elsewhere.isSplat())
    return {};
  return {select.getCondition(), where.getSplatValue<TypedAttr>(),
          elsewhere.getSplatValue<TypedAttr>()};
}

/// The op among the readers of `factors` that does the updates of `op`, seen from the other side.
template <typename Matches>
static AccumulateOp findUpdates(Operation *op, Value factors, Matches matches) {
  for (Operation *user : factors.getUsers())
    if (auto other = dyn_cast<AccumulateOp>(user);
        other && other != op && other->getBlock() == op->getBlock() && op->isBeforeInBlock(other) &&
        other.getFactors() == factors && matches(other))
      return other;
  return {};
}

AccumulateOp xtensor::statesOf(ScatterOp op) {
  if (op.getKind() != ScatterKind::mul)
    return {};
  return findUpdates(op, op.getUpdates(), [&](AccumulateOp other) {
    DenseElementsAttr terms;
    return other.getKind() == AccumulateKind::states && !other.getReverse() &&
           other.getStart() == op.getTarget() && other.getMode() == op.getMode() &&
           other.getIndices() == op.getIndices() && other.getAlong() == op.getAlong() &&
           matchPattern(other.getTerms(), m_Constant(&terms)) && terms.isSplat() &&
           terms.getSplatValue<APFloat>().isZero();
  });
}

AccumulateOp xtensor::sameUpdates(AccumulateOp op) {
  return findUpdates(op, op.getFactors(), [&](AccumulateOp other) {
    return other.getKind() != op.getKind() && other->getOperands() == op->getOperands() &&
           other.getMode() == op.getMode() && other.getAlong() == op.getAlong() &&
           other.getReverse() == op.getReverse();
  });
}

Product xtensor::productOf(AccumulateOp states, Operation *at) {
  Value y = states.getY();
  auto op = y.hasOneUse() ? dyn_cast<MulOp>(*y.user_begin()) : MulOp();
  if (!op || op->getBlock() != at->getBlock() ||
      arrayType(op.getY()).getRank() != arrayType(y).getRank())
    return {};
  Value factor = op.getLhs() == y ? op.getRhs() : op.getLhs();
  Operation *source = factor.getDefiningOp();
  if (source && source->getBlock() == at->getBlock() && !source->isBeforeInBlock(at))
    return {};
  return {op, factor};
}
