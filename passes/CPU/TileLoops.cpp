// Loops over tiles (see LoopChoices.h).
#include "CPU/LoopNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace xtensor::cpu;

/// Steps across that rows of tiles share: a few cache lines of what is read, so that all of a line
/// is used while it is in cache.
static constexpr int64_t kTileBlock = 64;

void LoopEmitter::squares() {
  Bound end = rangeOf(tile.across), whole = wholeSteps({}, end, width);
  if (!whole.value && whole.constant <= kTileBlock) {
    if (!isEmpty({}, whole))
      squareBlock({}, whole, width);
  } else {
    auto blocks =
        scf::ForOp::create(b, loc, valueOf({}), valueOf(whole), lanes.constant(kTileBlock));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(blocks.getBody());
    Value from = blocks.getInductionVar();
    Value to = arith::AddIOp::create(b, loc, from, lanes.constant(kTileBlock));
    squareBlock({0, from}, {0, arith::MinSIOp::create(b, loc, to, valueOf(whole))}, width);
  }
  if (isEmpty(whole, end))
    return;
  if (!end.value && masksRest(end))
    return squareBlock(whole, end, end.constant - whole.constant);
  loop(tile.across, whole, end, 1, {}, [&](ValueRange) {
    parallelInnermost();
    return Values();
  });
}

/// All lanes, for the steps between `from` and `to` across.
void LoopEmitter::squareBlock(Bound from, Bound to, int64_t steps) {
  Bound end = rangeOf(vectorLoop), whole = wholeSteps({}, end, width);
  auto across = [&](int64_t rows) {
    loop(tile.across, from, to, steps, {}, [&](ValueRange) {
      square(rows, steps);
      return Values();
    });
  };
  loop(vectorLoop, {}, whole, width, {}, [&](ValueRange) {
    across(width);
    return Values();
  });
  if (isEmpty(whole, end))
    return;
  if (!end.value && masksRest(end)) {
    loop(vectorLoop, whole, end, width, {}, [&](ValueRange) {
      lanes.mask = maskFor(end, lanes.ivOf(vectorLoop));
      across(end.constant - whole.constant);
      lanes.mask = {};
      return Values();
    });
    return;
  }
  loop(tile.across, from, to, 1, {}, [&](ValueRange) {
    parallelRest(whole, end);
    return Values();
  });
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
  llvm::for_each(written, [&](unsigned id) { lanes.writeStrip(id); });
}

/// The elements of a tile, one step across after another; takes and returns the accumulators.
LoopEmitter::Values LoopEmitter::tilePoints(int64_t steps,
                                            const llvm::MapVector<unsigned, Values> &read,
                                            Values carried) {
  for (int64_t step = 0; step < steps; ++step) {
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
