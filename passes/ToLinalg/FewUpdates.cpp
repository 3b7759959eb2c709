// Few updates of a large target in half precision. They are combined in f32 and rounded once, but
// only their places are widened:
// 1. Each update writes its number into the slot of its place, and the old value of this place into
//    its row of a scratch. If updates meet at a place, the number of the last one stays.
// 2. Each update is combined with the row whose number the slot of its place has.
// 3. Each update writes this row back, rounded.
// The slots are as many as the places of the target, but only those of updates are ever touched.
#include "ToLinalg/UpdateLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace xtensor;

/// The scratch pays from so many elements of the target per update on, and per element of its row.
static constexpr int64_t kTargetPerUpdate = 256, kTargetPerElement = 16;

bool UpdateLoops::areFew() const {
  if (llvm::any_of(written.getShape(), ShapedType::isDynamic))
    return false;
  Amount all = Amount::ofSizes(type.getShape());
  Amount least = rowSize() * kTargetPerElement + kTargetPerUpdate;
  return all >= kSmallArray && Amount::ofSizes(written.getShape()) * least <= all;
}

Value UpdateLoops::number() {
  Value number = to.index(0);
  for (StringAttr dim : looped()) {
    Value size = to.sizeValue(dim, written);
    number = arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, number, size),
                                   position.lookup(dim));
  }
  return number;
}

Value UpdateLoops::updatedInScratch(Value part) {
  Type wide = computeType(element), counter = b.getI32Type();
  int64_t count = 1;
  for (StringAttr dim : looped())
    count *= written.getSize(dim);
  SmallVector<OpFoldResult> places, sizes{b.getIndexAttr(count)};
  for (auto [dim, size] : llvm::zip_equal(type.getDimNames(), tensor::getMixedSizes(b, loc, part)))
    (llvm::is_contained(sliced, dim) ? sizes : places).push_back(size);
  auto slotOf = [&](const Spans &place) {
    SmallVector<Value> at;
    for (StringAttr dim : type.getDimNames())
      if (!llvm::is_contained(sliced, dim))
        at.push_back(place.lookup(dim).offset);
    return at;
  };
  // Rows of the scratch have the sliced dims in the order in which the target has them.
  auto rowAt = [&](Value number, const Spans &place) {
    Box row = box(sliced, type, place, /*drop=*/true);
    row.offsets.insert(row.offsets.begin(), number);
    row.lengths.insert(row.lengths.begin(), b.getIndexAttr(1));
    row.strides.insert(row.strides.begin(), b.getIndexAttr(1));
    return row;
  };
  auto ownBox = [&](const Spans &place) { return box(type.getDimNames(), type, place, true); };
  auto copyRow = [&](Value from, const Box &source, Value to, const Box &target, auto convert) {
    View row{View::Tensor, extract(from, source), b.getMultiDimIdentityMap(sliced.size()), element};
    Value copied = this->to
                       .generic(row, extract(to, target), row.map, /*reductions=*/0,
                                [&](OpBuilder &b, Location loc, ValueRange x, ValueRange) {
                                  return SmallVector<Value>{convert(b, loc, x.front())};
                                })
                       .front();
    return insert(copied, to, target);
  };
  auto widen = [&](OpBuilder &b, Location loc, Value x) { return load(b, loc, x, element); };
  auto narrow = [&](OpBuilder &b, Location loc, Value x) { return store(b, loc, x, element); };

  Value slots = tensor::EmptyOp::create(b, loc, places, counter);
  Value scratch = tensor::EmptyOp::create(b, loc, sizes, wide);
  SmallVector<Value> started =
      loop(0, {slots, scratch}, [&](ValueRange carried, const Spans &place) {
        Value n = number();
        Value counted = arith::IndexCastOp::create(b, loc, counter, n);
        Value slots = tensor::InsertOp::create(b, loc, counted, carried[0], slotOf(place));
        return SmallVector<Value>{slots,
                                  copyRow(part, ownBox(place), carried[1], rowAt(n, place), widen)};
      });
  auto rowOf = [&](const Spans &place) {
    Value n = tensor::ExtractOp::create(b, loc, started[0], slotOf(place));
    return rowAt(arith::IndexCastOp::create(b, loc, b.getIndexType(), n), place);
  };
  Value sums = loop(0, started[1], [&](ValueRange carried, const Spans &place) {
                 Box row = rowOf(place);
                 SmallVector<View> inputs = sliced.empty() ? SmallVector<View>() : rows();
                 SmallVector<Value> values = sliced.empty() ? numbers() : SmallVector<Value>();
                 Value result =
                     to.generic(inputs, extract(carried.front(), row),
                                b.getMultiDimIdentityMap(sliced.size()), /*reductions=*/0,
                                [&](OpBuilder &b, Location loc, ValueRange x, ValueRange old) {
                                  return SmallVector<Value>{combined(
                                      b, loc, old[0], sliced.empty() ? ValueRange(values) : x)};
                                })
                         .front();
                 return SmallVector<Value>{insert(result, carried.front(), row)};
               }).front();
  return loop(0, part,
              [&](ValueRange carried, const Spans &place) {
                return SmallVector<Value>{
                    copyRow(sums, rowOf(place), carried.front(), ownBox(place), narrow)};
              })
      .front();
}
