// Result types of sorting.
#include "XTensor/TypeInference.h"

using namespace mlir;
using namespace xtensor;

LogicalResult ArgsortOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor,
                                          Types &types) {
  auto type = dyn_cast<ArrayType>(adaptor.getX().getType());
  if (!type)
    return emitOptionalError(loc, "argsort: operands must be arrays");
  if (failed(checkDims("argsort", loc, type, {adaptor.getDimAttr()})))
    return failure();
  types.push_back(type.withElement(IntegerType::get(type.getContext(), 64)));
  return success();
}
