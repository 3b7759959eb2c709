#include "CPU/Lanes.h"
#include "CPU/LoopChoices.h"
#include "CPU/MemRefPointers.h"
#include "CPU/Processor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
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
