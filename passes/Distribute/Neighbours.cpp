// A part of a slice, a window, a shift of an array needs few elements of other processes. From the
// part back to the gathered array, each op is made again on the positions that are asked for.
#include "Distribute/Neighbours.h"

#include "Distribute/Blocks.h"
#include "Distribute/Halos.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace xtensor;
using llvm::divideFloorSigned;

namespace {

constexpr unsigned kDeepest = 256;

/// What one part needs. Positions that an array does not have may give anything, if not said
/// otherwise.
class Neighbours {
public:
  explicit Neighbours(Distributor &t) : t(t), b(t.b) {}
  void use(GatherOp part);

private:
  Value rows(Value v, const Rows &wanted);
  Value made(Value v, const Rows &wanted);
  Value again(Operation *op, const Rows &wanted);
  Value slice(SliceOp op, int64_t at, const Rows &wanted);
  Value pad(PadOp op, int64_t at, const Rows &wanted);
  Value window(WindowOp op, const Rows &wanted);
  Value overlapAdd(OverlapAddOp op, const Rows &wanted);
  Value concat(ConcatOp op, const Rows &wanted);
  Value reverse(ReverseOp op, const Rows &wanted);
  Value rename(RenameOp op, const Rows &wanted);
  Value broadcast(BroadcastOp op, const Rows &wanted);
  Value constant(ConstantOp op, const Rows &wanted);
  /// The same, with `outside` at positions that the array does not have.
  Value filled(Value v, const Rows &wanted, Value outside);
  Value cut(Value v, StringAttr dim, int64_t offset, int64_t size);
  /// `v` is gathered here, so that other processes can send what is needed of it.
  AllGatherOp gathered(Value v, const Rows &wanted) const;

  Distributor &t;
  OpBuilder &b;
  GatherOp part;
  const MeshDim *along = nullptr;
  unsigned depth = 0;
  bool asks = false; ///< whether an array that was gathered is needed
  using Key = std::pair<Attribute, std::tuple<int64_t, int64_t, int64_t>>;
  llvm::DenseMap<Value, llvm::SmallMapVector<Key, Value, 4>> known;
};

} // namespace

static int64_t placeOf(ArrayAttr dims, Attribute dim) {
  auto *it = llvm::find(dims, dim);
  return it == dims.end() ? -1 : it - dims.begin();
}

AllGatherOp Neighbours::gathered(Value v, const Rows &wanted) const {
  auto op = v.getDefiningOp<AllGatherOp>();
  bool isHere = op && op->getBlock() == part->getBlock() && op.getDimAttr() == wanted.dim &&
                static_cast<int64_t>(op.getCommunicator()) == along->communicator;
  return isHere ? op : AllGatherOp();
}

Value Neighbours::rows(Value v, const Rows &wanted) {
  if (!arrayType(v).hasDim(wanted.dim))
    return v;
  if (AllGatherOp op = gathered(v, wanted)) {
    asks = true;
    return halo(b, part.getLoc(), op.getX(), wanted);
  }
  auto &of = known[v];
  Key key{wanted.dim, {wanted.start, wanted.step, wanted.size}};
  if (auto *it = of.find(key); it != of.end())
    return it->second;
  // An array that is computed for more ranges than there are parts is better computed once.
  auto most = static_cast<size_t>(std::max<int64_t>(along->processes, 8));
  Operation *op = v.getDefiningOp();
  bool isMade = op && op->getBlock() == part->getBlock() && wanted.size > 0 && depth < kDeepest &&
                of.size() < most;
  ++depth;
  Value found = isMade ? made(v, wanted) : Value();
  --depth;
  if (!found)
    found = localRows(b, part.getLoc(), v, wanted);
  known[v].insert({key, found});
  return found;
}

/// Null: all of the array is needed.
Value Neighbours::made(Value v, const Rows &wanted) {
  Operation *op = v.getDefiningOp();
  Attribute dim = wanted.dim;
  if (auto slice = dyn_cast<SliceOp>(op); slice && placeOf(slice.getDims(), dim) >= 0)
    return this->slice(slice, placeOf(slice.getDims(), dim), wanted);
  if (auto pad = dyn_cast<PadOp>(op); pad && placeOf(pad.getDims(), dim) >= 0)
    return this->pad(pad, placeOf(pad.getDims(), dim), wanted);
  if (auto reverse = dyn_cast<ReverseOp>(op); reverse && placeOf(reverse.getDims(), dim) >= 0)
    return this->reverse(reverse, wanted);
  if (auto window = dyn_cast<WindowOp>(op)) {
    if (window.getIntoAttr() == dim)
      return {};
    return window.getDimAttr() == dim ? this->window(window, wanted) : again(op, wanted);
  }
  if (auto add = dyn_cast<OverlapAddOp>(op))
    return add.getDimAttr() == dim ? overlapAdd(add, wanted) : again(op, wanted);
  if (auto concat = dyn_cast<ConcatOp>(op))
    return concat.getDimAttr() == dim ? this->concat(concat, wanted) : again(op, wanted);
  if (auto rename = dyn_cast<RenameOp>(op))
    return this->rename(rename, wanted);
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    return this->broadcast(broadcast, wanted);
  if (auto constant = dyn_cast<ConstantOp>(op))
    return this->constant(constant, wanted);
  if (isa<IotaOp>(op)) {
    Value at = positions(b, part.getLoc(), wanted);
    Type element = arrayType(v).getElementType();
    return arrayType(at).getElementType() == element
               ? at
               : CastOp::create(b, part.getLoc(), at, element).getResult();
  }
  if (auto cumulative = dyn_cast<CumulativeOp>(op))
    return cumulative.getDimAttr() == dim ? Value() : again(op, wanted);
  if (auto gather = dyn_cast<AllGatherOp>(op))
    return gather.getDimAttr() == dim ? Value() : again(op, wanted);
  if (auto halo = dyn_cast<HaloOp>(op))
    return halo.getDimAttr() == dim ? Value() : again(op, wanted);
  if (auto gather = dyn_cast<GatherOp>(op)) {
    // What a halo has beyond the ends is not an index, and an index that is wrong is an error.
    bool mayReport =
        gather.getMode() == IndexMode::raise && !wanted.isWithin(arrayType(v).getSize(dim));
    return mayReport || placeOf(gather.getAlong(), dim) >= 0 ? Value() : again(op, wanted);
  }
  bool isByName = op->hasTrait<trait::Elementwise>() ||
                  isa<ContractOp, PadOp, ReduceOp, ReverseOp, SliceOp, SqueezeOp>(op);
  return isByName ? again(op, wanted) : Value();
}

/// An op that treats all positions along the dim alike.
Value Neighbours::again(Operation *op, const Rows &wanted) {
  if (op->getNumResults() != 1 || op->getNumRegions() ||
      (along->blocks && roundsBySize(op))) // a halo has other sizes than a block
    return {};
  IRMapping map;
  for (Value operand : op->getOperands())
    map.map(operand, rows(operand, wanted));
  Operation *copy = b.clone(*op, map);
  return succeeded(t.infer(copy)) ? copy->getResult(0) : Value();
}

Value Neighbours::filled(Value v, const Rows &wanted, Value outside) {
  Value x = rows(v, wanted);
  int64_t n = arrayType(v).getSize(wanted.dim);
  if (wanted.isWithin(n) || (gathered(v, wanted) && isPositiveZero(outside)))
    return x;
  return inside(b, part.getLoc(), x, wanted, n, outside);
}

Value Neighbours::cut(Value v, StringAttr dim, int64_t offset, int64_t size) {
  if (offset == 0 && arrayType(v).getSize(dim) == size)
    return v;
  return SliceOp::create(b, part.getLoc(), v, b.getArrayAttr({dim}), offset, size, int64_t(1));
}

Value Neighbours::slice(SliceOp op, int64_t at, const Rows &wanted) {
  int64_t offset = op.getOffsets()[at], stride = op.getStrides()[at];
  Value x = rows(op.getX(), wanted.scaled(offset, stride, 1));
  SmallVector<int64_t> offsets(op.getOffsets()), sizes(op.getSizes());
  offsets[at] = 0;
  sizes[at] = wanted.size;
  return SliceOp::create(b, part.getLoc(), x, op.getDims(), offsets, sizes, op.getStrides());
}

Value Neighbours::pad(PadOp op, int64_t at, const Rows &wanted) {
  int64_t apart = op.getInterior()[at] + 1, start = wanted.start - op.getLow()[at];
  if (wanted.step % apart)
    return {};
  int64_t first = divideFloorSigned(start, apart);
  int64_t last = divideFloorSigned(start + wanted.size - 1, apart);
  int64_t offset = start - first * apart, length = (last - first) * apart + 1;
  Rows inner = wanted.with(first, wanted.step / apart, last - first + 1);
  Value x = filled(op.getX(), inner, op.getValue());
  SmallVector<int64_t> low(op.getLow()), high(op.getHigh());
  low[at] = 0;
  high[at] = std::max<int64_t>(0, offset + wanted.size - length);
  bool adds = llvm::any_of(low, [](int64_t n) { return n; }) ||
              llvm::any_of(high, [](int64_t n) { return n; }) ||
              llvm::any_of(op.getInterior(), [](int64_t n) { return n; });
  if (adds)
    x = PadOp::create(b, part.getLoc(), x, op.getValue(), op.getDims(), low, high,
                      op.getInterior());
  return cut(x, wanted.dim, offset, wanted.size);
}

Value Neighbours::window(WindowOp op, const Rows &wanted) {
  auto reach = static_cast<int64_t>((op.getSize() - 1) * op.getDilation());
  Value x = rows(op.getX(), wanted.scaled(0, static_cast<int64_t>(op.getStride()), reach + 1));
  return WindowOp::create(b, part.getLoc(), x, op.getDim(), op.getInto(), op.getSize(),
                          op.getStride(), op.getDilation());
}

Value Neighbours::overlapAdd(OverlapAddOp op, const Rows &wanted) {
  ArrayType type = arrayType(op.getX());
  auto stride = static_cast<int64_t>(op.getStride());
  int64_t reach = (type.getSize(op.getFromAttr()) - 1) * static_cast<int64_t>(op.getDilation());
  if (wanted.step % stride || reach < 0)
    return {};
  int64_t first = divideFloorSigned(wanted.start - reach, stride);
  int64_t last = divideFloorSigned(wanted.start + wanted.size - 1, stride);
  Rows inner = wanted.with(first, wanted.step / stride, last - first + 1);
  Value zero = scalar(b, part.getLoc(), type.getElementType(), 0);
  Value x = filled(op.getX(), inner, zero);
  int64_t offset = wanted.start - first * stride;
  int64_t length = std::max((last - first) * stride + reach + 1, offset + wanted.size);
  Value sums = OverlapAddOp::create(b, part.getLoc(), x, op.getDim(), op.getFrom(), length,
                                    op.getStride(), op.getDilation());
  return cut(sums, wanted.dim, offset, wanted.size);
}

Value Neighbours::concat(ConcatOp op, const Rows &wanted) {
  Value joined;
  int64_t offset = 0;
  for (Value input : op.getInputs()) {
    int64_t n = arrayType(input).getSize(wanted.dim);
    Rows inner = wanted.with(wanted.start - offset, wanted.step, wanted.size);
    offset += n;
    if (!inner.meets(n))
      continue;
    Value x = rows(input, inner);
    if (joined) // of the inputs before where this one has not begun
      x = inside(b, part.getLoc(), x, inner, std::numeric_limits<int64_t>::max(), joined);
    joined = x;
  }
  return joined;
}

Value Neighbours::reverse(ReverseOp op, const Rows &wanted) {
  int64_t n = arrayType(op.getX()).getSize(wanted.dim);
  Value x = rows(op.getX(), wanted.with(n - wanted.start - wanted.size, -wanted.step, wanted.size));
  return ReverseOp::create(b, part.getLoc(), x, op.getDims());
}

Value Neighbours::rename(RenameOp op, const Rows &wanted) {
  int64_t at = placeOf(op.getTo(), wanted.dim);
  Rows inner = wanted;
  if (at >= 0)
    inner.dim = cast<StringAttr>(op.getFrom()[at]);
  Value x = rows(op.getX(), inner);
  return RenameOp::create(b, part.getLoc(), x, op.getFrom(), op.getTo());
}

Value Neighbours::broadcast(BroadcastOp op, const Rows &wanted) {
  Value x = rows(op.getX(), wanted);
  ArrayType type = withSize(arrayType(op.getY()), wanted.dim, wanted.size);
  return BroadcastOp::create(b, part.getLoc(), type, x, op.getSizes());
}

Value Neighbours::constant(ConstantOp op, const Rows &wanted) {
  auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
  if (!splat)
    return {};
  ArrayType type = withSize(arrayType(op.getY()), wanted.dim, wanted.size);
  auto tensor = RankedTensorType::get(type.getShape(), type.getElementType());
  auto copy = cast<ConstantOp>(b.clone(*op));
  copy.setValueAttr(splat.resizeSplat(tensor));
  copy.getY().setType(type);
  return copy.getY();
}

void Neighbours::use(GatherOp op) {
  part = op;
  auto dim = cast<StringAttr>(op.getAlong()[0]);
  along = t.meshDim(dim);
  known.clear();
  asks = false;
  b.setInsertionPoint(op);
  // All processes ask for parts of one size; the last ones may have less.
  int64_t size = along->each(arrayType(op.getSource()).getSize(dim));
  Value found = rows(op.getSource(), {along, dim, 0, size, size});
  found = sliced(t, found, dim, 0, arrayType(op.getY()).getSize(dim));
  if (asks && found.getType() == op.getY().getType())
    op.getY().replaceAllUsesWith(found);
}

void xtensor::useNeighbours(Distributor &t, func::FuncOp func, ArrayRef<GatherOp> parts) {
  Neighbours neighbours(t);
  for (GatherOp part : parts)
    neighbours.use(part);
  settleHalos(t.b, func, t.isDeterministic());
}
