// Reads at the positions along a dim less a number that is known at run time. Where positions that
// are outside count from the other end, or show a value, the result is made of slices. Threads and
// vectors copy these as they are, which a read by position does element by element.
#include "ToLinalg/Lowering.h"

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
  return type.getElementType().isInteger(64) && type.hasDim(dim) ? difference.getRhs() : Value();
}

/// Whether the array without dims is this number.
static bool isNumber(Value array, int64_t number) {
  auto constant = array.getDefiningOp<ConstantOp>();
  auto value = constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue()) : nullptr;
  return value && arrayType(array).getRank() == 0 &&
         value.getSplatValue<APInt>().getSExtValue() == number;
}

/// Whether the array without dims is the size of `dim` in `type`.
static bool isSize(Value array, StringAttr dim, ArrayType type) {
  if (!type.isDynamic(dim))
    return isNumber(array, type.getSize(dim));
  auto size = array.getDefiningOp<SizeOp>();
  return size && size.getDimAttr() == dim;
}

namespace {
/// The result of a read along one dim, written slice by slice.
struct Slices {
  /// `dim`: of the result, in the place of `along`, that of the source.
  Slices(GatherOp op, StringAttr dim, StringAttr along, Lowering &to)
      : to(to), type(arrayType(op.getY())), source(to.stored(op.getSource())), axis(type.find(dim)),
        whole(to.empty(type)) {
    for (StringAttr d : source.order)
      axes.push_back(getAffineDimExpr(type.find(d == along ? dim : d), op.getContext()));
    sourceAxis = llvm::find(source.order, along) - source.order.begin();
    for (StringAttr d : type.getDimNames())
      sizes.push_back(to.sizeOf(d, type));
    for (StringAttr d : source.order)
      sourceSizes.push_back(to.sizeOf(d, arrayType(op.getSource())));
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
} // namespace

/// The dim of the only index, if no other dim of the source has its name.
static StringAttr newDim(GatherOp op) {
  if (op.getIndices().size() != 1 || arrayType(op.getIndices()[0]).getRank() != 1)
    return {};
  StringAttr dim = arrayType(op.getIndices()[0]).getDimNames()[0];
  return dim == op.getAlong()[0] || !arrayType(op.getSource()).hasDim(dim) ? dim : StringAttr();
}

bool xtensor::lowerRoll(GatherOp op, Lowering &to) {
  StringAttr dim = newDim(op);
  ArrayType source = arrayType(op.getSource());
  if (to.isForDevice() || !dim || dim != op.getAlong()[0])
    return false;
  // i - n % size counts from the end where it is negative, and (i - n) % size never is.
  Value index = op.getIndices()[0], amount;
  if (auto mod = index.getDefiningOp<ModOp>()) {
    if (isSize(mod.getRhs(), dim, source))
      amount = subtracted(mod.getLhs(), dim);
  } else if (Value number = subtracted(index, dim)) {
    if (auto mod = number.getDefiningOp<ModOp>(); mod && isSize(mod.getRhs(), dim, source))
      amount = mod.getLhs();
  }
  // Padding by the array itself has more positions.
  ArrayType positions = arrayType(index);
  if (!amount || arrayType(amount).getRank() != 0 || positions.getSize(dim) != source.getSize(dim))
    return false;
  Slices slices(op, dim, dim, to);
  Value zero = to.index(0), size = slices.length;
  Value by = arith::IndexCastOp::create(to.b, to.loc(), to.b.getIndexType(), to.numberOf(amount));
  // An empty dim has no remainder.
  Value divisor = arith::MaxSIOp::create(to.b, to.loc(), size, to.index(1));
  by = arith::RemSIOp::create(to.b, to.loc(), by, divisor);
  Value isNegative = arith::CmpIOp::create(to.b, to.loc(), arith::CmpIPredicate::slt, by, zero);
  by = arith::SelectOp::create(to.b, to.loc(), isNegative, slices.plus(by, size), by);
  slices.copy(zero, by, slices.minus(size, by));
  slices.copy(by, size, zero);
  to.setTensor(op.getY(), slices.whole);
  return true;
}

/// What `op` shows between elements that a gather reads: the gather, and the number that positions
/// along a dim are less.
static std::pair<GatherOp, Value> shiftOf(SelectOp op) {
  auto gather = op.getLhs().getDefiningOp<GatherOp>();
  auto both = op.getCondition().getDefiningOp<AndOp>();
  if (!gather || !both || gather.getMode() != IndexMode::clip ||
      arrayType(op.getRhs()).getRank() != 0)
    return {};
  StringAttr dim = newDim(gather);
  auto low = both.getLhs().getDefiningOp<CompareOp>(),
       high = both.getRhs().getDefiningOp<CompareOp>();
  if (!dim || !low || !high || low.getPredicate() != ComparePredicate::ge ||
      high.getPredicate() != ComparePredicate::lt)
    return {};
  Value index = gather.getIndices()[0];
  if (low.getLhs() != index || high.getLhs() != index || !isNumber(low.getRhs(), 0) ||
      !isSize(high.getRhs(), cast<StringAttr>(gather.getAlong()[0]), arrayType(gather.getSource())))
    return {};
  Value amount = subtracted(index, dim);
  return amount ? std::make_pair(gather, amount) : std::make_pair(GatherOp(), Value());
}

bool xtensor::isPartOfShift(GatherOp op, Lowering &to) {
  auto select = op->hasOneUse() ? dyn_cast<SelectOp>(*op->user_begin()) : SelectOp();
  return select && !to.isForDevice() && shiftOf(select).first == op;
}

bool xtensor::lowerShift(SelectOp op, Lowering &to) {
  auto [gather, amount] = shiftOf(op);
  if (to.isForDevice() || !gather)
    return false;
  Slices slices(gather, newDim(gather), cast<StringAttr>(gather.getAlong()[0]), to);
  Value zero = to.index(0), size = slices.length, value;
  value = Lowering::elementAt(to.b, to.loc(), to.view(op.getRhs()), {});
  Value by = arith::IndexCastOp::create(to.b, to.loc(), to.b.getIndexType(), to.numberOf(amount));
  by = slices.between(by, slices.minus(zero, slices.sourceLength), size);
  Value begin = slices.between(by, zero, size);
  Value end = slices.between(slices.plus(by, slices.sourceLength), zero, size);
  slices.fill(zero, begin, value);
  slices.copy(begin, end, slices.minus(begin, by));
  slices.fill(end, size, value);
  to.setStored(op.getY(), slices.whole, slices.type.getDimNames());
  return true;
}
