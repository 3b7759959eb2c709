// Reductions along an outer dim whose sums stay in memory. Columns of a few vectors keep their sums
// in registers, but jump from row to row, and the hardware prefetcher stops at each jump. Here,
// loops run along a few rows at once, and the row of sums stays in the first cache.
#include "CPU/LoopNest.h"
#include "Machine.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace xtensor::cpu;

/// Rows that are read at once: a sum is loaded and stored once for all of them. Bodies of one op,
/// such as plain sums, are slower with more rows; others are faster (both measured).
static constexpr int64_t kRowsTogether = 4, kRowsOfMoreWork = 8;
/// Cost of such a body, with its yield.
static constexpr int64_t kPlainSum = 2;
/// Shorter runs are over before the prefetcher is ahead of them.
static constexpr int64_t kShortestRun = 2048;

int64_t LoopEmitter::columnsAlongRows() {
  if (vectorLoop < 0 || kernel.isReduced(vectorLoop) || tile || kernel.scan() ||
      accumulators.empty() || reduced.size() != 1 || chooseUnroll() == 1)
    return 0;
  const Extent &rows = kernel.ranges[reduced.front()], &columns = kernel.ranges[vectorLoop];
  if (!rows.isConstant() || !columns.isConstant() || rows.constant < 2 * kRowsTogether)
    return 0;
  for (const Accumulator &a : accumulators) {
    const Access &sums = a.stage->output(a.output);
    if (!a.combiner || a.combiner->widen || !sums.strides[vectorLoop].is(1) ||
        lanes.place(lanes.placeOf(*a.stage, a.stage->numInputs() + a.output)).isDead)
      return 0;
    for (const Stage &stage : kernel.stages)
      for (const Access &input : ArrayRef(stage.operands).take_front(stage.numInputs()))
        if (input.base == sums.base)
          return 0;
  }
  int64_t rowBytes = 0, sumBytes = 0;
  for (const Stage &stage : kernel.stages)
    for (const Access &access : stage.operands) {
      if (!access.base || access.isInvariant(vectorLoop))
        continue;
      if (!access.strides[vectorLoop].is(1) || !access.elementType.isIntOrFloat())
        return 0;
      int64_t bytes = llvm::divideCeil(access.elementType.getIntOrFloatBitWidth(), 8);
      (access.isInvariant(reduced.front()) ? sumBytes : rowBytes) += bytes;
    }
  int64_t room = xtensor::cachesFor(kernel.stages.front().op).level1;
  if (rowBytes * columns.constant < kShortestRun ||
      rowBytes * columns.constant * rows.constant <= room)
    return 0;
  int64_t most = room / 2 / sumBytes / width * width;
  return std::min(columns.constant, std::max(most, width));
}

void LoopEmitter::alongRows(int64_t columns) {
  Bound end = rangeOf(vectorLoop), whole = wholeSteps({}, end, columns);
  inBlocks(whole, columns, [&](Bound from, Bound to) { rowsOfBlock(from, to); });
  if (!isEmpty(whole, end))
    rowsOfBlock(whole, end);
}

/// All rows of the columns between `from` and `to`, which are whole vectors if the two are values.
void LoopEmitter::rowsOfBlock(Bound from, Bound to) {
  Bound vectors = to.value ? to : wholeSteps(from, to, width);
  auto columns = [&](llvm::function_ref<void()> body) {
    loop(vectorLoop, from, vectors, width, {}, [&](ValueRange) {
      body();
      return Values();
    });
    if (!to.value)
      parallelRest(vectors, to, body);
  };
  columns([&] {
    lanes.beginPoint();
    for (const Accumulator &a : accumulators)
      if (a.stage->inits[a.output])
        finish(a, 0, start(a, 0));
  });
  auto rows = [&](Bound first, Bound last, int64_t count) {
    loop(reduced.front(), first, last, count, {}, [&](ValueRange) {
      columns([&] { pointOfRows(count); });
      return Values();
    });
  };
  int64_t together =
      std::min(chooseUnroll(), costOfPoint() > kPlainSum ? kRowsOfMoreWork : kRowsTogether);
  Bound end = rangeOf(reduced.front()), whole = wholeSteps({}, end, together);
  rows({}, whole, together);
  if (!isEmpty(whole, end))
    rows(whole, end, end.constant - whole.constant);
}

/// One vector of columns in the row that is entered and those after it.
void LoopEmitter::pointOfRows(int64_t count) {
  lanes.preload(reduced, 1);
  Values sums;
  for (const Accumulator &a : accumulators)
    sums.push_back(held(a, 0));
  for (int64_t i = 0; i < count; ++i) {
    LaneEmitter::State state = lanes.save();
    lanes.advance(reduced.front(), i);
    sums = point(1, sums);
    lanes.restore(std::move(state));
  }
  lanes.beginPoint();
  for (auto [a, sum] : llvm::zip_equal(accumulators, sums))
    finish(a, 0, sum);
}
