// Result types, verifiers and folds of reductions and contractions.
#include "XTensor/Fault.h"
#include "XTensor/TypeInference.h"

using namespace mlir;
using namespace xtensor;

static bool isArg(ReduceKind kind) {
  return kind == ReduceKind::argmax || kind == ReduceKind::argmin;
}

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *context, MaybeLoc loc, Adaptor adaptor,
                                         Types &types) {
  auto type = dyn_cast<ArrayType>(adaptor.getX().getType());
  if (!type)
    return emitOptionalError(loc, "reduce: the operand must be an array");
  StringRef kind = stringifyReduceKind(adaptor.getKind());
  ArrayRef<Attribute> dims = adaptor.getDims().getValue();
  if (failed(checkDims(kind, loc, type, dims)))
    return failure();
  ArrayType result = minus(type, dims);
  if (isArg(adaptor.getKind())) {
    if (dims.size() != 1)
      return emitOptionalError(loc, Fault::Dimension, kind, ": expected exactly one dim, got ",
                               dims.size());
    result = result.withElement(IntegerType::get(context, 64));
  }
  bool needsElement = isArg(adaptor.getKind()) || adaptor.getKind() == ReduceKind::max ||
                      adaptor.getKind() == ReduceKind::min;
  if (needsElement && !llvm::is_contained(result.getShape(), 0))
    for (Attribute dim : dims)
      if (type.getSize(dim) == 0)
        return emitOptionalError(loc, Fault::Size, kind, ": dim ", dim, " has size 0: ", kind,
                                 " of no elements is undefined");
  types.push_back(result);
  return success();
}

LogicalResult ReduceOp::verify() {
  bool wantsBool = getKind() == ReduceKind::any || getKind() == ReduceKind::all;
  if (wantsBool != arrayType(getX()).isBool())
    return emitOpError() << stringifyReduceKind(getKind()) << " takes "
                         << (wantsBool ? "bools" : "numbers") << ", got "
                         << arrayType(getX()).getElementType();
  return success();
}

OpFoldResult ReduceOp::fold(FoldAdaptor) {
  return getDims().empty() && !isArg(getKind()) ? OpFoldResult(getX()) : OpFoldResult();
}

LogicalResult ContractOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor,
                                           Types &types) {
  SmallVector<Type> all;
  if (adaptor.getInputs().empty())
    return emitOptionalError(loc, "contract: expected at least one operand");
  if (failed(inferElementwise("contract", loc, adaptor.getInputs(), all)))
    return failure();
  auto type = cast<ArrayType>(all[0]);
  if (failed(checkDims("contract", loc, type, adaptor.getOver().getValue())))
    return failure();
  ArrayType result = minus(type, adaptor.getOver().getValue());
  if (ArrayAttr order = adaptor.getOrderAttr()) {
    if (failed(checkDims("contract order", loc, result, order.getValue())))
      return failure();
    if (static_cast<int64_t>(order.size()) != result.getRank())
      return emitOptionalError(loc, Fault::Dimension, "contract: order names ", order.size(),
                               " of ", result.getRank(), " dims; the result has (",
                               describeDims(result), ")");
    result = reordered(result, order.getValue());
  }
  types.push_back(result);
  return success();
}
