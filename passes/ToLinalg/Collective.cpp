// Collectives are routines of the runtime. The dim along which parts are joined is stored first, so
// that the parts of the processes follow each other in memory.
#include "ToLinalg/Lowering.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace xtensor;

static void lowerAllReduce(AllReduceOp op, Lowering &to) {
  ArrayType type = arrayType(op.getY());
  Stored x = to.stored(op.getX());
  SmallVector<Attribute> order(x.order.begin(), x.order.end());
  SmallVector<int64_t> options{static_cast<int64_t>(op.getCommunicator()),
                               static_cast<int64_t>(op.getKind()),
                               type.getElementType().isUnsignedInteger()};
  auto call = LibraryOp::create(to.b, to.loc(), "xt_all_reduce", x.tensor,
                                to.empty(reordered(type, order)), ArrayAttr(), options);
  to.setStored(op.getY(), call.getResult(0), x.order);
}

static void lowerAllGather(AllGatherOp op, Lowering &to) {
  ArrayType type = arrayType(op.getY());
  Names order{op.getDimAttr()};
  for (StringAttr dim : type.getDimNames())
    if (dim != op.getDimAttr())
      order.push_back(dim);
  Value x = to.packed(op.getX(), order);
  SmallVector<Attribute> dims(order.begin(), order.end());
  auto call = LibraryOp::create(to.b, to.loc(), "xt_all_gather", x, to.empty(reordered(type, dims)),
                                ArrayAttr(), static_cast<int64_t>(op.getCommunicator()));
  to.setStored(op.getY(), call.getResult(0), order);
}

LogicalResult xtensor::lowerCollective(Operation *op, Lowering &to) {
  if (auto reduce = dyn_cast<AllReduceOp>(op))
    return lowerAllReduce(reduce, to), success();
  if (auto gather = dyn_cast<AllGatherOp>(op))
    return lowerAllGather(gather, to), success();
  auto index = dyn_cast<ProcessIndexOp>(op);
  if (!index)
    return failure();
  auto call = LibraryOp::create(to.b, to.loc(), "xt_process_index", ValueRange(),
                                to.empty(arrayType(index.getY())), ArrayAttr(),
                                static_cast<int64_t>(index.getCommunicator()));
  to.setTensor(index.getY(), call.getResult(0));
  return success();
}
