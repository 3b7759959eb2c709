// Collectives are routines of the runtime. The dim along which parts are joined is stored first, so
// that the parts of the processes follow each other in memory.
#include "Distribute/Order.h"
#include "ToLinalg/Lowering.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace xtensor;

/// What the runtime needs to know, and a number that tells calls apart which must not be merged.
static SmallVector<int64_t> withOrder(Operation *op, ArrayRef<int64_t> options) {
  SmallVector<int64_t> all(options);
  if (auto number = op->getAttrOfType<IntegerAttr>(kOrderAttr))
    all.push_back(number.getInt());
  return all;
}

static void lowerAllReduce(AllReduceOp op, Lowering &to) {
  SmallVector<Value> inputs, outs;
  SmallVector<Stored> stored;
  for (auto [x, y] : llvm::zip_equal(op.getXs(), op.getYs())) {
    stored.push_back(to.stored(x));
    const auto &names = stored.back().order;
    inputs.push_back(stored.back().tensor);
    outs.push_back(to.empty(reordered(arrayType(y), names)));
  }
  bool isUnsigned = arrayType(op.getYs().front()).getElementType().isUnsignedInteger();
  SmallVector<int64_t> options{static_cast<int64_t>(op.getCommunicator()),
                               static_cast<int64_t>(op.getKind()), isUnsigned,
                               static_cast<int64_t>(inputs.size())};
  auto call = LibraryOp::create(to.b, to.loc(), "xt_all_reduce", inputs, outs, ArrayAttr(),
                                withOrder(op, options));
  for (auto [y, result, x] : llvm::zip_equal(op.getYs(), call.getResults(), stored))
    to.setStored(y, result, x.order);
}

/// A routine on arrays that are stored with these dims first.
static void lowerAlong(ArrayRef<StringAttr> first, Value from, Value y, StringRef routine,
                       ArrayRef<int64_t> options, Lowering &to) {
  ArrayType type = arrayType(y);
  Names order(first.begin(), first.end());
  for (StringAttr other : type.getDimNames())
    if (!llvm::is_contained(first, other))
      order.push_back(other);
  Value x = to.packed(from, order);
  auto call = LibraryOp::create(to.b, to.loc(), routine, x, to.empty(reordered(type, order)),
                                ArrayAttr(), withOrder(y.getDefiningOp(), options));
  to.setStored(y, call.getResult(0), order);
}

static void lowerAllGather(AllGatherOp op, Lowering &to) {
  lowerAlong(op.getDimAttr(), op.getX(), op.getY(), "xt_all_gather",
             static_cast<int64_t>(op.getCommunicator()), to);
}

static void lowerHalo(HaloOp op, Lowering &to) {
  lowerAlong(op.getDimAttr(), op.getX(), op.getY(), "xt_halo",
             {static_cast<int64_t>(op.getCommunicator()), static_cast<int64_t>(op.getStart()),
              static_cast<int64_t>(op.getStep())},
             to);
}

static void lowerAllToAll(AllToAllOp op, Lowering &to) {
  lowerAlong({op.getFromAttr(), op.getToAttr()}, op.getX(), op.getY(), "xt_all_to_all",
             static_cast<int64_t>(op.getCommunicator()), to);
}

LogicalResult xtensor::lowerCollective(Operation *op, Lowering &to) {
  if (auto reduce = dyn_cast<AllReduceOp>(op))
    return lowerAllReduce(reduce, to), success();
  if (auto gather = dyn_cast<AllGatherOp>(op))
    return lowerAllGather(gather, to), success();
  if (auto halo = dyn_cast<HaloOp>(op))
    return lowerHalo(halo, to), success();
  if (auto move = dyn_cast<AllToAllOp>(op))
    return lowerAllToAll(move, to), success();
  auto index = dyn_cast<ProcessIndexOp>(op);
  if (!index)
    return failure();
  auto call = LibraryOp::create(to.b, to.loc(), "xt_process_index", ValueRange(),
                                to.empty(arrayType(index.getY())), ArrayAttr(),
                                static_cast<int64_t>(index.getCommunicator()));
  to.setTensor(index.getY(), call.getResult(0));
  return success();
}
