// Reductions along an outer dim. Columns of a few vectors keep their sums in registers, but jump
// from row to row, and the hardware prefetcher stops at each jump. Few rows are prefetched by
// instructions. Along many, loops run along a few rows at once, and the row of sums stays in the
// first cache.
#include "CPU/LoopNest.h"
#include "CPU/MemRefPointers.h"
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
/// Bytes from what is read of a row to what is prefetched, and the same of up to four rows
/// (measured).
static constexpr int64_t kAhead = 1024, kAheadOfFew = 2048, kFewRows = 4;
/// Bytes of a part of such a row, at least. Parts of the threads follow each other.
static constexpr int64_t kShortestPart = 256;

/// Prefetches long rows that may be outside of the second cache.
void LoopEmitter::readRowsAhead() {
  if (reduced.size() != 1)
    return;
  const Extent &rows = kernel.ranges[reduced.front()], &columns = kernel.ranges[vectorLoop];
  int64_t bytes = rows.isConstant() && rows.constant <= kFewRows ? kAheadOfFew : kAhead;
  xtensor::Caches caches = xtensor::cachesFor(kernel.stages.front().op);
  // What is prefetched of many rows would leave the first cache before it is read.
  if (!rows.isConstant() || rows.constant * bytes > caches.level1)
    return;
  for (unsigned id = 0; id < lanes.numPlaces(); ++id) {
    Access &access = lanes.place(id).access;
    if (!access.base || lanes.place(id).written || !access.elementType.isIntOrFloat() ||
        !access.strides[vectorLoop].is(1))
      continue;
    int64_t size = bytesOf(access.elementType);
    const Extent &step = access.strides[reduced.front()];
    auto isShort = [&](const Extent &n, int64_t least) {
      return n.isConstant() && std::abs(n.constant) * size < least;
    };
    auto array = cast<MemRefType>(access.base.getType());
    bool isNear = array.hasStaticShape() && array.getNumElements() * size <= caches.level2;
    if (!isShort(columns, kShortestPart) && !isShort(step, bytes) && !isNear)
      access.ahead = bytes / size;
  }
}

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
