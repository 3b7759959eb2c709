// Loops over tiles (see LoopChoices.h).
#include "CPU/LoopNest.h"
#include "Machine.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <numeric>

using namespace mlir;
using namespace xtensor::cpu;

/// Steps of a block of squares, across and along their lanes: of both, all of a cache line is used
/// while it is in cache.
static constexpr int64_t kBlockAcross = 64, kBlockAlong = 256;

void LoopEmitter::squares() {
  Bound end = rangeOf(tile.across), whole = wholeSteps({}, end, width);
  inBlocks(whole, kBlockAcross, [&](Bound from, Bound to) { squareBlock(from, to, width); });
  if (isEmpty(whole, end))
    return;
  if (!end.value && masksRest(end))
    return squareBlock(whole, end, end.constant - whole.constant);
  loop(tile.across, whole, end, 1, {}, [&](ValueRange) {
    parallelInnermost();
    return Values();
  });
}

/// Calls `body` for each `size` of the steps to `whole`.
void LoopEmitter::inBlocks(Bound whole, int64_t size, llvm::function_ref<void(Bound, Bound)> body) {
  if (!whole.value && whole.constant <= size) {
    if (!isEmpty({}, whole))
      body({}, whole);
    return;
  }
  auto blocks = scf::ForOp::create(b, loc, valueOf({}), valueOf(whole), lanes.constant(size));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(blocks.getBody());
  Value from = blocks.getInductionVar();
  Value to = arith::AddIOp::create(b, loc, from, lanes.constant(size));
  body({0, from}, {0, arith::MinSIOp::create(b, loc, to, valueOf(whole))});
}

/// All lanes, for the steps between `from` and `to` across.
void LoopEmitter::squareBlock(Bound from, Bound to, int64_t steps) {
  Bound end = rangeOf(vectorLoop), whole = wholeSteps({}, end, width);
  auto across = [&](llvm::function_ref<void()> body) {
    loop(tile.across, from, to, steps, {}, [&](ValueRange) {
      body();
      return Values();
    });
  };
  auto along = [&](Bound from, Bound to, llvm::function_ref<void()> body) {
    loop(vectorLoop, from, to, width, {}, [&](ValueRange) {
      body();
      return Values();
    });
  };
  auto oneSquare = [&] { square(width, steps); };
  if (runsAcross())
    along({}, whole, [&] { across(oneSquare); });
  else
    inBlocks(whole, kBlockAlong,
             [&](Bound from, Bound to) { across([&] { along(from, to, oneSquare); }); });
  if (isEmpty(whole, end))
    return;
  if (!end.value && masksRest(end)) {
    along(whole, end, [&] {
      lanes.mask = maskFor(end, lanes.ivOf(vectorLoop));
      across([&] { square(end.constant - whole.constant, steps); });
      lanes.mask = {};
    });
    return;
  }
  loop(tile.across, from, to, 1, {}, [&](ValueRange) {
    parallelRest(whole, end);
    return Values();
  });
}

/// The largest power of two that divides the distance of rows in bytes, up to kWayBytes. A distance
/// that is not known counts as odd.
static int64_t sharedPlaces(const Extent &stride, Type elementType) {
  int64_t bytes = stride.constant * llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
  return stride.isConstant() ? std::gcd(bytes, kWayBytes) : 1;
}

/// Whether the next square is the one across, whose elements follow those that were read. Otherwise
/// it is the next one along the lanes, whose elements follow those that were written. If the rows
/// of a square share their places in the cache, lines may leave it before the rest of them is used.
/// The next square uses the rest of what is in greater danger. Writes suffer more than reads.
bool LoopEmitter::runsAcross() {
  int64_t read = 1, written = 1;
  for (unsigned id = 0; id < lanes.numPlaces(); ++id) {
    const Place &place = lanes.place(id);
    const Access &access = place.access;
    if (place.written && !access.isInvariant(tile.across))
      written = std::max(written, sharedPlaces(access.strides[tile.across], access.elementType));
    else if (!place.written && isTransposed(access, vectorLoop, tile.across))
      read = std::max(read, sharedPlaces(access.strides[vectorLoop], access.elementType));
  }
  return 4 * written <= read;
}

void LoopEmitter::square(int64_t rows, int64_t steps) {
  llvm::MapVector<unsigned, Values> read;
  for (unsigned id = 0; id < lanes.numPlaces(); ++id)
    if (const Place &place = lanes.place(id);
        !place.written && isTransposed(place.access, vectorLoop, tile.across))
      read[id] = lanes.readSquare(id, rows, steps);
  tilePoints(steps, read, {});
}

void LoopEmitter::strips() {
  Bound end = rangeOf(vectorLoop), whole = wholeSteps({}, end, width);
  loop(vectorLoop, {}, whole, width, {}, [&](ValueRange) {
    LaneEmitter::State state = lanes.save();
    lanes.enter(tile.across, lanes.constant(0));
    strip();
    lanes.restore(std::move(state));
    return Values();
  });
  if (isEmpty(whole, end))
    return;
  if (kernel.isReduced(tile.across)) {
    reduced.push_back(tile.across);
    parallelRest(whole, end);
    reduced.pop_back();
    return;
  }
  loop(tile.across, {}, {tile.strip, {}}, 1, {}, [&](ValueRange) {
    parallelRest(whole, end);
    return Values();
  });
}

void LoopEmitter::strip() {
  llvm::MapVector<unsigned, Values> read;
  SmallVector<unsigned> written;
  for (unsigned id = 0; id < lanes.numPlaces(); ++id) {
    const Place &place = lanes.place(id);
    if (stripLoop(kernel, place.access, vectorLoop, width, place.written) != tile.across)
      continue;
    if (!place.written)
      read[id] = lanes.readStrip(id, tile.across, tile.strip);
    else if (!place.isDead)
      written.push_back(id);
  }
  Values sums;
  for (const Accumulator &a : accumulators)
    sums.push_back(start(a, 0));
  llvm::for_each(written, [&](unsigned id) { lanes.hold(id); });
  sums = tilePoints(tile.strip, read, sums);
  for (auto [a, sum] : llvm::zip_equal(accumulators, sums))
    finish(a, 0, sum);
  llvm::for_each(written, [&](unsigned id) { lanes.writeStrip(id, isBackwards()); });
}

/// Whether a scan goes from the last step to the first.
bool LoopEmitter::isBackwards() {
  const Scan *scan = kernel.scan();
  return scan && scan->reverse;
}

/// The elements of a tile, one step across after another; takes and returns the accumulators.
LoopEmitter::Values LoopEmitter::tilePoints(int64_t steps,
                                            const llvm::MapVector<unsigned, Values> &read,
                                            Values carried) {
  for (int64_t i = 0; i < steps; ++i) {
    int64_t step = isBackwards() ? steps - 1 - i : i;
    LaneEmitter::State state = lanes.save();
    lanes.advance(tile.across, step);
    lanes.beginPoint();
    for (const auto &[id, vectors] : read)
      lanes.give(id, vectors[step]);
    carried = evaluateStages(1, carried);
    lanes.restore(std::move(state));
  }
  lanes.beginPoint();
  return carried;
}
