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
  if (kernel.isReduced(vectorLoop))
    return reducedStrips();
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

/// The sums of both loops: vectors for each step across, joined at the end.
void LoopEmitter::reducedStrips() {
  Bound end = rangeOf(vectorLoop), whole = wholeSteps({}, end, width);
  Values vectors, elements;
  for (const Accumulator &a : accumulators)
    vectors.append(tile.strip, neutral(a, true));
  vectors = loop(vectorLoop, {}, whole, width, vectors, [&](ValueRange in) {
    LaneEmitter::State state = lanes.save();
    lanes.enter(tile.across, lanes.constant(0));
    Values out = tilePoints(tile.strip, readStrips(), in, tile.strip);
    lanes.restore(std::move(state));
    return out;
  });
  auto rest = [&](int64_t step, ValueRange sums, bool masked) {
    return loop(vectorLoop, whole, end, step, sums, [&](ValueRange in) {
      if (masked)
        lanes.mask = maskFor(end, lanes.ivOf(vectorLoop));
      Values out = loop(tile.across, {}, {tile.strip, {}}, 1, in,
                        [&](ValueRange in) { return point(1, in); });
      lanes.mask = {};
      return out;
    });
  };
  if (masksRest(end)) {
    Values firsts;
    for (unsigned i = 0; i < vectors.size(); i += tile.strip)
      firsts.push_back(vectors[i]);
    for (auto [i, first] : llvm::enumerate(rest(width, firsts, /*masked=*/true)))
      vectors[i * tile.strip] = first;
  } else if (!isEmpty(whole, end)) {
    lanes.width = 1;
    lanes.beginPoint();
    for (const Accumulator &a : accumulators)
      elements.push_back(neutral(a, false));
    elements = rest(1, elements, /*masked=*/false);
    lanes.width = width;
  }
  for (auto [i, a] : llvm::enumerate(accumulators))
    finishRow(a, 0, ArrayRef(vectors).slice(i * tile.strip, tile.strip),
              elements.empty() ? Value() : elements[i]);
}

/// Of what lies in strips, the vectors of each step across.
llvm::MapVector<unsigned, LoopEmitter::Values> LoopEmitter::readStrips() {
  llvm::MapVector<unsigned, Values> read;
  for (unsigned id = 0; id < lanes.numPlaces(); ++id)
    if (const Place &place = lanes.place(id); !place.written && isStrip(place))
      read[id] = lanes.readStrip(id, tile.across, tile.strip);
  return read;
}

bool LoopEmitter::isStrip(const Place &place) {
  return stripLoop(kernel, place.access, vectorLoop, width, place.written) == tile.across;
}

void LoopEmitter::strip() {
  llvm::MapVector<unsigned, Values> read = readStrips();
  SmallVector<unsigned> written;
  for (unsigned id = 0; id < lanes.numPlaces(); ++id)
    if (const Place &place = lanes.place(id); place.written && !place.isDead && isStrip(place))
      written.push_back(id);
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

/// The elements of a tile, one step across after another; takes and returns the accumulators, each
/// of them `copies` times, for one step after another.
LoopEmitter::Values LoopEmitter::tilePoints(int64_t steps,
                                            const llvm::MapVector<unsigned, Values> &read,
                                            Values carried, int64_t copies) {
  for (int64_t i = 0; i < steps; ++i) {
    int64_t step = isBackwards() ? steps - 1 - i : i;
    LaneEmitter::State state = lanes.save();
    lanes.advance(tile.across, step);
    lanes.beginPoint();
    for (const auto &[id, vectors] : read)
      lanes.give(id, vectors[step]);
    Values own;
    for (unsigned k = step % copies; k < carried.size(); k += copies)
      own.push_back(carried[k]);
    for (auto [k, value] : llvm::enumerate(evaluateStages(1, own)))
      carried[k * copies + step % copies] = value;
    lanes.restore(std::move(state));
  }
  lanes.beginPoint();
  return carried;
}
