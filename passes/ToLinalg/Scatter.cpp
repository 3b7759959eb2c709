// Updates by position: loops over the index elements that carry the target along, in index order,
// so that what is accumulated is the same in every run. The dims that no index array has are
// updated as one slice, a vector operation. Threads share the work by the target's places, never
// by updates: along dims that index arrays and target have in common, or, where whole rows are
// updated, by blocks of rows, each of which looks at all positions and takes its own. Where the
// states that updates found are wanted, too, it is blocks of columns.
#include "ToLinalg/Lowering.h"
#include "ToLinalg/SharedUpdates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

#include <functional>

using namespace mlir;
using namespace xtensor;

namespace {

/// Elements below which threads are not worth it.
constexpr int64_t kParallelWork = 1 << 16;
/// Rows shorter than this are not worth looking at each position once per block.
constexpr int64_t kParallelRow = 16;
/// A target of so many elements is worth copying in blocks, if that is most of the work.
constexpr int64_t kParallelCopy = 1 << 18;
/// Elements of a row that are worth looking at each position once more.
constexpr int64_t kRowPerBlock = 32;
/// Elements of the target per position that are.
constexpr int64_t kCopyPerPosition = 128;
/// Workgroups of a device wait for memory at each update, and look at many positions at once: a few
/// updates are worth sharing.
constexpr int64_t kFewUpdates = 256;

int64_t product(ArrayRef<int64_t> sizes) {
  int64_t all = 1;
  for (int64_t size : sizes)
    all = std::min<int64_t>(all * (ShapedType::isDynamic(size) ? 4096 : size), int64_t(1) << 40);
  return all;
}

/// A part of a dim: from `offset`, `length` long. The axis of a single place is dropped where rows
/// are read and written.
struct Span {
  Value offset;
  OpFoldResult length;
  int64_t size;
  bool single = false;
};
using Spans = llvm::SmallDenseMap<StringAttr, Span, 4>;

/// The operands of a tensor.extract_slice or insert_slice.
struct Box {
  SmallVector<OpFoldResult> offsets, lengths, strides;
  SmallVector<int64_t> shape;
  Names dims;
};

class UpdateLoops {
public:
  /// What an update makes of the old value, in compute types.
  using Combine = llvm::function_ref<Value(OpBuilder &, Location, Value old, ValueRange updates)>;

  UpdateLoops(Lowering &to, Value target, ValueRange indices, ArrayAttr along, IndexMode mode,
              ArrayRef<Value> updates, Combine combine)
      : to(to), b(to.b), loc(to.loc()), target(target), type(arrayType(target)), along(along),
        indices(indices), mode(mode), updates(updates), combine(combine),
        element(type.getElementType()), memory(storageType(element)) {
    auto types = llvm::map_to_vector(indices, [](Value v) { return arrayType(v); });
    written = unionOf(types, element);
    ArrayType kept = minus(type, along.getValue());
    for (StringAttr dim : kept.getDimNames())
      (written.hasDim(dim) ? aligned : sliced).push_back(dim);
    // Stored order means nothing: updates that may meet are taken in the order of names.
    for (StringAttr dim : written.getDimNames())
      if (!kept.hasDim(dim))
        inOrder.push_back(dim);
    llvm::sort(inOrder, [](StringAttr a, StringAttr b) { return a.getValue() < b.getValue(); });
  }

  /// Half precision is kept in f32 until the end.
  void accumulate() {
    if (isHalf(element))
      memory = computeType(element);
  }
  void goBackwards() { backwards = true; }

  /// Whether a device's threads may do updates of this kind side by side: what comes out is the
  /// same in any order, but for the rounding of sums and products of floats.
  bool mayTakeAnyOrder(ScatterKind kind) const {
    if (kind == ScatterKind::set || element.isInteger(1) || bitsAtOnce() > to.atomicBits)
      return false;
    bool rounds = kind == ScatterKind::add || kind == ScatterKind::mul;
    return !(isa<FloatType>(element) && rounds && to.inOrder) && isShared() &&
           (!aligned.empty() || !inOrder.empty()) &&
           product(written.getShape()) * rowSize() >= kFewUpdates;
  }
  /// What is narrower than a word is kept in words until the end.
  void takeAnyOrder() {
    anyOrder = true;
    if (isHalf(element))
      memory = computeType(element);
    else if (storageType(element).getIntOrFloatBitWidth() < 32)
      memory = b.getI32Type();
  }

  /// The target after all updates.
  Value last() {
    prepare();
    Value result;
    if (!anyOrder && isParallel())
      result = aligned.empty() ? inBlocks() : alongAligned();
    else
      result = loop(0, start()).front();
    return narrowed(result);
  }

  /// The target after all updates, and what each update found: an array of `view`, which has the
  /// dims of a gather. Where there is `times`, its product with that.
  std::pair<Value, Value> lastAndStates(ArrayType view, Value times = {}) {
    if ((multiplied = static_cast<bool>(times)))
      updates.push_back(times);
    prepare();
    found = view;
    // Only an update that is dropped finds nothing.
    bool findsAll = mode != IndexMode::drop &&
                    llvm::none_of(along, [&](Attribute dim) { return type.isDynamic(dim); });
    Value none = findsAll ? to.empty(view) : to.filled(view, to.number(element, 0));
    StringAttr dim = columns();
    SmallVector<Value> results = dim && rowSize() * product(written.getShape()) >= kParallelWork
                                     ? inColumns(dim, none)
                                     : loop(0, {start(), none});
    return {results[0], results[1]};
  }

  /// As the array's type has it.
  Value narrowed(Value result) {
    if (memory == storageType(element))
      return result;
    View sum{View::Tensor, result, b.getMultiDimIdentityMap(type.getRank()), element};
    return to.elementwise(type, sum, [&](OpBuilder &b, Location loc, ValueRange x) {
      if (isa<IntegerType>(memory))
        return arith::TruncIOp::create(b, loc, storageType(element), x.front()).getResult();
      return store(b, loc, x.front(), element);
    });
  }

private:
  void prepare() {
    for (auto [index, dim] : llvm::zip_equal(indices, along)) {
      auto name = cast<StringAttr>(dim);
      if (mode == IndexMode::raise)
        checkIndex(index, name, type, to);
      sizes.push_back(
          b.createOrFold<arith::IndexCastOp>(loc, b.getI64Type(), to.sizeValue(name, type)));
    }
    for (Value update : updates)
      stored.push_back(sliced.empty() || to.view(update).kind == View::Scalar ? Stored()
                                                                              : to.stored(update));
  }

  /// A tensor that may be written to, or a copy of one; bufferization tells which.
  Value start() {
    View view = to.view(target);
    if (view.kind == View::Scalar)
      return to.filled(type.withElement(element), inMemory(b, loc, view.source));
    if (!isWide())
      return to.tensor(target);
    if (!isa<IntegerType>(memory))
      return to.packed(target, type.getDimNames(), memory);
    return to.elementwise(
        type.withElement(memory), to.access(target, type.getDimNames()),
        [&](OpBuilder &b, Location loc, ValueRange x) { return inMemory(b, loc, x.front()); });
  }
  bool isWide() const { return memory != storageType(element); }
  /// An element of an array as the tensor that is carried has it.
  Value inMemory(OpBuilder &b, Location loc, Value stored) const {
    if (!isWide())
      return stored;
    if (!isa<IntegerType>(memory))
      return load(b, loc, stored, element);
    return isUnsigned(element) ? arith::ExtUIOp::create(b, loc, memory, stored).getResult()
                               : arith::ExtSIOp::create(b, loc, memory, stored).getResult();
  }
  /// Of the numbers that threads update; those of fewer are kept in words.
  int64_t bitsAtOnce() const {
    return std::max<int64_t>(storageType(element).getIntOrFloatBitWidth(), 32);
  }

  //===- threads ---===//

  bool isParallel() {
    int64_t row = rowSize(), count = product(written.getShape()), all = product(type.getShape());
    if (isShared() && count * row >= kFewUpdates)
      return true;
    if (!aligned.empty())
      return count * row >= kParallelWork;
    if (!inOrder.empty() && row >= kParallelRow && count * row >= kParallelWork)
      return true;
    return !isTemporary() && all >= kParallelCopy && 4 * to.updateBlocks * count <= all;
  }
  int64_t rowSize() const {
    int64_t row = 1;
    for (StringAttr dim : sliced)
      row *= product(type.getSize(dim));
    return row;
  }
  /// A device has workgroups for many blocks.
  bool isShared() const { return to.isForDevice(); }
  /// Every block looks at all positions, so short rows get few, unless most of the work is to copy
  /// or fill the target.
  int64_t numBlocks(StringAttr dim) const {
    int64_t most = to.updateBlocks;
    if (!isShared() && kCopyPerPosition * product(written.getShape()) > product(type.getShape()))
      most = std::clamp<int64_t>(rowSize() / kRowPerBlock, 2, most);
    return filledBlocks(dim, most);
  }
  /// At most so many blocks of equal size, of which none is empty.
  int64_t filledBlocks(StringAttr dim, int64_t most) const {
    int64_t size = type.getSize(dim);
    if (ShapedType::isDynamic(size) || size == 0)
      return most;
    return llvm::divideCeil(size, llvm::divideCeil(size, most));
  }

  /// A temporary is updated where it is, anything else is copied part by part.
  bool isTemporary() {
    View view = to.view(target);
    return isWide() || (view.kind == View::Tensor && target.hasOneUse() && view.map.isIdentity() &&
                        isa_and_nonnull<linalg::LinalgOp>(view.source.getDefiningOp()));
  }

  /// A loop whose iterations own the parts `spans` of the target, and of `states` if it is given:
  /// both are the results.
  SmallVector<Value> forall(ArrayRef<OpFoldResult> ends, int64_t work,
                            llvm::function_ref<Spans(ValueRange)> spansOf, Value states = {}) {
    View view = to.view(target);
    bool inPlace = isTemporary();
    Stored source;
    if (!inPlace && view.kind != View::Scalar)
      source = to.stored(target);
    SmallVector<Value> inits{inPlace ? start() : to.empty(type, memory)};
    if (states)
      inits.push_back(states);
    auto loop = scf::ForallOp::create(b, loc, ends, inits, std::nullopt);
    loop->setAttr("xtensor.work", b.getI64IntegerAttr(work));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Spans spans = spansOf(loop.getInductionVars());
    Value out = loop.getRegionIterArgs().front();
    Box place = box(type.getDimNames(), type, spans, /*drop=*/false);
    Value part = extract(out, place);
    if (!inPlace && view.kind == View::Scalar) {
      part = linalg::FillOp::create(b, loc, inMemory(b, loc, view.source), part).getResult(0);
    } else if (!inPlace) {
      Box own = box(source.order, type, spans, /*drop=*/false);
      View copied{View::Tensor, extract(source.tensor, own),
                  to.mapTo(type.getDimNames(), source.order), element};
      part = to.generic(copied, part, b.getMultiDimIdentityMap(type.getRank()), /*reductions=*/0,
                        [](OpBuilder &, Location, ValueRange x, ValueRange) {
                          return SmallVector<Value>{x.front()};
                        })
                 .front();
    }
    SmallVector<Value> parts{part};
    SmallVector<Box, 2> places{place};
    if (states) {
      places.push_back(box(found.getDimNames(), found, spans, /*drop=*/false));
      parts.push_back(extract(loop.getRegionIterArgs().back(), places.back()));
    }
    owned = spans;
    SmallVector<Value> results = this->loop(0, parts);
    owned.clear();
    b.setInsertionPointToStart(loop.getTerminator().getBody());
    for (auto [result, whole, box] : llvm::zip_equal(results, loop.getRegionIterArgs(), places))
      tensor::ParallelInsertSliceOp::create(b, loc, result, whole, box.offsets, box.lengths,
                                            box.strides);
    return SmallVector<Value>(loop.getResults());
  }

  /// Updates of different places along these dims never meet.
  Value alongAligned() {
    SmallVector<OpFoldResult> ends;
    for (StringAttr dim : aligned)
      ends.push_back(to.sizeOf(dim, type));
    SmallVector<int64_t> one;
    for (StringAttr dim : inOrder)
      one.push_back(written.getSize(dim));
    int64_t copied = product(minus(type, attributes(aligned)).getShape());
    auto spansOf = [&](ValueRange at) {
      Spans spans;
      for (auto [dim, index] : llvm::zip_equal(aligned, at)) {
        position[dim] = index;
        spans[dim] = {index, b.getIndexAttr(1), 1, /*single=*/true};
      }
      return spans;
    };
    return forall(ends, product(one) + copied / 8 + 1, spansOf).front();
  }

  /// The longest of the dims that are written along, in blocks.
  Value inBlocks() {
    auto dim = cast<StringAttr>(*llvm::max_element(along, [&](Attribute a, Attribute b) {
      return product(type.getSize(a)) < product(type.getSize(b));
    }));
    int64_t blocks = numBlocks(dim);
    int64_t work = product(written.getShape()) + product(type.getShape()) / (16 * blocks);
    return forall(OpFoldResult(b.getIndexAttr(blocks)), work, blocksOf(dim, blocks)).front();
  }

  /// The longest of the dims that updates write slices along; none if it is short.
  StringAttr columns() const {
    if (sliced.empty())
      return {};
    StringAttr dim = *llvm::max_element(sliced, [&](StringAttr a, StringAttr b) {
      return product(type.getSize(a)) < product(type.getSize(b));
    });
    return product(type.getSize(dim)) >= 2 * kParallelRow ? dim : StringAttr();
  }
  /// All positions for each block of columns.
  SmallVector<Value> inColumns(StringAttr dim, Value states) {
    int64_t most = product(type.getSize(dim)) / kRowPerBlock;
    int64_t blocks = filledBlocks(dim, std::clamp<int64_t>(most, 2, to.updateBlocks));
    return forall(OpFoldResult(b.getIndexAttr(blocks)), product(written.getShape()),
                  blocksOf(dim, blocks), states);
  }

  /// The part of `dim` that a block has.
  std::function<Spans(ValueRange)> blocksOf(StringAttr dim, int64_t blocks) {
    int64_t size = type.getSize(dim), step = (size + blocks - 1) / blocks;
    bool even = !ShapedType::isDynamic(size) && size % blocks == 0;
    Value whole = to.sizeValue(dim, type), length = to.index(step);
    if (ShapedType::isDynamic(size)) {
      Value up = arith::AddIOp::create(b, loc, whole, to.index(blocks - 1));
      length = arith::DivUIOp::create(b, loc, up, to.index(blocks));
    }
    return [=](ValueRange at) {
      Value from = arith::MulIOp::create(b, loc, at.front(), length);
      if (even)
        return Spans{{dim, {from, b.getIndexAttr(step), step}}};
      from = arith::MinSIOp::create(b, loc, from, whole);
      Value rest = arith::SubIOp::create(b, loc, whole, from);
      Value here = arith::MinSIOp::create(b, loc, rest, length);
      return Spans{{dim, {from, here, ShapedType::kDynamic}}};
    };
  }

  //===- the loops ---===//

  static SmallVector<Attribute> attributes(ArrayRef<StringAttr> names) {
    return {names.begin(), names.end()};
  }

  SmallVector<Value> loop(unsigned depth, ValueRange carried) {
    // Where no thread has its part, dims that are aligned are looped over like the others.
    Names dims = inOrder;
    if (aligned.size() && !owned.contains(aligned.front()))
      dims.insert(dims.begin(), aligned.begin(), aligned.end());
    if (depth == dims.size())
      return step(carried);
    StringAttr dim = dims[depth];
    Value end = to.sizeValue(dim, written);
    auto loop = scf::ForOp::create(b, loc, to.index(0), end, to.index(1), carried);
    if (anyOrder && depth == 0)
      loop->setAttr("xtensor.unordered", b.getUnitAttr());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value at = loop.getInductionVar();
    if (backwards)
      at = arith::SubIOp::create(b, loc, arith::SubIOp::create(b, loc, end, to.index(1)), at);
    position[dim] = at;
    scf::YieldOp::create(b, loc, this->loop(depth + 1, loop.getRegionIterArgs()));
    return SmallVector<Value>(loop.getResults());
  }

  SmallVector<Value> positionsOf(ArrayRef<StringAttr> dims) {
    return llvm::map_to_vector(dims, [&](StringAttr dim) { return position.lookup(dim); });
  }

  SmallVector<Value> step(ValueRange carried) {
    Value taken; // whether this update is made here; null: always
    auto require = [&](Value condition) {
      taken = taken ? arith::AndIOp::create(b, loc, taken, condition).getResult() : condition;
    };
    Spans place;
    for (StringAttr dim : sliced)
      if (auto part = owned.find(dim); part != owned.end())
        place[dim] = {to.index(0), part->second.length, part->second.size};
    for (auto [index, size, name] : llvm::zip_equal(indices, sizes, along)) {
      auto dim = cast<StringAttr>(name);
      Type kind = arrayType(index).getElementType();
      View view = to.access(index, written.getDimNames());
      Value at = Lowering::elementAt(b, loc, view, positionsOf(written.getDimNames()));
      Value counted = fromEnd(b, loc, toI64(b, loc, at, kind), size, kind);
      Value clamped = clampedIndex(b, loc, counted, size);
      if (mode == IndexMode::drop)
        require(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, counted, size));
      else if (type.isDynamic(dim)) // nothing fits into an empty target
        require(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, clamped,
                                      to.sizeValue(dim, type)));
      if (auto part = owned.find(dim); part != owned.end()) {
        clamped = arith::SubIOp::create(b, loc, clamped, part->second.offset);
        Value length = getValue(part->second.length);
        require(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, clamped, length));
      }
      place[dim] = {clamped, b.getIndexAttr(1), 1, /*single=*/true};
    }
    for (StringAttr dim : aligned)
      place[dim] = {owned.contains(dim) ? to.index(0) : position.lookup(dim), b.getIndexAttr(1), 1,
                    /*single=*/true};
    auto update = [&] {
      return sliced.empty() ? updateNumber(carried, place) : updateSlice(carried, place);
    };
    if (!taken)
      return update();
    auto branch = scf::IfOp::create(b, loc, carried.getTypes(), taken, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&branch.getThenRegion().front());
    scf::YieldOp::create(b, loc, update());
    b.setInsertionPointToStart(&branch.getElseRegion().front());
    scf::YieldOp::create(b, loc, carried);
    return SmallVector<Value>(branch.getResults());
  }

  Value getValue(OpFoldResult size) {
    if (auto value = dyn_cast<Value>(size))
      return value;
    return to.index(cast<IntegerAttr>(cast<Attribute>(size)).getInt());
  }

  /// The value that `old` has after an update, both as in memory.
  Value combined(OpBuilder &b, Location loc, Value old, ValueRange inputs) const {
    Value before = isWide() ? old : load(b, loc, old, element);
    SmallVector<Value> values;
    for (auto [value, update] : llvm::zip_equal(inputs, updates))
      values.push_back(isa<IntegerType>(memory) && isWide()
                           ? inMemory(b, loc, value)
                           : load(b, loc, value, arrayType(update).getElementType()));
    Value after = combine(b, loc, before, values);
    return isWide() ? after : store(b, loc, after, element);
  }
  /// The value of a state as the array of states holds it.
  Value asState(OpBuilder &b, Location loc, Value old, ValueRange inputs) const {
    Value state = isWide() ? store(b, loc, old, element) : old;
    if (!multiplied)
      return state;
    Value factor = load(b, loc, inputs.back(), element);
    Value product = arith::MulFOp::create(b, loc, load(b, loc, state, element), factor);
    return store(b, loc, product, element);
  }

  SmallVector<Value> updateNumber(ValueRange carried, const Spans &place) {
    SmallVector<Value> at, values;
    for (StringAttr dim : type.getDimNames())
      at.push_back(place.lookup(dim).offset);
    for (Value update : updates) {
      View view = to.access(update, written.getDimNames());
      values.push_back(Lowering::elementAt(b, loc, view, positionsOf(written.getDimNames())));
    }
    Value old = tensor::ExtractOp::create(b, loc, carried[0], at);
    SmallVector<Value> next{
        tensor::InsertOp::create(b, loc, combined(b, loc, old, values), carried[0], at)};
    if (found)
      next.push_back(tensor::InsertOp::create(b, loc, asState(b, loc, old, values), carried[1],
                                              positionsOf(found.getDimNames())));
    return next;
  }

  SmallVector<Value> updateSlice(ValueRange carried, const Spans &place) {
    SmallVector<View> rows;
    for (auto [update, where] : llvm::zip_equal(updates, stored)) {
      View row = to.view(update);
      if (row.kind == View::Scalar) {
        row.map = AffineMap::get(sliced.size(), 0, b.getContext());
      } else {
        Box part = box(where.order, arrayType(update), updated(where.order), /*drop=*/true);
        row = {View::Tensor, extract(where.tensor, part), to.mapTo(sliced, part.dims),
               arrayType(update).getElementType()};
      }
      rows.push_back(row);
    }
    Box own = box(type.getDimNames(), type, place, /*drop=*/true);
    SmallVector<Value> outs{extract(carried[0], own)};
    SmallVector<AffineMap> maps{to.mapTo(sliced, own.dims)};
    Box states;
    if (found) {
      Spans spans = updated(found.getDimNames());
      for (StringAttr dim : sliced)
        if (place.contains(dim))
          spans[dim] = place.lookup(dim);
      states = box(found.getDimNames(), found, spans, /*drop=*/true);
      outs.push_back(extract(carried[1], states));
      maps.push_back(to.mapTo(sliced, states.dims));
    }
    SmallVector<Value> results =
        to.generic(rows, outs, maps, /*reductions=*/0,
                   [&](OpBuilder &b, Location loc, ValueRange x, ValueRange old) {
                     SmallVector<Value> next{combined(b, loc, old[0], x)};
                     if (found)
                       next.push_back(asState(b, loc, old[0], x));
                     return next;
                   });
    SmallVector<Value> next{insert(results[0], carried[0], own)};
    if (found)
      next.push_back(insert(results[1], carried[1], states));
    return next;
  }

  /// This update's place among `dims`; of the sliced ones the part that this thread has.
  Spans updated(ArrayRef<StringAttr> dims) {
    Spans spans;
    for (StringAttr dim : dims)
      if (Value at = position.lookup(dim))
        spans[dim] = {at, b.getIndexAttr(1), 1, /*single=*/true};
      else if (llvm::is_contained(sliced, dim) && owned.contains(dim))
        spans[dim] = owned.lookup(dim);
    return spans;
  }

  //===- slices ---===//

  /// The axes of `order` cut to `spans`; those of single places are dropped if asked for.
  Box box(ArrayRef<StringAttr> order, ArrayType of, const Spans &spans, bool drop) {
    Box result;
    for (StringAttr dim : order) {
      auto span = spans.find(dim);
      bool whole = span == spans.end();
      result.offsets.push_back(whole ? OpFoldResult(b.getIndexAttr(0))
                                     : OpFoldResult(span->second.offset));
      result.lengths.push_back(whole ? to.sizeOf(dim, of) : span->second.length);
      result.strides.push_back(b.getIndexAttr(1));
      if (drop && !whole && span->second.single)
        continue;
      result.shape.push_back(whole ? of.getSize(dim) : span->second.size);
      result.dims.push_back(dim);
    }
    return result;
  }
  Value extract(Value tensor, const Box &box) {
    auto type =
        RankedTensorType::get(box.shape, cast<RankedTensorType>(tensor.getType()).getElementType());
    return tensor::ExtractSliceOp::create(b, loc, type, tensor, box.offsets, box.lengths,
                                          box.strides);
  }
  Value insert(Value part, Value whole, const Box &box) {
    return tensor::InsertSliceOp::create(b, loc, part, whole, box.offsets, box.lengths,
                                         box.strides);
  }

  Lowering &to;
  OpBuilder &b;
  Location loc;
  Value target;
  ArrayType type;
  ArrayAttr along;
  SmallVector<Value> indices;
  IndexMode mode;
  SmallVector<Value> updates;
  Combine combine;
  Type element, memory; // memory: of the tensor that is carried
  bool backwards = false, anyOrder = false;
  bool multiplied = false; // the last of the updates is a factor of the states

  ArrayType written;              // the dims of all indices
  Names aligned, inOrder, sliced; // dims of both; of indices alone; of the target alone
  ArrayType found;                // of the states, if they are asked for
  SmallVector<Stored> stored;     // the updates, where slices of them are read
  SmallVector<Value> sizes;       // of the dims along which is written, as i64
  Spans owned;                    // the part of the target that this thread has
  llvm::SmallDenseMap<StringAttr, Value> position;
};

/// What is updated or not, an index out of range is an error.
template <typename Op>
void checkIndices(Op op, Lowering &to) {
  if (op.getMode() != IndexMode::raise)
    return;
  ArrayType target = arrayType(op->getOperand(0)); // or what it starts from
  for (auto [index, dim] : llvm::zip_equal(op.getIndices(), op.getAlong()))
    checkIndex(index, cast<StringAttr>(dim), target, to);
}

} // namespace

void xtensor::lowerScatter(ScatterOp op, Lowering &to) {
  ArrayType target = arrayType(op.getTarget());
  // Nothing fits into an empty target.
  if (llvm::is_contained(target.getShape(), 0) || addsNothing(op)) {
    checkIndices(op, to);
    return to.set(op.getY(), to.view(op.getTarget()));
  }
  Type element = target.getElementType();
  bool isUnsigned = xtensor::isUnsigned(element) || target.isBool();
  Mask mask = maskOf(op);
  auto combine = [&](OpBuilder &b, Location loc, Value old, ValueRange updates) {
    Value update = updates.front();
    if (mask.condition)
      update =
          arith::SelectOp::create(b, loc, update, arith::ConstantOp::create(b, loc, mask.where),
                                  arith::ConstantOp::create(b, loc, mask.elsewhere));
    return combineNumbers(b, loc, op.getKind(), old, update, isUnsigned);
  };
  UpdateLoops loops(to, op.getTarget(), op.getIndices(), op.getAlong(), op.getMode(),
                    mask.condition ? mask.condition : op.getUpdates(), combine);
  if (op.getKind() == ScatterKind::add || op.getKind() == ScatterKind::mul)
    loops.accumulate();
  AccumulateOp states = statesOf(op);
  if (!states && loops.mayTakeAnyOrder(op.getKind()))
    loops.takeAnyOrder();
  if (states) {
    auto [last, found] = loops.lastAndStates(arrayType(states.getY()));
    to.setTensor(states.getY(), found);
    to.lowered.insert(states);
    return to.setTensor(op.getY(), loops.narrowed(last));
  }
  to.setTensor(op.getY(), loops.last());
}

void xtensor::lowerAccumulate(AccumulateOp op, Lowering &to) {
  ArrayType start = arrayType(op.getStart()), type = arrayType(op.getY());
  if (llvm::is_contained(start.getShape(), 0)) {
    checkIndices(op, to);
    if (op.getKind() == AccumulateKind::last)
      return to.set(op.getY(), to.view(op.getStart()));
    return to.setScalar(op.getY(), to.number(type.getElementType(), 0));
  }
  auto combine = [&](OpBuilder &b, Location loc, Value old, ValueRange updates) -> Value {
    Value product = arith::MulFOp::create(b, loc, updates[0], old);
    return arith::AddFOp::create(b, loc, product, updates[1]);
  };
  UpdateLoops loops(to, op.getStart(), op.getIndices(), op.getAlong(), op.getMode(),
                    {op.getFactors(), op.getTerms()}, combine);
  loops.accumulate();
  if (op.getReverse())
    loops.goBackwards();
  AccumulateOp other = sameUpdates(op);
  bool isLast = op.getKind() == AccumulateKind::last;
  AccumulateOp states = isLast ? other : op;
  if (!states)
    return to.setTensor(op.getY(), loops.last());
  Product product = productOf(states, op);
  Value y = product.op ? product.op.getY() : states.getY();
  auto [last, found] = loops.lastAndStates(arrayType(y), product.factor);
  to.setTensor(y, found);
  if (product.op)
    to.lowered.insert(product.op);
  if (isLast || other)
    to.setTensor((isLast ? op : other).getY(), loops.narrowed(last));
  if (other)
    to.lowered.insert(other);
}
