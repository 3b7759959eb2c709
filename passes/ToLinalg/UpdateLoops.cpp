// Updates by position: loops over the elements of the index arrays, which carry the target. They
// run in the order of the indices, so that sums are the same in every run. Dims that no index array
// has are updated as one slice, by a vector operation.
//
// Each thread updates a part of the target, for all updates:
// * If index arrays and target share a dim, the parts lie along this dim.
// * If whole rows are updated, the parts are blocks of rows. Each block looks at all positions, and
//   takes those in it.
// * If columns of rows are updated, the parts are blocks of rows, too. Each takes all positions.
// * If the program also needs the state before each update, the parts are blocks of columns.
#include "ToLinalg/UpdateLoops.h"
#include "Machine.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace xtensor;

/// The least elements of a row for which it pays that each block looks at all positions.
static constexpr int64_t kParallelRow = 16;
/// The least elements of a target for which copying it in blocks pays, if that is most of the work.
static constexpr int64_t kParallelCopy = 1 << 18;
/// The elements of a row per block: each further block looks at all positions once more.
static constexpr int64_t kRowPerBlock = 32;
/// The elements of the target per position from which on copying is most of the work.
static constexpr int64_t kCopyPerPosition = 128;
/// The updates per element of the target from which on most of them do not change a maximum.
static constexpr int64_t kUpdatesPerChange = 1000;
/// Workgroups of a device wait for memory at each update, and look at many positions at once: a few
/// updates are worth sharing.
static constexpr int64_t kFewUpdates = 256;

/// Elements of a block of rows, which the first cache holds. Each block looks at all positions, so
/// it has more rows if these are long: up to so many bytes, and so many rows at least and at most.
static constexpr int64_t kSliceElements = 4096, kSliceBytes = 64 * 1024, kFewRows = 4,
                         kManyRows = 16;

static Amount product(ArrayRef<int64_t> sizes) { return Amount::ofSizes(sizes); }

UpdateLoops::UpdateLoops(Lowering &to, Value target, ValueRange indices, ArrayAttr along,
                         IndexMode mode, ArrayRef<Value> updates, Combine combine)
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

void UpdateLoops::accumulate() {
  if (isHalf(element))
    memory = computeType(element);
}

void UpdateLoops::widenExtrema() {
  bool singles = sliced.empty() || rowsOfSlices();
  if (element.isBF16() && !isShared() && singles &&
      llvm::none_of(written.getShape(), ShapedType::isDynamic) &&
      2 * product(written.getShape()) * rowSize() >= product(type.getShape()))
    accumulate();
}

void UpdateLoops::expectFewChanges(ScatterKind kind) {
  if ((kind == ScatterKind::max || kind == ScatterKind::min) && !to.isForDevice() &&
      (element.isF32() || element.isF64()) && sliced.empty() &&
      kUpdatesPerChange * product(type.getShape()) <= product(written.getShape()))
    rarely = kind;
}

bool UpdateLoops::mayTakeAnyOrder(ScatterKind kind) const {
  if (kind == ScatterKind::set || element.isInteger(1) || bitsAtOnce() > to.atomicBits)
    return false;
  bool rounds = kind == ScatterKind::add || kind == ScatterKind::mul;
  return !(isa<FloatType>(element) && rounds && to.inOrder) && isShared() &&
         (!aligned.empty() || !inOrder.empty()) &&
         product(written.getShape()) * rowSize() >= kFewUpdates;
}

void UpdateLoops::takeAnyOrder() {
  anyOrder = true;
  if (isHalf(element))
    memory = computeType(element);
  else if (storageType(element).getIntOrFloatBitWidth() < 32)
    memory = b.getI32Type();
}

Value UpdateLoops::last() {
  inScratch = isHalf(element) && isWide() && !isShared() && areFew();
  if (inScratch)
    memory = storageType(element);
  prepare();
  Value result;
  if (!anyOrder && isParallel())
    result = aligned.empty() ? rowsOfSlices() ? inSlices() : inBlocks() : alongAligned();
  else
    result = updated(start()).front();
  return narrowed(result);
}

std::pair<Value, Value> UpdateLoops::lastAndStates(ArrayType view, Value times) {
  if ((multiplied = static_cast<bool>(times)))
    updates.push_back(times);
  prepare();
  found = view;
  // Only an update that is dropped finds nothing.
  bool findsAll = mode != IndexMode::drop &&
                  llvm::none_of(along, [&](Attribute dim) { return type.isDynamic(dim); });
  Value none = findsAll ? to.empty(view) : to.filled(view, to.number(element, 0));
  StringAttr dim = columns();
  SmallVector<Value> results = dim && rowSize() * product(written.getShape()) >= kSharedElements
                                   ? inColumns(dim, none)
                                   : updated({start(), none});
  return {results[0], results[1]};
}

Value UpdateLoops::narrowed(Value result) {
  if (memory == storageType(element))
    return result;
  View sum{View::Tensor, result, b.getMultiDimIdentityMap(type.getRank()), element};
  return to.elementwise(type, sum, [&](OpBuilder &b, Location loc, ValueRange x) {
    if (isa<IntegerType>(memory))
      return arith::TruncIOp::create(b, loc, storageType(element), x.front()).getResult();
    return store(b, loc, x.front(), element);
  });
}

void UpdateLoops::prepare() {
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

Value UpdateLoops::start() {
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

Value UpdateLoops::inMemory(OpBuilder &b, Location loc, Value stored) const {
  if (!isWide())
    return stored;
  if (!isa<IntegerType>(memory))
    return load(b, loc, stored, element);
  return isUnsigned(element) ? arith::ExtUIOp::create(b, loc, memory, stored).getResult()
                             : arith::ExtSIOp::create(b, loc, memory, stored).getResult();
}

int64_t UpdateLoops::bitsAtOnce() const {
  return std::max<int64_t>(storageType(element).getIntOrFloatBitWidth(), 32);
}

//===- threads ---===//

bool UpdateLoops::isParallel() {
  Amount row = rowSize(), count = product(written.getShape()), all = product(type.getShape());
  if (isShared() && count * row >= kFewUpdates)
    return true;
  if (!aligned.empty())
    return count * row >= kSharedElements;
  if (!inOrder.empty() && row >= kParallelRow && count * row >= kSharedElements)
    return true;
  return !isTemporary() && all >= kParallelCopy && count * (4 * to.updateBlocks) <= all;
}

Amount UpdateLoops::rowSize() const {
  Amount row = 1;
  for (StringAttr dim : sliced)
    row *= product(type.getSize(dim));
  return row;
}

int64_t UpdateLoops::numBlocks(StringAttr dim) const {
  int64_t most = to.updateBlocks;
  if (!isShared() && kCopyPerPosition * product(written.getShape()) > product(type.getShape()))
    most = std::clamp<Amount>(rowSize() / kRowPerBlock, 2, most).count();
  return filledBlocks(dim, most);
}

int64_t UpdateLoops::filledBlocks(StringAttr dim, int64_t most) const {
  int64_t size = type.getSize(dim);
  if (ShapedType::isDynamic(size) || size == 0)
    return most;
  return llvm::divideCeil(size, llvm::divideCeil(size, most));
}

bool UpdateLoops::isTemporary() {
  View view = to.view(target);
  return isWide() || (view.kind == View::Tensor && target.hasOneUse() && view.map.isIdentity() &&
                      isa_and_nonnull<linalg::LinalgOp>(view.source.getDefiningOp()));
}

SmallVector<Value> UpdateLoops::forall(ArrayRef<OpFoldResult> ends, Amount work,
                                       llvm::function_ref<Spans(ValueRange)> spansOf,
                                       Value states) {
  View view = to.view(target);
  bool inPlace = isTemporary();
  Stored source;
  if (!inPlace && view.kind != View::Scalar)
    source = to.stored(target);
  SmallVector<Value> inits{inPlace ? start() : to.empty(type, memory)};
  if (states)
    inits.push_back(states);
  auto loop = scf::ForallOp::create(b, loc, ends, inits, std::nullopt);
  loop->setAttr(kWorkAttribute, b.getI64IntegerAttr(work.count()));
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
  SmallVector<Value> results = updated(parts);
  owned.clear();
  b.setInsertionPointToStart(loop.getTerminator().getBody());
  for (auto [result, whole, box] : llvm::zip_equal(results, loop.getRegionIterArgs(), places))
    tensor::ParallelInsertSliceOp::create(b, loc, result, whole, box.offsets, box.lengths,
                                          box.strides);
  return SmallVector<Value>(loop.getResults());
}

Value UpdateLoops::alongAligned() {
  SmallVector<OpFoldResult> ends;
  for (StringAttr dim : aligned)
    ends.push_back(to.sizeOf(dim, type));
  SmallVector<int64_t> one;
  for (StringAttr dim : inOrder)
    one.push_back(written.getSize(dim));
  Amount copied = product(minus(type, attributes(aligned)).getShape());
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

Value UpdateLoops::inBlocks() {
  auto dim = cast<StringAttr>(*llvm::max_element(along, [&](Attribute a, Attribute b) {
    return product(type.getSize(a)) < product(type.getSize(b));
  }));
  int64_t blocks = numBlocks(dim);
  Amount work = product(written.getShape()) + product(type.getShape()) / (16 * blocks);
  return forall(OpFoldResult(b.getIndexAttr(blocks)), work, blocksOf(dim, blocks, !isShared()))
      .front();
}

/// Blocks of the dim that is stored first, if no index array is along it: all places of a block lie
/// next to each other. Blocks of places would jump from row to row.
int64_t UpdateLoops::rowsOfSlices() const {
  if (isShared() || !llvm::is_contained(sliced, type.getDimNames().front()))
    return 0;
  int64_t size = type.getShape().front();
  Amount row = product(type.getShape().drop_front());
  row = std::max<Amount>(row, 1);
  Amount bytes = row * llvm::divideCeil(memory.getIntOrFloatBitWidth(), 8);
  bool sharePlaces = bytes.count() % kWayBytes == 0;
  Amount rows =
      sharePlaces ? Amount(kFewRows) : std::clamp<Amount>(kSliceBytes / bytes, kFewRows, kManyRows);
  rows = std::max<Amount>(rows, kSliceElements / row);
  return ShapedType::isDynamic(size) || size < (rows * 2).count() ? 0 : rows.count();
}

Value UpdateLoops::inSlices() {
  StringAttr dim = type.getDimNames().front();
  int64_t blocks = filledBlocks(dim, type.getSize(dim) / rowsOfSlices());
  Amount work = product(written.getShape()) + product(type.getShape()) / (16 * blocks);
  return forall(OpFoldResult(b.getIndexAttr(blocks)), work, blocksOf(dim, blocks)).front();
}

StringAttr UpdateLoops::columns() const {
  if (sliced.empty())
    return {};
  StringAttr dim = *llvm::max_element(sliced, [&](StringAttr a, StringAttr b) {
    return product(type.getSize(a)) < product(type.getSize(b));
  });
  return product(type.getSize(dim)) >= 2 * kParallelRow ? dim : StringAttr();
}

SmallVector<Value> UpdateLoops::inColumns(StringAttr dim, Value states) {
  Amount most = product(type.getSize(dim)) / kRowPerBlock;
  int64_t blocks = filledBlocks(dim, std::clamp<Amount>(most, 2, to.updateBlocks).count());
  return forall(OpFoldResult(b.getIndexAttr(blocks)), product(written.getShape()),
                blocksOf(dim, blocks), states);
}

std::function<Spans(ValueRange)> UpdateLoops::blocksOf(StringAttr dim, int64_t blocks,
                                                       bool merges) {
  int64_t size = type.getSize(dim), step = (size + blocks - 1) / blocks;
  bool even = !ShapedType::isDynamic(size) && size % blocks == 0;
  Value whole = to.sizeValue(dim, type), length = to.index(step);
  if (ShapedType::isDynamic(size)) {
    Value up = arith::AddIOp::create(b, loc, whole, to.index(blocks - 1));
    length = arith::DivUIOp::create(b, loc, up, to.index(blocks));
  }
  return [=](ValueRange at) {
    Value from = arith::MulIOp::create(b, loc, at.front(), length);
    if (merges) {
      auto next = arith::AddIOp::create(b, loc, at.front(), to.index(1));
      next->setAttr(kEndOfChunkAttribute, b.getUnitAttr());
      Value end = arith::MulIOp::create(b, loc, next, length);
      from = even ? from : arith::MinSIOp::create(b, loc, from, whole).getResult();
      end = even ? end : arith::MinSIOp::create(b, loc, end, whole).getResult();
      Value here = arith::SubIOp::create(b, loc, end, from);
      return Spans{{dim, {from, here, ShapedType::kDynamic}}};
    }
    if (even)
      return Spans{{dim, {from, b.getIndexAttr(step), step}}};
    from = arith::MinSIOp::create(b, loc, from, whole);
    Value rest = arith::SubIOp::create(b, loc, whole, from);
    Value here = arith::MinSIOp::create(b, loc, rest, length);
    return Spans{{dim, {from, here, ShapedType::kDynamic}}};
  };
}

//===- the loops ---===//

SmallVector<Attribute> UpdateLoops::attributes(ArrayRef<StringAttr> names) {
  return {names.begin(), names.end()};
}

SmallVector<Value> UpdateLoops::updated(ValueRange carried) {
  if (inScratch)
    return {updatedInScratch(carried.front())};
  return loop(0, carried, [&](ValueRange carried, const Spans &place) {
    return sliced.empty() ? updateNumber(carried, place) : updateSlice(carried, place);
  });
}

Names UpdateLoops::looped() const {
  Names dims = inOrder;
  if (aligned.size() && !owned.contains(aligned.front()))
    dims.insert(dims.begin(), aligned.begin(), aligned.end());
  return dims;
}

SmallVector<Value> UpdateLoops::loop(unsigned depth, ValueRange carried, Update update) {
  Names dims = looped();
  if (depth == dims.size())
    return step(carried, update);
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
  scf::YieldOp::create(b, loc, this->loop(depth + 1, loop.getRegionIterArgs(), update));
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> UpdateLoops::positionsOf(ArrayRef<StringAttr> dims) {
  return llvm::map_to_vector(dims, [&](StringAttr dim) { return position.lookup(dim); });
}

SmallVector<Value> UpdateLoops::step(ValueRange carried, Update update) {
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
    Value clamped = clampedIndex(b, loc, counted, size, kind, mode);
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
  if (!taken)
    return update(carried, place);
  auto branch = scf::IfOp::create(b, loc, carried.getTypes(), taken, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&branch.getThenRegion().front());
  scf::YieldOp::create(b, loc, update(carried, place));
  b.setInsertionPointToStart(&branch.getElseRegion().front());
  scf::YieldOp::create(b, loc, carried);
  return SmallVector<Value>(branch.getResults());
}

Value UpdateLoops::getValue(OpFoldResult size) {
  if (auto value = dyn_cast<Value>(size))
    return value;
  return to.index(cast<IntegerAttr>(cast<Attribute>(size)).getInt());
}

Value UpdateLoops::combined(OpBuilder &b, Location loc, Value old, ValueRange inputs) const {
  bool isWide = old.getType() != storageType(element);
  Value before = isWide ? old : load(b, loc, old, element);
  SmallVector<Value> values;
  for (auto [value, update] : llvm::zip_equal(inputs, updates))
    values.push_back(isa<IntegerType>(memory) && isWide
                         ? inMemory(b, loc, value)
                         : load(b, loc, value, arrayType(update).getElementType()));
  Value after = combine(b, loc, before, values);
  return isWide ? after : store(b, loc, after, element);
}

Value UpdateLoops::asState(OpBuilder &b, Location loc, Value old, ValueRange inputs) const {
  Value state = isWide() ? store(b, loc, old, element) : old;
  if (!multiplied)
    return state;
  Value factor = load(b, loc, inputs.back(), element);
  Value product = arith::MulFOp::create(b, loc, load(b, loc, state, element), factor);
  return store(b, loc, product, element);
}

SmallVector<Value> UpdateLoops::numbers() {
  SmallVector<Value> values;
  for (Value update : updates) {
    View view = to.access(update, written.getDimNames());
    values.push_back(Lowering::elementAt(b, loc, view, positionsOf(written.getDimNames())));
  }
  return values;
}

SmallVector<View> UpdateLoops::rows() {
  SmallVector<View> rows;
  for (auto [update, where] : llvm::zip_equal(updates, stored)) {
    View row = to.view(update);
    if (row.kind == View::Scalar) {
      row.map = AffineMap::get(sliced.size(), 0, b.getContext());
    } else {
      Box part = box(where.order, arrayType(update), spansOf(where.order), /*drop=*/true);
      row = {View::Tensor, extract(where.tensor, part), to.mapTo(sliced, part.dims),
             arrayType(update).getElementType()};
    }
    rows.push_back(row);
  }
  return rows;
}

SmallVector<Value> UpdateLoops::updateNumber(ValueRange carried, const Spans &place) {
  SmallVector<Value> at, values = numbers();
  for (StringAttr dim : type.getDimNames())
    at.push_back(place.lookup(dim).offset);
  Value old = tensor::ExtractOp::create(b, loc, carried[0], at);
  if (rarely)
    return {insertedIfBeyond(old, values, carried[0], at)};
  SmallVector<Value> next{
      tensor::InsertOp::create(b, loc, combined(b, loc, old, values), carried[0], at)};
  if (found)
    next.push_back(tensor::InsertOp::create(b, loc, asState(b, loc, old, values), carried[1],
                                            positionsOf(found.getDimNames())));
  return next;
}

Value UpdateLoops::insertedIfBeyond(Value old, ValueRange values, Value carried, ValueRange at) {
  auto predicate =
      *rarely == ScatterKind::max ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT;
  Value stays = arith::CmpFOp::create(b, loc, predicate, old, values.front());
  auto branch = scf::IfOp::create(b, loc, carried.getType(), stays, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&branch.getThenRegion().front());
  scf::YieldOp::create(b, loc, carried);
  b.setInsertionPointToStart(&branch.getElseRegion().front());
  Value next =
      tensor::InsertOp::create(b, loc, combined(b, loc, old, values), carried, at).getResult();
  scf::YieldOp::create(b, loc, next);
  return branch.getResult(0);
}

SmallVector<Value> UpdateLoops::updateSlice(ValueRange carried, const Spans &place) {
  SmallVector<View> inputs = rows();
  Box own = box(type.getDimNames(), type, place, /*drop=*/true);
  SmallVector<Value> outs{extract(carried[0], own)};
  SmallVector<AffineMap> maps{to.mapTo(sliced, own.dims)};
  Box states;
  if (found) {
    Spans spans = spansOf(found.getDimNames());
    for (StringAttr dim : sliced)
      if (place.contains(dim))
        spans[dim] = place.lookup(dim);
    states = box(found.getDimNames(), found, spans, /*drop=*/true);
    outs.push_back(extract(carried[1], states));
    maps.push_back(to.mapTo(sliced, states.dims));
  }
  SmallVector<Value> results =
      to.generic(inputs, outs, maps, /*reductions=*/0,
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

Spans UpdateLoops::spansOf(ArrayRef<StringAttr> dims) {
  Spans spans;
  for (StringAttr dim : dims)
    if (Value at = position.lookup(dim))
      spans[dim] = {at, b.getIndexAttr(1), 1, /*single=*/true};
    else if (llvm::is_contained(sliced, dim) && owned.contains(dim))
      spans[dim] = owned.lookup(dim);
  return spans;
}

//===- slices ---===//

Box UpdateLoops::box(ArrayRef<StringAttr> order, ArrayType of, const Spans &spans, bool drop) {
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

Value UpdateLoops::extract(Value tensor, const Box &box) {
  auto type =
      RankedTensorType::get(box.shape, cast<RankedTensorType>(tensor.getType()).getElementType());
  return tensor::ExtractSliceOp::create(b, loc, type, tensor, box.offsets, box.lengths,
                                        box.strides);
}

Value UpdateLoops::insert(Value part, Value whole, const Box &box) {
  return tensor::InsertSliceOp::create(b, loc, part, whole, box.offsets, box.lengths, box.strides);
}
