// Result types of reading and updating by arrays of positions.
#include "XTensor/TypeInference.h"

using namespace mlir;
using namespace xtensor;

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor,
                                         Types &types) {
  if (adaptor.getMode() == IndexMode::drop)
    return emitOptionalError(loc, "gather: mode drop is for updates; use raise or clip");
  auto type = inferGather("gather", loc, dyn_cast<ArrayType>(adaptor.getSource().getType()),
                          adaptor.getIndices(), adaptor.getAlong().getValue());
  if (failed(type))
    return failure();
  types.push_back(*type);
  return success();
}

LogicalResult ScatterOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor,
                                          Types &types) {
  auto target = dyn_cast<ArrayType>(adaptor.getTarget().getType());
  auto updates = dyn_cast<ArrayType>(adaptor.getUpdates().getType());
  auto view =
      inferGather("scatter", loc, target, adaptor.getIndices(), adaptor.getAlong().getValue());
  if (failed(view))
    return failure();
  if (!updates || updates.getElementType() != target.getElementType())
    return emitOptionalError(loc, "scatter: updates must be an array of ", target.getElementType());
  if (failed(inferUnion("scatter", loc, {*view, updates}, target.getElementType())))
    return failure();
  if (SmallVector<Attribute> extra = lacking(updates, *view); !extra.empty())
    return emitOptionalError(loc, "scatter: updates have dim ", extra.front(),
                             ", which the selected view lacks; it has (", describeDims(*view), ")");
  types.push_back(target);
  return success();
}
