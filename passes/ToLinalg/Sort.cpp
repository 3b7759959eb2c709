// Sorting is a routine of the runtime, which sees the dim that is sorted as its last axis. Where
// only the first positions are read, it finds those alone, and leaves the others unwritten.
#include "ToLinalg/Lowering.h"

using namespace mlir;
using namespace xtensor;

/// How many of the first positions anybody reads.
static int64_t countRead(ArgsortOp op) {
  int64_t all = arrayType(op.getY()).getSize(op.getDimAttr()), read = 0;
  for (Operation *user : op->getUsers()) {
    auto slice = dyn_cast<SliceOp>(user);
    if (!slice || slice.getDims().size() != 1 || slice.getDims()[0] != op.getDimAttr() ||
        slice.getOffsets()[0] != 0 || slice.getStrides()[0] != 1)
      return all;
    read = std::max(read, slice.getSizes()[0]);
  }
  return read;
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
  ArrayAttr axes = to.b.getArrayAttr({to.axes(x.order, dims), to.axes(type.getDimNames(), dims)});
  SmallVector<int64_t> options{op.getDescending(), isUnsigned(element)};
  int64_t read = countRead(op);
  bool some = !type.isDynamic(op.getDimAttr()) && read < type.getSize(op.getDimAttr());
  if (some)
    options.push_back(read);
  auto call = LibraryOp::create(to.b, to.loc(), some ? "xt_top_k" : "xt_argsort", x.tensor,
                                to.empty(type), axes, options);
  to.setTensor(op.getY(), call.getResult(0));
}
