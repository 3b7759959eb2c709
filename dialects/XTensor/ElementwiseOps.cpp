// Result types and folds of the elementwise ops. A fold that could change a bit is none: for
// floats x + 0.0 is not x where x is -0.0.
#include "XTensor/TypeInference.h"

using namespace mlir;
using namespace xtensor;

LogicalResult CastOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor, Types &types) {
  auto type = dyn_cast<ArrayType>(adaptor.getX().getType());
  if (!type)
    return emitOptionalError(loc, "cast: the operand must be an array");
  auto emit = [&] { return mlir::emitError(loc ? *loc : UnknownLoc::get(type.getContext())); };
  ArrayType result = ArrayType::getChecked(emit, type.getContext(), type.getDimNames(),
                                           type.getShape(), adaptor.getTo());
  if (!result)
    return failure();
  types.push_back(result);
  return success();
}

LogicalResult CompareOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor,
                                          Types &types) {
  return inferTest("compare", loc, adaptor.getOperands(), types);
}

LogicalResult SelectOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor,
                                         Types &types) {
  SmallVector<Type> branches;
  if (failed(inferElementwise("select", loc, adaptor.getOperands().drop_front(), branches)))
    return failure();
  auto type = cast<ArrayType>(branches[0]);
  auto all = inferUnion("select", loc,
                        {dyn_cast<ArrayType>(adaptor.getCondition().getType()),
                         cast<ArrayType>(adaptor.getLhs().getType()),
                         cast<ArrayType>(adaptor.getRhs().getType())},
                        type.getElementType());
  if (failed(all))
    return failure();
  types.push_back(*all);
  return success();
}

bool trait::isTypeKeptBySwap(Operation *op) {
  auto type = cast<ArrayType>(op->getResult(0).getType());
  return unionOf({arrayType(op->getOperand(1)), arrayType(op->getOperand(0))},
                 type.getElementType()) == type;
}

//===- folds ---------------------------------------------------------------===//

/// `v` where it may stand for the whole result, else nothing.
static OpFoldResult only(Value v, Type result) {
  return v.getType() == result ? OpFoldResult(v) : OpFoldResult();
}

OpFoldResult CastOp::fold(FoldAdaptor) { return only(getX(), getType()); }

OpFoldResult NegOp::fold(FoldAdaptor) {
  if (auto inner = getX().getDefiningOp<NegOp>())
    return inner.getX();
  return {};
}

OpFoldResult NotOp::fold(FoldAdaptor) {
  if (auto inner = getX().getDefiningOp<NotOp>())
    return inner.getX();
  return {};
}

OpFoldResult AddOp::fold(FoldAdaptor) {
  auto neutral = [](Value v) { return isFloat(v) ? isNegativeZero(v) : isSplat(v, 0); };
  if (neutral(getRhs()))
    return only(getLhs(), getType());
  if (neutral(getLhs()))
    return only(getRhs(), getType());
  return {};
}

OpFoldResult SubOp::fold(FoldAdaptor) {
  if (isPositiveZero(getRhs()))
    return only(getLhs(), getType());
  return {};
}

OpFoldResult MulOp::fold(FoldAdaptor) {
  if (isSplat(getRhs(), 1))
    return only(getLhs(), getType());
  if (isSplat(getLhs(), 1))
    return only(getRhs(), getType());
  return {};
}

OpFoldResult DivOp::fold(FoldAdaptor) {
  if (isSplat(getRhs(), 1))
    return only(getLhs(), getType());
  return {};
}

OpFoldResult SelectOp::fold(FoldAdaptor) {
  if (getLhs() == getRhs())
    return only(getLhs(), getType());
  if (isSplat(getCondition(), 0))
    return only(getRhs(), getType());
  // A bool reads as -1 where all its one bit is set.
  if (isSplat(getCondition(), -1))
    return only(getLhs(), getType());
  return {};
}
