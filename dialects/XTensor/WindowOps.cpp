// Result types of windows and of their transpose.
#include "XTensor/Fault.h"
#include "XTensor/TypeInference.h"

using namespace mlir;
using namespace xtensor;

/// A size that must not change at run time: equal names are equal sizes.
static LogicalResult checkStatic(StringRef op, MaybeLoc loc, ArrayType type, StringAttr dim) {
  if (!type.isDynamic(dim))
    return success();
  return emitOptionalError(loc, Fault::Dimension, op, ": dim ", dim,
                           " has a dynamic size; windows need a static one");
}

/// Elements from the first to the last of `count` that lie `step` apart, or -1 if they are too
/// many to count.
static int64_t extent(int64_t count, int64_t step) {
  int64_t between;
  if (count == 0)
    return 0;
  if (llvm::MulOverflow(count - 1, step, between) || between == INT64_MAX)
    return -1;
  return between + 1;
}

LogicalResult WindowOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor,
                                         Types &types) {
  auto type = dyn_cast<ArrayType>(adaptor.getX().getType());
  if (!type)
    return emitOptionalError(loc, "window: the operand must be an array");
  StringAttr dim = adaptor.getDimAttr(), into = adaptor.getIntoAttr();
  if (failed(checkDims("window", loc, type, {dim})) ||
      failed(checkStatic("window", loc, type, dim)))
    return failure();
  auto size = static_cast<int64_t>(adaptor.getSize());
  auto stride = static_cast<int64_t>(adaptor.getStride());
  auto dilation = static_cast<int64_t>(adaptor.getDilation());
  if (size < 1 || stride < 1 || dilation < 1)
    return emitOptionalError(loc, Fault::Size, "window: along dim ", dim, " size ", size,
                             ", stride ", stride, ", dilation ", dilation,
                             "; expected at least 1 of each");
  if (type.hasDim(into))
    return emitOptionalError(loc, Fault::Dimension, "window: the result would have dim ", into,
                             " twice");
  SmallVector<StringAttr> names(type.getDimNames());
  SmallVector<int64_t> shape(type.getShape());
  int64_t &length = shape[type.find(dim)], reach = extent(size, dilation);
  length = reach < 0 || length < reach ? 0 : (length - reach) / stride + 1;
  names.push_back(into);
  shape.push_back(size);
  types.push_back(ArrayType::get(type.getContext(), names, shape, type.getElementType()));
  return success();
}

LogicalResult OverlapAddOp::inferReturnTypes(MLIRContext *, MaybeLoc loc, Adaptor adaptor,
                                             Types &types) {
  auto type = dyn_cast<ArrayType>(adaptor.getX().getType());
  if (!type)
    return emitOptionalError(loc, "overlap_add: the operand must be an array");
  StringAttr dim = adaptor.getDimAttr(), from = adaptor.getFromAttr();
  if (failed(checkDims("overlap_add", loc, type, {dim, from})) ||
      failed(checkStatic("overlap_add", loc, type, dim)) ||
      failed(checkStatic("overlap_add", loc, type, from)))
    return failure();
  auto length = static_cast<int64_t>(adaptor.getLength());
  auto stride = static_cast<int64_t>(adaptor.getStride());
  auto dilation = static_cast<int64_t>(adaptor.getDilation());
  if (stride < 1 || dilation < 1)
    return emitOptionalError(loc, Fault::Dimension, "overlap_add: along dim ", dim, " stride ",
                             stride, ", dilation ", dilation, "; expected at least 1 of each");
  int64_t windows = type.getSize(dim), size = type.getSize(from);
  int64_t starts = extent(windows, stride), reach = extent(size, dilation);
  bool fits = starts >= 0 && reach >= 0 && length >= 0 &&
              (!windows || !size || (starts <= length && reach - 1 <= length - starts));
  if (!fits)
    return emitOptionalError(loc, Fault::Dimension, "overlap_add: along dim ", dim, " ", windows,
                             " windows of ", size, " elements, stride ", stride, ", dilation ",
                             dilation, ", do not fit into ", length);
  ArrayType kept = minus(type, {from});
  types.push_back(withSize(kept, dim, length));
  return success();
}
