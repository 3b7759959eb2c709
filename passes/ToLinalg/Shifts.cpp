// Reads at the positions along a dim less a number that is known at run time. Where positions that
// are outside count from the other end, or show a value, the result is made of slices. Threads and
// vectors copy these as they are, which a read by position does element by element.
#include "ToLinalg/Lowering.h"
#include "XTensor/Dims.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace xtensor;

/// The number that is subtracted from the positions along `dim`, an i64; null: `index` is no such
/// difference.
static Value subtracted(Value index, StringAttr dim) {
  auto difference = index.getDefiningOp<SubOp>();
  if (!difference || !difference.getLhs().getDefiningOp<IotaOp>() ||
      arrayType(difference.getRhs()).getRank() != 0)
    return {};
  ArrayType type = arrayType(index);
  return type.getElementType().isSignlessInteger(64) && type.hasDim(dim) ? difference.getRhs()
                                                                         : Value();
}

/// Whether the array without dims is the size of `dim` in `type`.
static bool isSize(Value array, StringAttr dim, ArrayType type) {
  if (!type.isDynamic(dim))
    return arrayType(array).getRank() == 0 && isSplat(array, type.getSize(dim));
  auto size = array.getDefiningOp<SizeOp>();
  return size && size.getDimAttr() == dim;
}

namespace {
/// The result of a read along one dim, written slice by slice.
struct Slices {
  /// `dim`: of the result, in the place of `along`, that of the array.
  Slices(ArrayType type, Value array, StringAttr dim, StringAttr along, Lowering &to)
      : to(to), type(type), source(to.stored(array)), axis(type.find(dim)), whole(to.empty(type)) {
    for (StringAttr d : source.order)
      axes.push_back(getAffineDimExpr(type.find(d == along ? dim : d), to.b.getContext()));
    sourceAxis = llvm::find(source.order, along) - source.order.begin();
    for (StringAttr d : type.getDimNames())
      sizes.push_back(to.sizeOf(d, type));
    for (StringAttr d : source.order)
      sourceSizes.push_back(to.sizeOf(d, arrayType(array)));
    length = getValueOrCreateConstantIndexOp(to.b, to.loc(), sizes[axis]);
    sourceLength = getValueOrCreateConstantIndexOp(to.b, to.loc(), sourceSizes[sourceAxis]);
  }

  OpBuilder &b() { return to.b; }
  Value minus(Value x, Value y) { return b().createOrFold<arith::SubIOp>(to.loc(), x, y); }
  Value plus(Value x, Value y) { return b().createOrFold<arith::AddIOp>(to.loc(), x, y); }
  Value between(Value x, Value least, Value most) {
    Value capped = b().createOrFold<arith::MinSIOp>(to.loc(), x, most);
    return b().createOrFold<arith::MaxSIOp>(to.loc(), capped, least);
  }

  /// Writes the elements from `begin` to before `end` by `write`, which gets their place.
  void write(Value begin, Value end, function_ref<Value(Value place, Value size)> write) {
    Value size = minus(end, begin);
    SmallVector<OpFoldResult> starts(sizes.size(), b().getIndexAttr(0)),
        counts = sizes, steps(sizes.size(), b().getIndexAttr(1));
    starts[axis] = getAsOpFoldResult(begin);
    counts[axis] = getAsOpFoldResult(size);
    Value place = tensor::ExtractSliceOp::create(b(), to.loc(), whole, starts, counts, steps);
    whole = tensor::InsertSliceOp::create(b(), to.loc(), write(place, size), whole, starts, counts,
                                          steps);
  }

  /// Elements of the source from `start` on.
  void copy(Value begin, Value end, Value start) {
    write(begin, end, [&](Value place, Value size) {
      SmallVector<OpFoldResult> starts(sizes.size(), b().getIndexAttr(0)),
          counts = sourceSizes, steps(sizes.size(), b().getIndexAttr(1));
      starts[sourceAxis] = getAsOpFoldResult(start);
      counts[sourceAxis] = getAsOpFoldResult(size);
      Value part =
          tensor::ExtractSliceOp::create(b(), to.loc(), source.tensor, starts, counts, steps);
      AffineMap map = AffineMap::get(sizes.size(), 0, axes, b().getContext());
      return to
          .generic(View{View::Tensor, part, map, type.getElementType()}, place,
                   b().getMultiDimIdentityMap(sizes.size()), /*reductions=*/0,
                   [](OpBuilder &, Location, ValueRange x, ValueRange) {
                     return SmallVector<Value>{x.front()};
                   })
          .front();
    });
  }

  void fill(Value begin, Value end, Value value) {
    write(begin, end, [&](Value place, Value) {
      return linalg::FillOp::create(b(), to.loc(), value, place).getResult(0);
    });
  }

  Lowering &to;
  ArrayType type;
  Stored source;
  int64_t axis, sourceAxis;
  SmallVector<AffineExpr> axes;
  SmallVector<OpFoldResult> sizes, sourceSizes;
  Value whole, length, sourceLength;
};

/// The only index of a read or an update, if no other dim of the array has the name of its dim.
struct Place {
  Place(ValueRange indices, ArrayAttr all, ArrayType array) : array(array) {
    if (indices.size() != 1 || arrayType(indices[0]).getRank() != 1)
      return;
    along = cast<StringAttr>(all[0]);
    dim = arrayType(indices[0]).getDimNames()[0];
    if (dim == along || !array.hasDim(dim))
      index = indices[0];
  }

  /// What a roll moves the array by, without dims; null: it is no roll.
  Value rolledBy() const {
    // Padding by the array itself has more positions.
    if (!index || dim != along || arrayType(index).getSize(dim) != array.getSize(dim))
      return {};
    // i - n % size counts from the end where it is negative, and (i - n) % size never is.
    Value amount;
    if (auto mod = index.getDefiningOp<ModOp>()) {
      if (isSize(mod.getRhs(), dim, array))
        amount = subtracted(mod.getLhs(), dim);
    } else if (Value number = subtracted(index, dim)) {
      if (auto mod = number.getDefiningOp<ModOp>(); mod && isSize(mod.getRhs(), dim, array))
        amount = mod.getLhs();
    }
    return amount && arrayType(amount).getRank() == 0 ? amount : Value();
  }

  /// What a shift moves the array by, if `condition` says which positions the array has.
  Value shiftedBy(Value condition) const {
    auto both = condition.getDefiningOp<AndOp>();
    if (!index || !both)
      return {};
    auto low = both.getLhs().getDefiningOp<CompareOp>();
    auto high = both.getRhs().getDefiningOp<CompareOp>();
    if (!low || low.getPredicate() != ComparePredicate::ge || low.getLhs() != index ||
        arrayType(low.getRhs()).getRank() != 0 || !isSplat(low.getRhs(), 0))
      return {};
    if (!high || high.getPredicate() != ComparePredicate::lt || high.getLhs() != index ||
        !isSize(high.getRhs(), along, array))
      return {};
    return subtracted(index, dim);
  }

  ArrayType array;
  Value index;
  StringAttr dim, along;
};

struct Shift {
  GatherOp gather;
  Value by;
};
} // namespace

static Value asIndex(Value number, Lowering &to) {
  return arith::IndexCastOp::create(to.b, to.loc(), to.b.getIndexType(), to.numberOf(number));
}

/// From 0 to before the size of the result.
static Value remainder(Value amount, const Slices &slices, Lowering &to) {
  // An empty dim has no remainder.
  Value divisor = arith::MaxSIOp::create(to.b, to.loc(), slices.length, to.index(1));
  Value by = arith::RemSIOp::create(to.b, to.loc(), asIndex(amount, to), divisor);
  Value isNegative =
      arith::CmpIOp::create(to.b, to.loc(), arith::CmpIPredicate::slt, by, to.index(0));
  Value above = arith::AddIOp::create(to.b, to.loc(), by, slices.length);
  return arith::SelectOp::create(to.b, to.loc(), isNegative, above, by);
}

/// Moves up the source by `by`, or down by -`by`, and fills what is left.
static void shift(Slices &slices, Value by, Value value, Lowering &to) {
  Value zero = to.index(0), size = slices.length;
  by = slices.between(by, slices.minus(zero, slices.sourceLength), size);
  Value begin = slices.between(by, zero, size);
  Value end = slices.between(slices.plus(by, slices.sourceLength), zero, size);
  slices.fill(zero, begin, value);
  slices.copy(begin, end, slices.minus(begin, by));
  slices.fill(end, size, value);
}

bool xtensor::lowerRoll(GatherOp op, Lowering &to) {
  Place place(op.getIndices(), op.getAlong(), arrayType(op.getSource()));
  Value amount = to.isForDevice() ? Value() : place.rolledBy();
  if (!amount)
    return false;
  Slices slices(arrayType(op.getY()), op.getSource(), place.dim, place.dim, to);
  Value zero = to.index(0), size = slices.length, by = remainder(amount, slices, to);
  slices.copy(zero, by, slices.minus(size, by));
  slices.copy(by, size, zero);
  to.setTensor(op.getY(), slices.whole);
  return true;
}

/// The read whose elements `op` shows, and others only beyond the ends.
static Shift shiftOf(SelectOp op) {
  auto gather = op.getLhs().getDefiningOp<GatherOp>();
  if (!gather || gather.getMode() != IndexMode::clip || arrayType(op.getRhs()).getRank() != 0)
    return {};
  Place place(gather.getIndices(), gather.getAlong(), arrayType(gather.getSource()));
  return {gather, place.shiftedBy(op.getCondition())};
}

bool xtensor::isPartOfShift(GatherOp op, Lowering &to) {
  auto select = op->hasOneUse() ? dyn_cast<SelectOp>(*op->user_begin()) : SelectOp();
  if (!select || to.isForDevice())
    return false;
  auto [gather, by] = shiftOf(select);
  return gather == op && by;
}

bool xtensor::lowerShift(SelectOp op, Lowering &to) {
  auto [gather, by] = shiftOf(op);
  if (to.isForDevice() || !by)
    return false;
  Place place(gather.getIndices(), gather.getAlong(), arrayType(gather.getSource()));
  Slices slices(arrayType(gather.getY()), gather.getSource(), place.dim, place.along, to);
  Value value = Lowering::elementAt(to.b, to.loc(), to.view(op.getRhs()), {});
  shift(slices, asIndex(by, to), value, to);
  to.setStored(op.getY(), slices.whole, slices.type.getDimNames());
  return true;
}

bool xtensor::lowerShiftBack(ScatterOp op, Lowering &to) {
  ArrayType type = arrayType(op.getY());
  Place place(op.getIndices(), op.getAlong(), type);
  if (to.isForDevice() || op.getKind() != ScatterKind::add || !type.isFloat() ||
      !isPositiveZero(op.getTarget()))
    return false;
  if (Value amount = place.rolledBy();
      amount && arrayType(op.getUpdates()).getRank() == type.getRank()) {
    Slices slices(type, op.getUpdates(), place.dim, place.dim, to);
    Value zero = to.index(0), size = slices.length, by = remainder(amount, slices, to);
    Value left = slices.minus(size, by);
    slices.copy(zero, left, by);
    slices.copy(left, size, zero);
    return to.setTensor(op.getY(), slices.whole), true;
  }
  auto updates = op.getUpdates().getDefiningOp<SelectOp>();
  if (!updates || op.getMode() != IndexMode::clip || !isPositiveZero(updates.getRhs()) ||
      arrayType(updates.getLhs()).getRank() != type.getRank())
    return false;
  Value by = place.shiftedBy(updates.getCondition());
  if (!by)
    return false;
  Slices slices(type, updates.getLhs(), place.along, place.dim, to);
  shift(slices, slices.minus(to.index(0), asIndex(by, to)), to.number(type.getElementType(), 0),
        to);
  return to.setTensor(op.getY(), slices.whole), true;
}
