// The points of an array operation (linalg on memory) in a kernel: its loops, the elements that
// each point is about, and what the body makes of them. Who goes to which point is decided in
// ArrayOp.h.
#ifndef XTENSOR_PASSES_GPU_POINTS_H
#define XTENSOR_PASSES_GPU_POINTS_H

#include "GPU/Kernel.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace xtensor::gpu {

/// The threads that share the work: those of a workgroup, or of the whole launch.
struct Team {
  mlir::Value id;           // of a thread
  mlir::Value count;        // of threads
  int64_t known = 0;        // the count, if it is known
  bool isWorkgroup = false; // they can wait for each other

  static Team workgroup(Kernel &kernel) {
    return {kernel.threadId(), kernel.index(kernel.threads), kernel.threads, true};
  }
  /// Whether this thread is the first.
  mlir::Value isFirst(Kernel &kernel) const;
};

/// The elements of an operand that a point of the iteration space is about.
struct Access {
  FlatView view;
  mlir::AffineMap map;
};

/// Memory that another op reads or writes at the points of this one.
struct Beside {
  mlir::Value memref; // null: no memory
  mlir::AffineMap map;
};

/// linalg.generic, fill or copy.
class Points {
public:
  using Point = llvm::SmallVector<mlir::Value>; // one index per loop

  /// `init`: per output, what it holds before, where that is one known number.
  /// `readBeside`, `writtenBeside`: accesses that come after the op's own.
  Points(Kernel &kernel, mlir::Operation *op, llvm::ArrayRef<mlir::Value> init = {},
         llvm::ArrayRef<Beside> readBeside = {}, llvm::ArrayRef<Beside> writtenBeside = {});

  Kernel &kernel;
  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Operation *op;
  mlir::linalg::GenericOp generic; // null: fill or copy
  llvm::SmallVector<Access> ins, outs;
  llvm::SmallVector<mlir::Value> init;
  llvm::SmallVector<mlir::utils::IteratorType> kinds; // per loop
  llvm::SmallVector<mlir::OpFoldResult> ranges;

  //===- loops -----------------------------------------------------------------===//
  llvm::SmallVector<unsigned> parallelLoops() const {
    return loops(mlir::utils::IteratorType::parallel);
  }
  llvm::SmallVector<unsigned> reductionLoops() const {
    return loops(mlir::utils::IteratorType::reduction);
  }
  /// Points that are independent, and points per such point; kDynamic if unknown.
  int64_t parallelPoints() const { return product(parallelLoops()); }
  int64_t reductionPoints() const { return product(reductionLoops()); }
  mlir::OpFoldResult parallelSize();
  mlir::OpFoldResult reductionSize() const { return ranges.back(); }
  /// Whether every point of the reduction has an element of its own in this output (a scan).
  bool streams(unsigned out) const;
  /// Whether neighbours in the reduction lie next to each other in memory.
  bool reducesRows() const;
  /// Sets the indices of the loops `over` for the point with the number `flat`. `width`: points of
  /// the last loop that go together.
  void unflatten(mlir::Value flat, llvm::ArrayRef<unsigned> over, Point &point, int64_t width = 1);
  /// The independent point with this number.
  Point parallelPoint(mlir::Value number, int64_t width = 1);

  //===- one element -----------------------------------------------------------===//
  mlir::Value load(const Access &access, const Point &point);
  void store(mlir::Value v, const Access &access, const Point &point);
  /// The elements of the inputs at a point; null where the body does not ask for one.
  llvm::SmallVector<mlir::Value> loadInputs(const Point &point);
  /// What the body makes of these elements of its inputs and outputs. `point`: for bodies that ask
  /// where they are.
  llvm::SmallVector<mlir::Value> apply(mlir::ValueRange values, llvm::ArrayRef<mlir::Value> point,
                                       mlir::ValueRange outs);
  /// What the outputs hold before; null where it is not used.
  llvm::SmallVector<mlir::Value> initial(const Point &point);
  /// The update of the `number`-th point: `combine` is told where, once the body's ops are there
  /// but for `combiner` and what comes after it.
  void emitUpdate(mlir::Value number, mlir::Operation *combiner,
                  llvm::function_ref<void(const FlatView &, mlir::Value)> combine);

  //===- several elements that lie side by side: Runs.cpp ----------------------===//
  /// How many elements along this loop one load brings; 1 where some would be written one by one.
  int64_t vectorWidth(unsigned loop);
  /// Points of the output that a thread does at once: as many as a load brings.
  int64_t pointsAtOnce();
  /// The elements of each access at `width` points from this one on: per point, one value per
  /// access, null where it is not used. `accesses`: `ins` or `outs`.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>>
  loadRun(llvm::ArrayRef<Access> accesses, const Point &point, unsigned loop, int64_t width);
  void storeRun(llvm::ArrayRef<llvm::SmallVector<mlir::Value>> results, const Point &point);
  /// The `i`-th point of a run, as far as a body asks where it is.
  Point pointOfRun(const Point &point, unsigned loop, int64_t i);

protected:
  /// The address of an element, linear in the loops.
  struct Linear {
    mlir::OpFoldResult base;
    llvm::SmallVector<mlir::OpFoldResult> steps; // one per loop
  };
  /// None where a map divides.
  std::optional<Linear> linear(const Access &access);
  bool isRun(const Access &access, unsigned loop, int64_t width);

private:
  llvm::SmallVector<unsigned> loops(mlir::utils::IteratorType kind) const;
  int64_t product(llvm::ArrayRef<unsigned> loops) const;
  void findRanges();
  mlir::Value expression(mlir::AffineExpr e, const Point &point);
  mlir::Value offset(const Access &access, const Point &point);
  bool isRead(unsigned in);
  bool isStart(unsigned out);
  void setInputs(mlir::ValueRange values);
  void emitBodyOp(mlir::Operation &inner, llvm::ArrayRef<mlir::Value> point);
};

} // namespace xtensor::gpu

#endif // XTENSOR_PASSES_GPU_POINTS_H
