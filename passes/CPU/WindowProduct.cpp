// Convolutions, and products of small matrices, as loops over tiles of the result. All sums of a
// tile stay in registers while the loops over the kernel run. An element that is read serves a row
// or a column of the tile, so the processor multiplies more often than it reads. Windows are read
// where they are: nothing is packed.
#include "CPU/WindowProduct.h"
#include "CPU/Lanes.h"
#include "CPU/ProductTiles.h"
#include "Estimates.h"
#include "Machine.h"
#include "Schedule/Grain.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace xtensor;
using namespace xtensor::cpu;

namespace {

/// Multiplications that one step of the innermost loop is written out to.
constexpr int64_t kMostUnrolled = 160;
/// Longer sums are cut along their outer loops: into parts that caches hold, and that round less.
constexpr int64_t kMostTerms = 4096, kLeastTerms = 1024;
/// Iterations that threads share evenly enough, and multiplications that a chunk of them holds.
constexpr int64_t kShares = 16, kTileChunk = 1 << 16;
/// Multiplications of a part that are worth that threads wait for each other at its end.
constexpr int64_t kSharedPart = 1 << 22;

class WindowProductEmitter {
public:
  WindowProductEmitter(OpBuilder &b, Kernel &kernel, Views &views, RegisterTile tile, bool cut)
      : b(b), kernel(kernel), stage(kernel.stages.front()), views(views), tile(std::move(tile)),
        isCut(cut), loc(stage.op.getLoc()), element(stage.output(0).elementType),
        reducesLanes(stage.reduced[this->tile.vectorLoop]) {}

  void emit();

private:
  using Values = SmallVector<Value>;
  using Body = llvm::function_ref<void()>;
  using Step = llvm::function_ref<Values(ValueRange)>;

  Value constant(int64_t v) { return arith::ConstantIndexOp::create(b, loc, v); }
  Value bound(unsigned loop) { return kernel.ranges[loop].materialize(b, loc); }
  Amount rangeOf(unsigned loop) const;
  void enter(unsigned loop, Value at);
  void sortLoops();
  bool canUnroll(unsigned loop) const;
  void over(ArrayRef<unsigned> loops, Body body);
  void shareLoops(Body body);
  std::optional<Side> sideToShare() const;
  void shareTiles(const Side &side, Value from);
  void outerSums(ArrayRef<unsigned> loops, Value isFirst, Body body);
  void eachBlock(unsigned loop, int64_t size, llvm::function_ref<void()> body);
  void vectorBlocks();
  void sideBlocks(unsigned side, ArrayRef<int64_t> offsets, int64_t fresh);
  void sums(ArrayRef<int64_t> offsets, int64_t fresh);
  Values reducedLoops(ArrayRef<unsigned> loops, ValueRange carried, Step innermost);
  Values lanesOfSums(ValueRange carried);
  Values steps(ValueRange carried, ArrayRef<int64_t> offsets, Value mask, Value select);
  void finish(ValueRange ends, ArrayRef<int64_t> offsets, int64_t fresh);
  Value laneMask(int64_t from, int64_t to);
  Value read(unsigned operand, Value index, bool isVector, Value mask, Value select);
  /// Calls `f` with the steps of every place of the tile along its sides.
  void eachPlace(llvm::function_ref<void(ArrayRef<int64_t>)> f);
  Value at(unsigned operand, int64_t offset) {
    return arith::AddIOp::create(b, loc, linear[operand], constant(offset));
  }
  int64_t along(unsigned operand, ArrayRef<int64_t> place) const;
  /// From lane to lane of a vector.
  int64_t laneStep(unsigned operand) const {
    return stage.operands[operand].strides[tile.vectorLoop].constant;
  }
  VectorType vectorType() const { return VectorType::get({tile.width}, element); }
  Value zeros() { return arith::ConstantOp::create(b, loc, b.getZeroAttr(vectorType())); }

  OpBuilder &b;
  Kernel &kernel;
  Stage &stage;
  Views &views;
  RegisterTile tile;
  bool isCut;
  Location loc;
  Type element;
  bool reducesLanes;
  SmallVector<Value, 3> linear; // of each operand: the index of its element
  SmallVector<unsigned> outer, outerReduced, reduced, unrolled;
  std::optional<unsigned> sharedLoop; // whose tiles threads share
  Value sharedFrom, sharedTo;         // the iterations of this loop in a thread's tiles
  Value first; // whether nothing was added to the result yet; null: nothing ever was
};

} // namespace

/// How many of the outer loops of a sum, `reduced`, are outside of its parts.
static int64_t cutLoops(const Kernel &kernel, ArrayRef<unsigned> reduced) {
  auto termsOf = [&](ArrayRef<unsigned> loops) {
    Amount terms = 1;
    for (unsigned loop : loops)
      terms *= kernel.ranges[loop].isConstant() ? kernel.ranges[loop].constant : kOpenSteps;
    return terms;
  };
  int64_t count = 0;
  const Stage &stage = kernel.stages.front();
  Amount room = cachesFor(stage.op).level2;
  auto reach = [&](ArrayRef<unsigned> outer) {
    return reachOf(stage.operands[0], kernel, outer) + reachOf(stage.operands[1], kernel, outer);
  };
  while (count + 1 < static_cast<int64_t>(reduced.size()) &&
         (termsOf(reduced.drop_front(count)) > kMostTerms ||
          reach(reduced.take_front(count)) > room) &&
         termsOf(reduced.drop_front(count + 1)) >= kLeastTerms)
    ++count;
  return count;
}

//===- loops ---------------------------------------------------------------===//

Amount WindowProductEmitter::rangeOf(unsigned loop) const {
  const Extent &range = kernel.ranges[loop];
  return range.isConstant() ? range.constant : kOpenSteps;
}

void WindowProductEmitter::enter(unsigned loop, Value at) {
  for (auto [access, index] : llvm::zip_equal(stage.operands, linear))
    if (!access.isInvariant(loop)) {
      Value step = arith::MulIOp::create(b, loc, at, access.strides[loop].materialize(b, loc));
      index = arith::AddIOp::create(b, loc, index, step);
    }
}

void WindowProductEmitter::sortLoops() {
  auto isTiled = [&](unsigned loop) {
    return static_cast<int>(loop) == tile.vectorLoop ||
           llvm::any_of(tile.sides, [&](const Side &side) { return side.loop == loop; });
  };
  for (unsigned loop = 0; loop < kernel.ranges.size(); ++loop)
    if (!isTiled(loop))
      (stage.reduced[loop] ? reduced : outer).push_back(loop);
  if (isCut) {
    int64_t count = cutLoops(kernel, reduced);
    outerReduced.assign(reduced.begin(), reduced.begin() + count);
    reduced.erase(reduced.begin(), reduced.begin() + count);
  }
  // Vectors along a sum are a loop inside of the others.
  for (int64_t steps = tile.sums(); !reducesLanes && !reduced.empty();) {
    unsigned loop = reduced.back();
    if (!kernel.ranges[loop].isConstant() ||
        (steps *= kernel.ranges[loop].constant) > kMostUnrolled || !canUnroll(loop))
      break;
    unrolled.insert(unrolled.begin(), loop);
    reduced.pop_back();
  }
}

/// Whether steps of `loop` can be written out. If a step reads what another place of the tile read
/// a step before, it stays in a register, of which there are too few beside the sums. Only where
/// each element serves one sum, this saves more than it costs.
bool WindowProductEmitter::canUnroll(unsigned loop) const {
  if (!llvm::all_of(stage.operands, [&](const Access &a) { return a.strides[loop].isConstant(); }))
    return false;
  ArrayRef<Access> factors = ArrayRef(stage.operands).take_front(2);
  auto passes = [&](const Access &access) {
    return !access.isInvariant(tile.vectorLoop) && llvm::none_of(tile.sides, [&](const Side &side) {
      return access.isInvariant(side.loop);
    });
  };
  if (llvm::any_of(factors, passes))
    return true;
  return llvm::none_of(factors, [&](const Access &access) {
    return llvm::any_of(tile.sides, [&](const Side &side) {
      int64_t step = access.strides[loop].constant, across = access.strides[side.loop].constant;
      return !access.isInvariant(loop) && !access.isInvariant(side.loop) && step % across == 0 &&
             std::abs(step / across) < side.count;
    });
  });
}

/// `body` in loops over all steps of `loops`.
void WindowProductEmitter::over(ArrayRef<unsigned> loops, Body body) {
  if (loops.empty())
    return body();
  auto op = scf::ForOp::create(b, loc, constant(0), bound(loops[0]), constant(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBody());
  SmallVector<Value, 3> before = linear;
  enter(loops[0], op.getInductionVar());
  over(loops.drop_front(), body);
  linear = before;
}

void WindowProductEmitter::emit() {
  OpBuilder::InsertionGuard guard(b);
  for (const Access &access : stage.operands) {
    if (access.base) // else the operand only gives a size
      views.flat(access.base);
    linear.push_back(access.offset.materialize(b, loc));
  }
  sortLoops();
  Amount part = 1;
  for (unsigned loop = 0; loop < kernel.ranges.size(); ++loop)
    if (!llvm::is_contained(outerReduced, loop))
      part *= rangeOf(loop);
  // Threads share each long part, so that it stays in the caches until all have summed it.
  if (part > kSharedPart)
    outerSums(outerReduced, {}, [&] { shareLoops([&] { vectorBlocks(); }); });
  else
    shareLoops([&] { outerSums(outerReduced, {}, [&] { vectorBlocks(); }); });
}

/// `body` for the loops whose iterations threads share.
void WindowProductEmitter::shareLoops(Body body) {
  SmallVector<unsigned> shared, rest;
  SmallVector<OpFoldResult> from, to, by;
  Amount shares = 1, work = tile.sums() * (reducesLanes ? 1 : tile.width);
  auto share = [&](unsigned loop, int64_t step) {
    shared.push_back(loop);
    from.push_back(b.getIndexAttr(0));
    const Extent &range = kernel.ranges[loop];
    if (range.isConstant())
      to.push_back(b.getIndexAttr(range.constant / step * step));
    else
      to.push_back(range.materialize(b, loc));
    by.push_back(b.getIndexAttr(step));
    shares *= rangeOf(loop) / step;
  };
  bool isParallel = !stage.op->getParentOfType<scf::ForallOp>();
  for (unsigned loop : outer) {
    if (isParallel && shares < kShares && rest.empty())
      share(loop, 1);
    else
      rest.push_back(loop);
  }
  std::optional<Side> side;
  if (isParallel && rest.empty() && shares < kShares && (side = sideToShare()))
    share(side->loop, side->count);
  for (unsigned loop = 0; loop < kernel.ranges.size(); ++loop)
    work *= rangeOf(loop);
  work /= shares;
  OpBuilder::InsertionGuard guard(b);
  if (!shared.empty()) {
    auto forall = scf::ForallOp::create(b, loc, from, to, by, ValueRange(), std::nullopt);
    int64_t grain = std::max<int64_t>(1, (Amount(kTileChunk) / work).count());
    forall->setAttr(kGrainAttribute, b.getI64IntegerAttr(grain));
    b.setInsertionPointToStart(forall.getBody());
    for (auto [loop, iv] : llvm::zip_equal(shared, forall.getInductionVars())) {
      if (side && loop == side->loop)
        shareTiles(*side, iv);
      else
        enter(loop, iv);
    }
  }
  outer = rest;
  body();
}

/// The side of the tile of which the result has most tiles, or its vectors as a side; none if it
/// has one tile.
std::optional<Side> WindowProductEmitter::sideToShare() const {
  SmallVector<Side, 3> sides(tile.sides.begin(), tile.sides.end());
  if (!reducesLanes)
    sides.push_back({static_cast<unsigned>(tile.vectorLoop), tile.vectors * tile.width});
  auto tiles = [&](const Side &side) { return kernel.ranges[side.loop].constant / side.count; };
  auto most =
      llvm::max_element(sides, [&](const Side &a, const Side &b) { return tiles(a) < tiles(b); });
  return most == sides.end() || tiles(*most) < 2 ? std::nullopt : std::optional(*most);
}

/// The tiles of one iteration of a shared loop along `side`, which is at `from`. A last tile that
/// overlaps with the one before it belongs to the same iteration.
void WindowProductEmitter::shareTiles(const Side &side, Value from) {
  int64_t range = kernel.ranges[side.loop].constant, whole = range / side.count * side.count;
  sharedLoop = side.loop;
  sharedFrom = from;
  sharedTo = arith::AddIOp::create(b, loc, from, constant(side.count));
  if (whole == range)
    return;
  auto equal = arith::CmpIPredicate::eq;
  Value isLast = arith::CmpIOp::create(b, loc, equal, sharedTo, constant(whole));
  sharedTo = arith::SelectOp::create(b, loc, isLast, constant(range), sharedTo);
}

/// The parts of sums that are cut, one after another.
void WindowProductEmitter::outerSums(ArrayRef<unsigned> loops, Value isFirst, Body body) {
  if (loops.empty()) {
    first = isFirst;
    return body();
  }
  auto op = scf::ForOp::create(b, loc, constant(0), bound(loops[0]), constant(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBody());
  SmallVector<Value, 3> before = linear;
  Value iv = op.getInductionVar();
  enter(loops[0], iv);
  Value starts = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, iv, constant(0));
  if (isFirst)
    starts = arith::AndIOp::create(b, loc, isFirst, starts);
  outerSums(loops.drop_front(), starts, body);
  linear = before;
}

/// The body for each `size` iterations of a loop. The last block ends where the loop ends, and may
/// repeat iterations of the one before it.
void WindowProductEmitter::eachBlock(unsigned loop, int64_t size, llvm::function_ref<void()> body) {
  int64_t range = kernel.ranges[loop].constant;
  bool isShared = sharedLoop == loop;
  Value from = isShared ? sharedFrom : constant(0), to = isShared ? sharedTo : constant(range);
  auto op = scf::ForOp::create(b, loc, from, to, constant(size));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBody());
  SmallVector<Value, 3> before = linear;
  Value at = op.getInductionVar();
  if (range % size)
    at = arith::MinSIOp::create(b, loc, at, constant(range - size));
  enter(loop, at);
  body();
  linear = before;
}

/// The vectors of a tile start at `offsets` along their loop. Of the last vector, lanes before
/// `fresh` belong to the one before it.
void WindowProductEmitter::vectorBlocks() {
  auto inside = [&](ArrayRef<int64_t> offsets, int64_t fresh) {
    over(outer, [&] { sideBlocks(0, offsets, fresh); });
  };
  if (reducesLanes)
    return inside({}, 0);
  int64_t range = kernel.ranges[tile.vectorLoop].constant, width = tile.width;
  int64_t all = llvm::divideCeil(range, width);
  SmallVector<int64_t> offsets;
  for (int64_t v = 0; v < tile.vectors; ++v)
    offsets.push_back(v * width);
  if (tile.vectors == all) {
    int64_t last = std::max<int64_t>(0, range - width), fresh = offsets.back() - last;
    offsets.back() = last;
    return inside(offsets, range < width ? 0 : fresh);
  }
  eachBlock(tile.vectorLoop, tile.vectors * width, [&] { inside(offsets, 0); });
}

void WindowProductEmitter::sideBlocks(unsigned side, ArrayRef<int64_t> offsets, int64_t fresh) {
  if (side == tile.sides.size())
    return sums(offsets, fresh);
  auto [loop, count] = tile.sides[side];
  int64_t range = kernel.ranges[loop].constant;
  if (count == range)
    return sideBlocks(side + 1, offsets, fresh);
  eachBlock(loop, count, [&] { sideBlocks(side + 1, offsets, fresh); });
}

//===- sums ----------------------------------------------------------------===//

void WindowProductEmitter::eachPlace(llvm::function_ref<void(ArrayRef<int64_t>)> f) {
  SmallVector<int64_t, 2> place(tile.sides.size(), 0);
  while (true) {
    f(place);
    int side = place.size() - 1;
    while (side >= 0 && ++place[side] == tile.sides[side].count)
      place[side--] = 0;
    if (side < 0)
      return;
  }
}

int64_t WindowProductEmitter::along(unsigned operand, ArrayRef<int64_t> place) const {
  int64_t offset = 0;
  for (auto [side, step] : llvm::zip_equal(tile.sides, place))
    if (const Access &access = stage.operands[operand]; !access.isInvariant(side.loop))
      offset += access.strides[side.loop].constant * step;
  return offset;
}

Value WindowProductEmitter::laneMask(int64_t from, int64_t to) {
  return maskOfLanes(b, loc, tile.width, from, to);
}

/// The element or vector at `index`, as a vector; zeros where `mask` or `select` is off.
Value WindowProductEmitter::read(unsigned operand, Value index, bool isVector, Value mask,
                                 Value select) {
  Value row = views.flat(stage.operands[operand].base);
  if (int64_t step = laneStep(operand); isVector && step != 1) {
    Values lanes(tile.width);
    Value zero;
    for (auto [lane, value] : llvm::enumerate(lanes)) {
      if (static_cast<int64_t>(lane) < kernel.ranges[tile.vectorLoop].constant)
        value = memref::LoadOp::create(
            b, loc, row, arith::AddIOp::create(b, loc, index, constant(lane * step)).getResult());
      else
        value = zero ? zero
                     : zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(element)).getResult();
    }
    return vector::FromElementsOp::create(b, loc, vectorType(), lanes);
  }
  if (!isVector) {
    Value number = memref::LoadOp::create(b, loc, row, index);
    return vector::BroadcastOp::create(b, loc, vectorType(), number);
  }
  if (mask)
    return vector::MaskedLoadOp::create(b, loc, vectorType(), row, index, mask, zeros());
  Value value = vector::LoadOp::create(b, loc, vectorType(), row, index);
  return select ? arith::SelectOp::create(b, loc, select, value, zeros()).getResult() : value;
}

/// One step of the loops that are not written out; takes and returns the sums.
WindowProductEmitter::Values WindowProductEmitter::steps(ValueRange carried,
                                                         ArrayRef<int64_t> offsets, Value mask,
                                                         Value select) {
  Values sums(carried);
  llvm::DenseMap<std::pair<unsigned, int64_t>, Value> known;
  SmallVector<int64_t> step(unrolled.size(), 0);
  auto contract = arith::FastMathFlags::contract;
  while (true) {
    int64_t written[2] = {0, 0};
    for (unsigned operand : {0, 1})
      for (auto [loop, at] : llvm::zip_equal(unrolled, step))
        if (const Access &access = stage.operands[operand]; !access.isInvariant(loop))
          written[operand] += access.strides[loop].constant * at;
    unsigned sum = 0;
    eachPlace([&](ArrayRef<int64_t> place) {
      for (int64_t offset : offsets) {
        Value factors[2];
        for (unsigned operand : {0, 1}) {
          bool isVector = !stage.operands[operand].isInvariant(tile.vectorLoop);
          int64_t from = written[operand] + along(operand, place) +
                         (isVector ? offset * laneStep(operand) : 0);
          Value &value = known[{operand, from}];
          if (!value)
            value = read(operand, at(operand, from), isVector, mask, select);
          factors[operand] = value;
        }
        Value product = arith::MulFOp::create(b, loc, factors[0], factors[1], contract);
        sums[sum] = arith::AddFOp::create(b, loc, sums[sum], product, contract);
        ++sum;
      }
    });
    int loop = unrolled.size() - 1;
    while (loop >= 0 && ++step[loop] == kernel.ranges[unrolled[loop]].constant)
      step[loop--] = 0;
    if (loop < 0)
      return sums;
  }
}

WindowProductEmitter::Values
WindowProductEmitter::reducedLoops(ArrayRef<unsigned> loops, ValueRange carried, Step innermost) {
  if (loops.empty())
    return innermost(carried);
  auto op = scf::ForOp::create(b, loc, constant(0), bound(loops[0]), constant(1), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBody());
  SmallVector<Value, 3> before = linear;
  enter(loops[0], op.getInductionVar());
  Values next = reducedLoops(loops.drop_front(), op.getRegionIterArgs(), innermost);
  scf::YieldOp::create(b, loc, next);
  linear = before;
  return Values(op.getResults());
}

/// The vectors of a sum whose lanes are added at the end.
WindowProductEmitter::Values WindowProductEmitter::lanesOfSums(ValueRange carried) {
  int64_t range = kernel.ranges[tile.vectorLoop].constant, width = tile.width;
  if (range < width)
    return steps(carried, {0}, laneMask(0, range), {});
  Values sums(carried);
  SmallVector<Value, 3> before = linear;
  int64_t whole = range / width * width;
  {
    auto op = scf::ForOp::create(b, loc, constant(0), constant(whole), constant(width), carried);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(op.getBody());
    enter(tile.vectorLoop, op.getInductionVar());
    scf::YieldOp::create(b, loc, steps(op.getRegionIterArgs(), {0}, {}, {}));
    sums = Values(op.getResults());
  }
  linear = before;
  if (whole == range)
    return sums;
  enter(tile.vectorLoop, constant(range - width));
  sums = steps(sums, {0}, {}, laneMask(width - (range - whole), width));
  linear = before;
  return sums;
}

void WindowProductEmitter::sums(ArrayRef<int64_t> offsets, int64_t fresh) {
  int64_t range = kernel.ranges[tile.vectorLoop].constant;
  Value mask = !reducesLanes && range < tile.width ? laneMask(0, range) : Value();
  Value init = stage.inits[0], start = zeros();
  if (init && !isCut && !reducesLanes)
    start = vector::BroadcastOp::create(b, loc, vectorType(), init);
  Values ends = reducedLoops(reduced, Values(tile.sums(), start), [&](ValueRange in) {
    return reducesLanes ? lanesOfSums(in) : steps(in, offsets, mask, {});
  });
  finish(ends, offsets, fresh);
}

/// Adds the sums to what the result holds, and writes them.
void WindowProductEmitter::finish(ValueRange ends, ArrayRef<int64_t> offsets, int64_t fresh) {
  const unsigned kOut = stage.numInputs();
  Value row = views.flat(stage.operands[kOut].base), init = stage.inits[0];
  int64_t range = kernel.ranges[tile.vectorLoop].constant;
  Value mask = !reducesLanes && range < tile.width ? laneMask(0, range) : Value();
  Type type = reducesLanes ? element : Type(vectorType());
  Value start = init;
  if (init && !reducesLanes)
    start = vector::BroadcastOp::create(b, loc, type, init);
  bool readsOld = isCut || !init;
  unsigned sum = 0;
  eachPlace([&](ArrayRef<int64_t> place) {
    for (int64_t v = 0; v < tile.vectors; ++v) {
      Value end = ends[sum++], old;
      Value index = at(kOut, along(kOut, place) + (reducesLanes ? 0 : offsets[v]));
      if (reducesLanes)
        end = vector::ReductionOp::create(b, loc, vector::CombiningKind::ADD, end,
                                          arith::FastMathFlags::reassoc);
      if (readsOld && reducesLanes)
        old = memref::LoadOp::create(b, loc, row, index);
      else if (readsOld)
        old = read(kOut, index, true, mask, {});
      Value before = old;
      if (start && first)
        before = arith::SelectOp::create(b, loc, first, start, old);
      else if (start && reducesLanes)
        before = start;
      if (before)
        end = arith::AddFOp::create(b, loc, before, end);
      if (reducesLanes) {
        memref::StoreOp::create(b, loc, end, row, index);
        continue;
      }
      if (readsOld && fresh && v + 1 == tile.vectors)
        end = arith::SelectOp::create(b, loc, laneMask(fresh, tile.width), end, old);
      if (mask)
        vector::MaskedStoreOp::create(b, loc, row, index, mask, end);
      else
        vector::StoreOp::create(b, loc, end, row, index);
    }
  });
}

//===- kernels -------------------------------------------------------------===//

bool xtensor::cpu::emitWindowProduct(OpBuilder &b, Kernel &kernel, Views &views,
                                     VectorTarget target) {
  if (!isTiledProduct(kernel))
    return false;
  SmallVector<unsigned> reduced;
  for (unsigned loop = 0; loop < kernel.ranges.size(); ++loop)
    if (kernel.stages.front().reduced[loop])
      reduced.push_back(loop);
  bool isCut = cutLoops(kernel, reduced) > 0, isKept = !kernel.stages.front().inits[0];
  auto tile = tileFor(kernel, target.bits, /*whole=*/isCut || isKept);
  if (!tile && !isKept) {
    isCut = false;
    tile = tileFor(kernel, target.bits, /*whole=*/false);
  }
  if (!tile)
    return false;
  WindowProductEmitter(b, kernel, views, *tile, isCut).emit();
  return true;
}
