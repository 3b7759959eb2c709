#include "ToLinalg/SharedUpdates.h"

#include "ToLinalg/Lowering.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace xtensor;

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
