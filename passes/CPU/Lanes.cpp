#include "CPU/Lanes.h"
#include "CPU/LoopChoices.h"
#include "CPU/MemRefPointers.h"
#include "CPU/Processor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace xtensor::cpu;

Value xtensor::cpu::maskOfLanes(OpBuilder &b, Location loc, int64_t width, int64_t from,
                                int64_t to) {
  SmallVector<bool> on;
  for (int64_t lane = 0; lane < width; ++lane)
    on.push_back(from <= lane && lane < to);
  auto type = VectorType::get({width}, b.getI1Type());
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, on));
}

LaneEmitter::LaneEmitter(OpBuilder &b, Kernel &kernel, Views &views, int vectorLoop, int64_t width)
    : width(width), vectorLoop(vectorLoop), b(b), loc(kernel.stages.front().op.getLoc()),
      views(views), hasGathers(vectorBitsFor(kernel.stages.front().op) >= 256),
      hasSlowGathers(xtensor::hasSlowGathers(kernel.stages.front().op)),
      hasPermutes(xtensor::hasPermutes(kernel.stages.front().op)), ivs(kernel.ranges.size()) {
  DenseMap<Value, SmallVector<unsigned, 1>> known; // places by base, or scalar
  for (Stage &stage : kernel.stages)
    for (unsigned i = 0; i < stage.operands.size(); ++i) {
      const Access &access = stage.operands[i];
      SmallVector<unsigned, 1> &alike = known[access.base ? access.base : access.scalar];
      auto same = llvm::find_if(
          alike, [&](unsigned id) { return !access.base || places[id].access.samePlaces(access); });
      if (same == alike.end()) {
        alike.push_back(places.size());
        same = std::prev(alike.end());
        places.push_back({access, false, false, false, {}});
      }
      Place &place = places[*same];
      if (access.ahead)
        place.access.ahead = access.ahead;
      place.written |= access.base && i >= stage.numInputs();
      placeIds[{&stage, i}] = *same;
    }
  llvm::SmallPtrSet<Operation *, 8> own;
  DenseMap<Value, bool> startsWritten;
  for (Stage &stage : kernel.stages) {
    own.insert(stage.op);
    for (auto [i, access] : llvm::enumerate(stage.operands))
      if (access.base && !startsWritten.contains(access.base))
        startsWritten[access.base] = writesFirst(stage, i);
  }
  for (Place &p : places) {
    if (!p.access.base)
      continue;
    p.hoistable = !kernel.writes(p.access.base);
    p.isDead = p.written && startsWritten[p.access.base] && isUsedBy(p.access.base, own);
    p.linear = p.access.offset.materialize(b, loc);
  }
}

/// True if the stage writes the operand and does not read what was there.
bool LaneEmitter::writesFirst(Stage &stage, unsigned operand) {
  if (operand < stage.numInputs())
    return false;
  unsigned output = operand - stage.numInputs();
  return stage.inits[output] || (!stage.isCarried(output) && !stage.readsOutput(output));
}

/// True if the buffer is temporary, and nothing but `ops` uses it.
bool LaneEmitter::isUsedBy(Value base, const llvm::SmallPtrSetImpl<Operation *> &ops) {
  auto alloc = base.getDefiningOp<memref::AllocOp>();
  if (!alloc)
    return false;
  SmallVector<Value> views{alloc.getResult()};
  while (!views.empty())
    for (Operation *user : views.pop_back_val().getUsers()) {
      if (isa<ViewLikeOpInterface>(user))
        views.push_back(user->getResult(0));
      else if (!ops.contains(user))
        return false;
    }
  return true;
}

//===- loops ---------------------------------------------------------------===//

void LaneEmitter::enter(unsigned loop, Value iv) {
  ivs[loop] = iv;
  for (Place &p : places) {
    if (p.access.isInvariant(loop))
      continue;
    const Extent &stride = p.access.strides[loop];
    Value step = stride.is(1) ? iv : arith::MulIOp::create(b, loc, iv, stride.materialize(b, loc));
    p.linear = arith::AddIOp::create(b, loc, p.linear, step);
  }
}

void LaneEmitter::advance(unsigned loop, int64_t by) {
  if (!by)
    return;
  Value before = ivs[loop];
  enter(loop, constant(by));
  ivs[loop] = arith::AddIOp::create(b, loc, before, constant(by));
}

LaneEmitter::State LaneEmitter::save() const {
  State state{{}, ivs, loaded};
  for (const Place &p : places)
    state.linear.push_back(p.linear);
  return state;
}

void LaneEmitter::restore(State state) {
  ivs = std::move(state.ivs);
  loaded = std::move(state.loaded);
  for (auto [p, linear] : llvm::zip(places, state.linear))
    p.linear = linear;
}

void LaneEmitter::preload(ArrayRef<unsigned> remaining, int64_t unroll) {
  point.clear();
  for (unsigned id = 0; id < places.size(); ++id) {
    Place &p = places[id];
    if (!p.access.base || !p.hoistable ||
        !llvm::all_of(remaining, [&](unsigned loop) { return p.access.isInvariant(loop); }))
      continue;
    for (int64_t u = 0; u < unroll; ++u)
      if (auto key = keyOf(id, u); !loaded.contains(key)) {
        Lane value = read(id, u);
        loaded[key] = value;
      }
  }
}

//===- values --------------------------------------------------------------===//

Value LaneEmitter::constant(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }

Type LaneEmitter::wide(Type type) const { return VectorType::get({width}, type); }

Value LaneEmitter::constantOf(TypedAttr attribute, bool vector) {
  if (vector)
    attribute = DenseElementsAttr::get(cast<VectorType>(wide(attribute.getType())),
                                       ArrayRef<Attribute>(attribute));
  return arith::ConstantOp::create(b, loc, attribute);
}

Value LaneEmitter::laneNumbers(Type type) {
  SmallVector<Attribute> numbers;
  for (int64_t i = 0; i < width; ++i)
    numbers.push_back(b.getIntegerAttr(type, i));
  return arith::ConstantOp::create(b, loc,
                                   DenseElementsAttr::get(cast<VectorType>(wide(type)), numbers));
}

Value LaneEmitter::vectorOf(Lane lane) {
  if (!isWide() || lane.kind == Lane::Vector)
    return lane.value;
  Type type = lane.value.getType();
  Value all = vector::BroadcastOp::create(b, loc, wide(type), lane.value);
  if (lane.kind == Lane::Iota)
    all = arith::AddIOp::create(b, loc, all, laneNumbers(type));
  return all;
}

Value LaneEmitter::allLanes() {
  return mask ? mask : constantOf(b.getBoolAttr(true), /*vector=*/true);
}

//===- memory --------------------------------------------------------------===//

/// Vectors that read the same elements have one key.
std::pair<unsigned, int64_t> LaneEmitter::keyOf(unsigned id, int64_t u) const {
  constexpr int64_t kMostAlong = 1 << 16;
  const Access &access = places[id].access;
  bool sameAlong = vectorLoop < 0 || access.isInvariant(vectorLoop);
  bool sameRow = rowLoop < 0 || access.isInvariant(rowLoop);
  return {id, (sameAlong ? 0 : alongOf(u)) + kMostAlong * (sameRow ? 0 : rowOf(u))};
}

Value LaneEmitter::elementIndex(const Place &p, int64_t u) {
  Value index = p.linear;
  auto go = [&](int loop, int64_t steps) {
    if (steps == 0 || loop < 0 || p.access.isInvariant(loop))
      return;
    Value step = (p.access.strides[loop] * Extent(steps)).materialize(b, loc);
    index = arith::AddIOp::create(b, loc, index, step);
  };
  go(vectorLoop, alongOf(u) * width);
  go(rowLoop, rowOf(u));
  return index;
}

/// What masked lanes hold: 1, so that an integer division by it does not trap.
static TypedAttr harmless(OpBuilder &b, Type type) {
  if (isa<FloatType>(type))
    return b.getFloatAttr(type, 0.0);
  return b.getIntegerAttr(type, 1);
}

Value LaneEmitter::harmlessLanes(Type elementType) {
  return constantOf(harmless(b, elementType), /*vector=*/true);
}

Lane LaneEmitter::loadWide(Value base, Value index, Type elementType) {
  auto type = cast<VectorType>(wide(elementType));
  Value row = views.flat(base);
  if (!mask)
    return {vector::LoadOp::create(b, loc, type, row, index), Lane::Vector};
  return {vector::MaskedLoadOp::create(b, loc, type, row, index, mask, harmlessLanes(elementType)),
          Lane::Vector};
}

/// Distance of each lane from the first one.
Value LaneEmitter::stridedOffsets(const Extent &stride) {
  Value lanes = laneNumbers(b.getIndexType());
  Value step =
      vector::BroadcastOp::create(b, loc, wide(b.getIndexType()), stride.materialize(b, loc));
  return arith::MulIOp::create(b, loc, lanes, step);
}

static bool hardwareGathers(Type type) {
  return type.isIntOrFloat() &&
         (type.getIntOrFloatBitWidth() == 32 || type.getIntOrFloatBitWidth() == 64);
}

/// Elements from integers of their bits; lanes without an element are harmless.
Lane LaneEmitter::fromBits(Value bits, Type elementType) {
  Value result = bits;
  if (isa<FloatType>(elementType))
    result = arith::BitcastOp::create(b, loc, wide(elementType), bits);
  if (mask)
    result = arith::SelectOp::create(b, loc, mask, result, harmlessLanes(elementType));
  return {result, Lane::Vector};
}

/// Elements of 8 or 16 bits, for which there is no instruction: the aligned words of 32 bits that
/// they lie in, shifted. Such a word never reaches into a page in which no element lies.
Lane LaneEmitter::gatherFromWords(Value base, Value first, Value offsets, Type elementType) {
  int64_t bytes = bytesOf(elementType), log = bytes == 2 ? 1 : 2; // 2^log elements make a word
  auto longs = cast<VectorType>(wide(b.getI64Type()));
  auto words = cast<VectorType>(wide(b.getI32Type()));
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto number = [&](int64_t v) { return constantOf(b.getI64IntegerAttr(v), /*vector=*/false); };
  auto numbers = [&](int64_t v) { return constantOf(b.getI64IntegerAttr(v), /*vector=*/true); };
  // The word of the first element begins at `aligned`.
  Value start = arith::MulIOp::create(
      b, loc, arith::IndexCastOp::create(b, loc, b.getI64Type(), first), number(bytes));
  Value address =
      LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), addressOf(b, loc, views.flat(base)));
  address = arith::AddIOp::create(b, loc, address, start);
  Value aligned = arith::AndIOp::create(b, loc, address, number(-4));
  Value before = arith::ShRUIOp::create(b, loc, arith::SubIOp::create(b, loc, address, aligned),
                                        number(2 - log));
  Value elements = arith::AddIOp::create(b, loc, arith::IndexCastOp::create(b, loc, longs, offsets),
                                         vector::BroadcastOp::create(b, loc, longs, before));
  Value word = arith::ShRSIOp::create(b, loc, elements, numbers(log));
  Value addresses = LLVM::GEPOp::create(b, loc, wide(pointer), b.getI32Type(),
                                        LLVM::IntToPtrOp::create(b, loc, pointer, aligned),
                                        ArrayRef<LLVM::GEPArg>{word});
  Value found = LLVM::masked_gather::create(b, loc, words, addresses, allLanes(),
                                            constantOf(b.getI32IntegerAttr(0), /*vector=*/true), 4);
  Value within = arith::TruncIOp::create(
      b, loc, words, arith::AndIOp::create(b, loc, elements, numbers((1 << log) - 1)));
  Value shift = arith::MulIOp::create(b, loc, within,
                                      constantOf(b.getI32IntegerAttr(8 * bytes), /*vector=*/true));
  Value result = arith::ShRUIOp::create(b, loc, found, shift);
  Type whole = b.getIntegerType(elementType.getIntOrFloatBitWidth());
  return fromBits(arith::TruncIOp::create(b, loc, wide(whole), result), elementType);
}

/// The instruction of AVX-512 that permutes such a vector; empty: there is none.
static StringRef permutationOf(VectorType type) {
  switch (type.getNumElements() * 100 + type.getElementTypeBitWidth()) {
  case 816:
    return "llvm.x86.avx512.permvar.hi.128";
  case 1616:
    return "llvm.x86.avx512.permvar.hi.256";
  case 3216:
    return "llvm.x86.avx512.permvar.hi.512";
  case 832:
    return "llvm.x86.avx2.permd";
  case 1632:
    return "llvm.x86.avx512.permvar.si.512";
  case 864:
    return "llvm.x86.avx512.permvar.di.512";
  }
  return {};
}

/// Elements of the `size` ones from `first` on, which one vector holds: null if it does not, or
/// cannot be permuted.
Lane LaneEmitter::permuted(Value base, Value first, Value places, int64_t size, Type elementType) {
  if (!hasPermutes || size > width || !elementType.isIntOrFloat())
    return {};
  auto whole = cast<VectorType>(wide(b.getIntegerType(elementType.getIntOrFloatBitWidth())));
  StringRef instruction = permutationOf(whole);
  if (instruction.empty())
    return {};
  Value old = mask;
  mask = size < width ? maskOfLanes(b, loc, width, 0, size) : Value();
  Value row = loadWide(base, first, elementType).value;
  mask = old;
  if (row.getType() != whole)
    row = arith::BitcastOp::create(b, loc, whole, row);
  places = arith::IndexCastOp::create(b, loc, whole, places);
  Value result =
      LLVM::CallIntrinsicOp::create(b, loc, whole, b.getStringAttr(instruction), {row, places})
          .getResult(0);
  return fromBits(result, elementType);
}

Lane LaneEmitter::gather(Value base, Value first, Value offsets, Type elementType) {
  auto type = cast<VectorType>(wide(elementType));
  Value row = views.flat(base);
  Value rest = harmlessLanes(elementType);
  if (hasSlowGathers)
    return loadLanes(base, first, offsets, elementType);
  if (hardwareGathers(elementType))
    return {vector::GatherOp::create(b, loc, type, row, first, offsets, allLanes(), rest),
            Lane::Vector};
  if (hasGathers && elementType.isIntOrFloat() && bytesOf(elementType) <= 2)
    return gatherFromWords(base, first, offsets, elementType);
  return loadLanes(base, first, offsets, elementType);
}

/// One element after another. A lane without an element reads the first one.
Lane LaneEmitter::loadLanes(Value base, Value first, Value offsets, Type elementType) {
  Value row = views.flat(base), rest = harmlessLanes(elementType), result = rest, word;
  // Two offsets of 32 bits leave a vector as one word of x86-64.
  auto narrow = offsets.getDefiningOp<arith::IndexCastOp>();
  bool isNarrow = hasSlowGathers && width % 2 == 0 && narrow &&
                  getElementTypeOrSelf(narrow.getIn().getType()).isInteger(32);
  if (isNarrow)
    offsets = narrow.getIn();
  if (mask) {
    TypedAttr zero = b.getIntegerAttr(getElementTypeOrSelf(offsets.getType()), 0);
    offsets = arith::SelectOp::create(b, loc, mask, offsets, constantOf(zero, true));
  }
  if (isNarrow)
    offsets =
        vector::BitCastOp::create(b, loc, VectorType::get({width / 2}, b.getI64Type()), offsets);
  auto offsetOf = [&](int64_t lane) -> Value {
    if (!isNarrow)
      return vector::ExtractOp::create(b, loc, offsets, lane);
    if (lane % 2 == 0)
      word = vector::ExtractOp::create(b, loc, offsets, lane / 2);
    Value half = word;
    if (lane % 2)
      half = arith::ShRUIOp::create(b, loc, word, constantOf(b.getI64IntegerAttr(32), false));
    half = arith::TruncIOp::create(b, loc, b.getI32Type(), half);
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), half);
  };
  for (int64_t lane = 0; lane < width; ++lane) {
    Value at = arith::AddIOp::create(b, loc, first, offsetOf(lane));
    Value element = memref::LoadOp::create(b, loc, row, at);
    result = vector::InsertOp::create(b, loc, element, result, lane);
  }
  if (mask)
    result = arith::SelectOp::create(b, loc, mask, result, rest);
  return {result, Lane::Vector};
}

void LaneEmitter::scatter(Value base, Value first, Value offsets, Value value) {
  Value row = views.flat(base);
  Type elementType = cast<VectorType>(value.getType()).getElementType();
  if (hardwareGathers(elementType) || mask) {
    vector::ScatterOp::create(b, loc, /*resultType=*/Type(), row, first, offsets, allLanes(),
                              value);
    return;
  }
  for (int64_t lane = 0; lane < width; ++lane) {
    Value offset = vector::ExtractOp::create(b, loc, offsets, lane);
    Value at = arith::AddIOp::create(b, loc, first, offset);
    memref::StoreOp::create(b, loc, vector::ExtractOp::create(b, loc, value, lane), row, at);
  }
}

/// Whether vector `u` starts a cache line, if the first vector does.
bool LaneEmitter::startsLine(Type elementType, int64_t u) const {
  constexpr int64_t kLineBytes = 64;
  return alongOf(u) * width * bytesOf(elementType) % kLineBytes == 0;
}

void LaneEmitter::fetchAhead(const Access &access, Value index) {
  Value next = arith::AddIOp::create(b, loc, index, constant(access.ahead));
  memref::PrefetchOp::create(b, loc, views.flat(access.base), next, /*isWrite=*/false,
                             /*localityHint=*/3, /*isDataCache=*/true);
}

/// The elements from `index` on downwards: a vector that ends there, reversed, and its mask, too.
Lane LaneEmitter::readBackwards(Value base, Value index, Type elementType) {
  auto reversed = [&](Value v) -> Value {
    SmallVector<int64_t> order;
    for (int64_t i = width; i-- > 0;)
      order.push_back(i);
    return vector::ShuffleOp::create(b, loc, v, v, order);
  };
  Value first = arith::SubIOp::create(b, loc, index, constant(width - 1)), old = mask;
  if (mask)
    mask = reversed(mask);
  Value all = loadWide(base, first, elementType).value;
  mask = old;
  return {reversed(all), Lane::Vector};
}

Lane LaneEmitter::read(unsigned id, int64_t u) {
  const Place &p = places[id];
  if (!p.access.base)
    return {p.access.scalar};
  bool uniform = !isWide() || p.access.isInvariant(vectorLoop);
  auto key = keyOf(id, u);
  if (auto it = point.find(key); it != point.end())
    return it->second;
  if (auto it = loaded.find(key); it != loaded.end())
    return it->second;
  Lane value = [&]() -> Lane {
    Value index = elementIndex(p, u);
    if (uniform)
      return {memref::LoadOp::create(b, loc, views.flat(p.access.base), index)};
    const Extent &stride = p.access.strides[vectorLoop];
    if (stride.is(1)) {
      if (p.access.ahead && startsLine(p.access.elementType, u))
        fetchAhead(p.access, index);
      return loadWide(p.access.base, index, p.access.elementType);
    }
    if (stride.is(-1))
      return readBackwards(p.access.base, index, p.access.elementType);
    if (isInSteps(stride) && (!mask || hasPermutes))
      return inSteps(p.access.base, index, stride.constant, p.access.elementType);
    return gather(p.access.base, index, stridedOffsets(stride), p.access.elementType);
  }();
  point[key] = value;
  return value;
}

void LaneEmitter::write(unsigned id, int64_t u, Lane value) {
  Place &p = places[id];
  bool invariant = vectorLoop >= 0 && p.access.isInvariant(vectorLoop);
  if (p.written)
    point[keyOf(id, u)] = value;
  if (p.isDead)
    return;
  if (auto kept = held.find(id); kept != held.end()) {
    kept->second.push_back(vectorOf(value));
    return;
  }
  Value index = elementIndex(p, u);
  if (!isWide() || invariant) {
    memref::StoreOp::create(b, loc, value.value, views.flat(p.access.base), index);
    return;
  }
  Value all = vectorOf(value);
  const Extent &stride = p.access.strides[vectorLoop];
  if (!stride.is(1))
    return scatter(p.access.base, index, stridedOffsets(stride), all);
  Value row = views.flat(p.access.base);
  if (mask)
    vector::MaskedStoreOp::create(b, loc, row, index, mask, all);
  else
    vector::StoreOp::create(b, loc, all, row, index);
}

//===- bodies --------------------------------------------------------------===//

SmallVector<Lane> LaneEmitter::evaluate(Stage &stage, int64_t u, ArrayRef<Value> old) {
  llvm::DenseMap<Value, Lane> values;
  Block *block = stage.op.getBlock();
  for (unsigned i = 0; i < block->getNumArguments(); ++i) {
    BlockArgument argument = block->getArgument(i);
    if (argument.use_empty())
      continue;
    unsigned output = i - stage.numInputs();
    if (i >= stage.numInputs() && old[output])
      values[argument] = {old[output], isWide() ? Lane::Vector : Lane::Uniform};
    else if (i >= stage.numInputs() && stage.inits[output])
      values[argument] = {stage.inits[output]};
    else
      values[argument] = read(placeOf(stage, i), u);
  }
  if (!stage.vectorizable) {
    IRMapping map;
    for (auto &[from, to] : values)
      map.map(from, to.value);
    for (Operation &op : block->without_terminator()) {
      Operation *copy = nullptr;
      if (auto index = dyn_cast<linalg::IndexOp>(op)) {
        int loop = stage.loopOf[index.getDim()];
        map.map(index.getResult(), loop < 0 ? constant(0) : ivs[loop]);
        continue;
      }
      copy = b.clone(op, map);
      copy->walk([&](linalg::IndexOp index) {
        int loop = stage.loopOf[index.getDim()];
        index.replaceAllUsesWith(loop < 0 ? constant(0) : ivs[loop]);
        index.erase();
      });
    }
    SmallVector<Lane> results;
    for (Value v : block->getTerminator()->getOperands())
      results.push_back({map.lookupOrDefault(v)});
    return results;
  }
  // What accumulates f16 as f32 arrives wide, and leaves wide.
  SmallVector<Value> yielded(block->getTerminator()->getOperands());
  SmallPtrSet<Operation *, 4> skipped;
  for (auto [i, c] : llvm::enumerate(stage.combiners))
    if (c.widen && old[i]) {
      values[c.widen->getResult(0)] = {old[i], isWide() ? Lane::Vector : Lane::Uniform};
      yielded[i] = c.narrow->getOperand(0);
      skipped.insert(c.widen);
      skipped.insert(c.narrow);
    }
  for (Operation &op : block->without_terminator())
    if (!skipped.contains(&op))
      values[op.getResult(0)] = evaluate(op, stage, u, values);
  SmallVector<Lane> results;
  for (Value v : yielded) {
    auto it = values.find(v);
    results.push_back(it == values.end() ? Lane{v} : it->second);
  }
  return results;
}

SmallVector<Lane> LaneEmitter::evaluateSome(Stage &stage, int64_t u, ValueRange wanted,
                                            llvm::DenseMap<Value, Lane> &values) {
  Block *block = stage.op.getBlock();
  SmallPtrSet<Operation *, 8> needed;
  SmallVector<Value> work(wanted);
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (values.contains(value))
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value); argument && argument.getOwner() == block)
      values[value] = read(placeOf(stage, argument.getArgNumber()), u);
    else if (Operation *op = value.getDefiningOp();
             op && op->getBlock() == block && needed.insert(op).second)
      llvm::append_range(work, op->getOperands());
  }
  for (Operation &op : block->without_terminator())
    if (needed.contains(&op))
      values[op.getResult(0)] = evaluate(op, stage, u, values);
  return llvm::map_to_vector(wanted, [&](Value v) {
    auto it = values.find(v);
    return it == values.end() ? Lane{v} : it->second;
  });
}

Lane LaneEmitter::evaluate(Operation &op, Stage &stage, int64_t u,
                           llvm::DenseMap<Value, Lane> &values) {
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    int loop = stage.loopOf[index.getDim()];
    if (loop < 0)
      return {constant(0)};
    int64_t steps = loop == vectorLoop ? alongOf(u) * width : loop == rowLoop ? rowOf(u) : 0;
    Value at = steps ? arith::AddIOp::create(b, loc, ivs[loop], constant(steps)) : ivs[loop];
    return {at, loop == vectorLoop && isWide() ? Lane::Iota : Lane::Uniform};
  }
  SmallVector<Lane> operands;
  for (Value v : op.getOperands()) {
    auto it = values.find(v);
    operands.push_back(it == values.end() ? Lane{v} : it->second);
  }
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return readByIndex(load, ArrayRef(operands).drop_front());

  auto cloneWith = [&](ValueRange inputs, bool vector) {
    OperationState state(op.getLoc(), op.getName());
    state.addOperands(inputs);
    for (Type t : op.getResultTypes())
      state.addTypes(vector ? wide(t) : t);
    state.addAttributes(op.getAttrs());
    return b.create(state)->getResult(0);
  };
  auto scalars = [&] {
    return llvm::map_to_vector(operands, [](const Lane &l) { return l.value; });
  };
  if (llvm::all_of(operands, [](const Lane &l) { return l.kind == Lane::Uniform; }))
    return {cloneWith(scalars(), false)};
  if (operands[0].kind == Lane::Iota) {
    bool shifts = isa<arith::AddIOp, arith::SubIOp>(op) && operands[1].kind == Lane::Uniform;
    if (shifts || isa<arith::IndexCastOp>(op))
      return {cloneWith(scalars(), false), Lane::Iota};
  }
  SmallVector<Value> vectors;
  for (const Lane &lane : operands)
    vectors.push_back(vectorOf(lane));
  return {cloneWith(vectors, true), Lane::Vector};
}

Lane LaneEmitter::readByIndex(memref::LoadOp load, ArrayRef<Lane> indices) {
  StridedView view = views.of(load.getMemRef());
  Offset first = view.offset;
  Value offsets; // per lane, beyond `first`
  bool contiguous = true, uniform = true;
  int64_t row = 0; // the elements in a row that hold those of all lanes; 0: there is none
  for (auto [index, stride, size] : llvm::zip(indices, view.strides, view.sizes)) {
    if (index.kind != Lane::Vector) {
      first.add(index.value, stride);
      if (index.kind == Lane::Uniform)
        continue;
    }
    uniform = false;
    bool isRow = index.kind == Lane::Vector && stride.is(1) && size.isConstant() && !offsets;
    row = isRow ? size.constant : 0;
    contiguous &= index.kind == Lane::Iota && stride.is(1) && !offsets;
    Value lanes = index.kind == Lane::Iota ? laneNumbers(b.getIndexType()) : index.value;
    if (!stride.is(1)) {
      Value step =
          vector::BroadcastOp::create(b, loc, wide(b.getIndexType()), stride.materialize(b, loc));
      lanes = arith::MulIOp::create(b, loc, lanes, step);
    }
    offsets = offsets ? arith::AddIOp::create(b, loc, offsets, lanes).getResult() : lanes;
  }
  Value at = first.materialize(b, loc);
  Type elementType = load.getMemRefType().getElementType();
  if (uniform)
    return {memref::LoadOp::create(b, loc, views.flat(view.base), at)};
  if (contiguous)
    return loadWide(view.base, at, elementType);
  if (row)
    if (Lane found = permuted(view.base, at, offsets, row, elementType); found.value)
      return found;
  return gather(view.base, at, offsets, elementType);
}
