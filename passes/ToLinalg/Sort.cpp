// Sorting is a routine of the runtime, which sees the dim that is sorted as its last axis.
#include "ToLinalg/Lowering.h"

using namespace mlir;
using namespace xtensor;

/// Which axes of a tensor that has dims in `order` are those of `dims`.
static Attribute axesOf(OpBuilder &b, ArrayRef<StringAttr> order, ArrayRef<StringAttr> dims) {
  SmallVector<int64_t> axes;
  for (StringAttr dim : dims)
    axes.push_back(llvm::find(order, dim) - order.begin());
  return b.getDenseI64ArrayAttr(axes);
}

void xtensor::lowerArgsort(ArgsortOp op, Lowering &to) {
  ArrayType type = arrayType(op.getY());
  Stored x = to.stored(op.getX());
  Names dims;
  for (StringAttr dim : type.getDimNames())
    if (dim != op.getDimAttr())
      dims.push_back(dim);
  dims.push_back(op.getDimAttr());
  Type element = arrayType(op.getX()).getElementType();
  ArrayAttr axes =
      to.b.getArrayAttr({axesOf(to.b, x.order, dims), axesOf(to.b, type.getDimNames(), dims)});
  auto call = LibraryOp::create(to.b, to.loc(), "xt_argsort", x.tensor, to.empty(type), axes,
                                {op.getDescending(), isUnsigned(element)});
  to.setTensor(op.getY(), call.getResult(0));
}
