// The loops of one kernel, as they are written: those of LoopEmitter.cpp, reductions along vectors
// (ReductionLoops.cpp), tiles (TileLoops.cpp), and rows of sums (RowLoops.cpp).
#ifndef XTENSOR_PASSES_CPU_LOOPNEST_H
#define XTENSOR_PASSES_CPU_LOOPNEST_H

#include "CPU/Lanes.h"
#include "CPU/LoopChoices.h"
#include "CPU/LoopEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace xtensor::cpu {

/// An output that is accumulated in values that loops carry.
struct Accumulator {
  Stage *stage;
  unsigned output;
  const Combiner *combiner; // null: the body itself is applied again and again
  mlir::Type type;

  /// What the program says of the ops that combine.
  mlir::arith::FastMathFlags flags() const;
};

/// A loop bound: a constant where it is known.
struct Bound {
  int64_t constant = 0;
  mlir::Value value; // null: the constant
};

class LoopEmitter {
public:
  LoopEmitter(mlir::OpBuilder &b, Kernel &kernel, Views &views, VectorTarget target)
      : b(b), kernel(kernel), target(target), loc(kernel.stages.front().op.getLoc()),
        choice(chooseLoops(kernel, target.bits, target.masks)), width(choice.width),
        vectorLoop(choice.vectorLoop), tile(choice.tile),
        lanes(b, kernel, views, vectorLoop, vectorLoop < 0 ? 1 : width) {}

  void run();

private:
  using Values = llvm::SmallVector<mlir::Value>;
  using Body = llvm::function_ref<Values(mlir::ValueRange)>;

  // Choices.
  int64_t costOfPoint() const;
  int64_t registersOfPoint() const;
  int64_t chooseUnroll() const;
  int64_t vectorsTogether() const;
  enum class Together { None, Shared, Neighbours };
  Together whyTogether() const;
  int64_t rowsTogether() const;

  // Loops.
  /// `backwards`: from the last step to the first; `to` - `from` is a multiple of `step` then.
  Values loop(unsigned index, Bound from, Bound to, int64_t step, mlir::ValueRange carried,
              Body body, bool backwards = false);
  Bound rangeOf(unsigned index) const { return ranges[index]; }
  /// The largest multiple of `step` that `to` - `from` holds, plus `from`.
  Bound wholeSteps(Bound from, Bound to, int64_t step);
  bool isEmpty(Bound from, Bound to) const {
    return !from.value && !to.value && from.constant >= to.constant;
  }
  mlir::Value valueOf(Bound bound) {
    return bound.value ? bound.value : lanes.constant(bound.constant);
  }
  mlir::Value maskFor(Bound to, mlir::Value iv);
  bool masksRest(Bound end) const;
  bool overlapsRest(Bound end) const;

  void nestOuter(unsigned k);
  void parallelInnermost();
  void parallelRest(Bound done, Bound end) {
    parallelRest(done, end, [&] { parallelBlock(1); });
  }
  void parallelRest(Bound done, Bound end, llvm::function_ref<void()> block);
  void parallelBlock(int64_t unroll);
  void inRows(llvm::function_ref<void()> body);
  void reducedInnermost();
  void scannedInnermost();
  Values nestReduced(unsigned k, mlir::ValueRange carried, Body innermost);

  // Tiles.
  void squares();
  void inBlocks(Bound whole, int64_t size, llvm::function_ref<void(Bound, Bound)> body);
  bool runsAcross();
  bool isBackwards();
  void squareBlock(Bound from, Bound to, int64_t steps);
  void square(int64_t rows, int64_t steps);
  void strips();
  void strip();
  void reducedStrips();
  llvm::MapVector<unsigned, Values> readStrips();
  bool isStrip(const Place &place);
  Values tilePoints(int64_t steps, const llvm::MapVector<unsigned, Values> &read, Values carried,
                    int64_t copies = 1);

  // Reductions along an outer dim.
  void readRowsAhead();
  /// The columns of a block; 0: their sums are kept in registers.
  int64_t columnsAlongRows();
  void alongRows(int64_t columns);
  void rowsOfBlock(Bound from, Bound to);
  void pointOfRows(int64_t count);

  // Points.
  Values point(int64_t unroll, mlir::ValueRange accumulators);
  Values evaluateStages(int64_t unroll, mlir::ValueRange accumulators);
  mlir::Value start(const Accumulator &a, int64_t u);
  mlir::Value held(const Accumulator &a, int64_t u);
  mlir::Value widened(const Accumulator &a, Lane old);
  mlir::Value neutral(const Accumulator &a, bool vector);
  void finish(const Accumulator &a, int64_t u, mlir::Value value);
  mlir::Value combine(const Accumulator &a, mlir::Value x, mlir::Value y);

  // Searches, joined at the end if they run along the vector.
  struct Found {
    mlir::Value element, at;
  };
  mlir::Value replaces(Stage &stage, mlir::Value element, mlir::Value best);
  Found better(Stage &stage, Found x, Found y);
  Found joinFound(Stage &stage, llvm::SmallVector<Found> found);
  mlir::Value lanesFrom(mlir::Value v, int64_t first);
  Found shared(Stage &stage, Found found);
  Found sharedIfRare(Stage &stage, Found found, mlir::Value better);
  void finishSearch(unsigned i, int64_t unroll, llvm::ArrayRef<mlir::Value> ends);
  mlir::Value joinLanes(const Accumulator &a, llvm::ArrayRef<mlir::Value> vectors);
  mlir::Value joinExtrema(const Accumulator &a, llvm::ArrayRef<mlir::Value> vectors,
                          mlir::arith::FastMathFlags flags);
  void finishRow(const Accumulator &a, int64_t row, llvm::ArrayRef<mlir::Value> vectors,
                 mlir::Value element);
  bool findsRarely() const;
  Found searchBehindBranch(Stage &stage, int64_t u, Found old);

  // Scans along the vector.
  Values scanPoint(mlir::ValueRange carried);

  mlir::OpBuilder &b;
  Kernel &kernel;
  VectorTarget target;
  mlir::Location loc;
  const LoopChoice choice;
  const int64_t width;
  const int vectorLoop;
  const Tile tile;
  LaneEmitter lanes;
  int64_t rows = 1;  // that are reduced at once
  mlir::Value fresh; // lanes that are not combined yet; null: all
  llvm::SmallVector<Bound> ranges;
  llvm::SmallVector<unsigned> outer, reduced; // without the vector loop and that across tiles
  llvm::SmallVector<Accumulator> accumulators;
};

} // namespace xtensor::cpu

#endif // XTENSOR_PASSES_CPU_LOOPNEST_H
