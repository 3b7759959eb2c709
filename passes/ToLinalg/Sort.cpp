// Sorting is a routine of the runtime, which sees the dim that is sorted as its last axis. Where
// only the elements are read, it sorts them without positions. Where only the first positions or a
// few are read, it finds those alone, and leaves the others unwritten.
#include "ToLinalg/Lowering.h"

#include <set>

using namespace mlir;
using namespace xtensor;

/// More places than this, or than a part of the row, are found by sorting it.
static constexpr size_t kMostPlaces = 16, kPlacesPart = 32;

/// The places of the order that anybody reads, as ranges. Nothing if they are not known.
static std::optional<SmallVector<std::pair<int64_t, int64_t>>> rangesRead(ArgsortOp op) {
  SmallVector<std::pair<int64_t, int64_t>> ranges;
  for (Operation *user : op->getUsers()) {
    auto slice = dyn_cast<SliceOp>(user);
    if (!slice || slice.getDims().size() != 1 || slice.getDims()[0] != op.getDimAttr() ||
        slice.getStrides()[0] != 1)
      return std::nullopt;
    ranges.push_back({slice.getOffsets()[0], slice.getOffsets()[0] + slice.getSizes()[0]});
  }
  return ranges;
}

/// The routine that finds what is read of an order, and its further options.
static StringRef routineFor(ArgsortOp op, SmallVectorImpl<int64_t> &options) {
  ArrayType type = arrayType(op.getY());
  auto ranges = rangesRead(op);
  if (type.isDynamic(op.getDimAttr()) || !ranges)
    return "xt_argsort";
  int64_t size = type.getSize(op.getDimAttr()), end = 0;
  bool fromStart = true;
  std::set<int64_t> places;
  for (auto [from, to] : *ranges) {
    fromStart &= from == 0;
    end = std::max(end, to);
    for (int64_t place = from; place < to && places.size() <= kMostPlaces; ++place)
      places.insert(place);
  }
  if (fromStart && end < size) {
    options.push_back(end);
    return "xt_top_k";
  }
  if (places.size() > kMostPlaces || places.size() * kPlacesPart > static_cast<size_t>(size))
    return "xt_argsort";
  options.push_back(places.size());
  llvm::append_range(options, places);
  return "xt_select";
}

/// The order by which `op` sorts its source, if that is all it does.
static ArgsortOp orderOf(GatherOp op) {
  if (op.getIndices().size() != 1)
    return {};
  auto order = op.getIndices()[0].getDefiningOp<ArgsortOp>();
  bool isSort = order && order.getX() == op.getSource() && order.getDimAttr() == op.getAlong()[0];
  return isSort ? order : ArgsortOp();
}

/// Whether an order is only used to sort, so that nobody needs the positions.
static bool isOfValues(ArgsortOp op) {
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    auto gather = dyn_cast<GatherOp>(user);
    return gather && orderOf(gather) == op;
  });
}

/// A routine of the elements along a dim, with a result of `y`'s type.
static void call(StringRef routine, ArgsortOp op, Value y, ArrayRef<int64_t> options,
                 Lowering &to) {
  ArrayType type = arrayType(y);
  Stored x = to.stored(op.getX());
  Names dims;
  for (StringAttr dim : type.getDimNames())
    if (dim != op.getDimAttr())
      dims.push_back(dim);
  dims.push_back(op.getDimAttr());
  ArrayAttr axes = to.b.getArrayAttr({to.axes(x.order, dims), to.axes(type.getDimNames(), dims)});
  auto library =
      LibraryOp::create(to.b, to.loc(), routine, x.tensor, to.empty(type), axes, options);
  to.setTensor(y, library.getResult(0));
}

static SmallVector<int64_t> optionsOf(ArgsortOp op) {
  return {op.getDescending(), isUnsigned(arrayType(op.getX()).getElementType())};
}

bool xtensor::lowerSort(GatherOp op, Lowering &to) {
  ArgsortOp order = orderOf(op);
  if (!order || !isOfValues(order))
    return false;
  call("xt_sort", order, op.getY(), optionsOf(order), to);
  return true;
}

void xtensor::lowerArgsort(ArgsortOp op, Lowering &to) {
  if (isOfValues(op))
    return;
  SmallVector<int64_t> options = optionsOf(op);
  StringRef routine = routineFor(op, options);
  call(routine, op, op.getY(), options, to);
}
