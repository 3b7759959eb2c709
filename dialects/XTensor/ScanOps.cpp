// Result types, verifiers and folds of running combinations.
#include "XTensor/TypeInference.h"

using namespace mlir;
using namespace xtensor;

LogicalResult CumulativeOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor,
                                             Types &types) {
  auto type = dyn_cast<ArrayType>(adaptor.getX().getType());
  if (!type)
    return emitOptionalError(loc, "cumulative: the operand must be an array");
  std::string name = ("cumulative " + stringifyCumulativeKind(adaptor.getKind())).str();
  if (failed(checkDims(name, loc, type, {adaptor.getDimAttr()})))
    return failure();
  types.push_back(type);
  return success();
}

OpFoldResult CumulativeOp::fold(FoldAdaptor) {
  // Of one element there is nothing to combine.
  return arrayType(getX()).getSize(getDimAttr()) == 1 && !getExclusive() ? OpFoldResult(getX())
                                                                         : OpFoldResult();
}

LogicalResult RecurrenceOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor,
                                             Types &types) {
  SmallVector<Type> all;
  if (failed(inferElementwise("recurrence", loc, {adaptor.getDecay(), adaptor.getInput()}, all)) ||
      failed(checkDims("recurrence", loc, cast<ArrayType>(all[0]), {adaptor.getDimAttr()})))
    return failure();
  types.push_back(all[0]);
  return success();
}

LogicalResult RecurrenceOp::verify() {
  if (getExclusive() && getLate())
    return emitOpError("exclusive and late exclude each other");
  return success();
}
