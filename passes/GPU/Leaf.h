// Array operations (linalg on memory) inside a kernel, distributed over its threads.
#ifndef XTENSOR_PASSES_GPU_LEAF_H
#define XTENSOR_PASSES_GPU_LEAF_H

#include "GPU/Kernel.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace xtensor::gpu {

/// The threads that share the work: those of a workgroup, or of the whole launch.
struct Team {
  mlir::Value id;           // of a thread
  mlir::Value count;        // of threads
  int64_t known = 0;        // the count, if it is known
  bool isWorkgroup = false; // they can wait for each other
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

/// An operation over a space of points: linalg.generic, fill, copy.
class Leaf {
public:
  /// Elements of a thread per tile of a scan: as many as one load brings.
  static constexpr int64_t kOwn = 4;

  /// `init`: per output, what it holds before, where that is one known number.
  /// `readBeside`, `writtenBeside`: accesses that come after the op's own.
  Leaf(Kernel &kernel, mlir::Operation *op, llvm::ArrayRef<mlir::Value> init = {},
       llvm::ArrayRef<Beside> readBeside = {}, llvm::ArrayRef<Beside> writtenBeside = {});

  /// Emits the operation for `team`. Waiting for earlier accesses is part of it in a workgroup.
  void emit(const Team &team);
  /// Emits a launch's part: one workgroup reduces each output. Only if `canCooperate`.
  void emitCooperative(const Team &team, mlir::Value first, mlir::Value step);

  /// Points that are independent, and points per such point; kDynamic if unknown.
  int64_t parallelPoints() const { return product(mlir::utils::IteratorType::parallel); }
  int64_t reductionPoints() const { return product(mlir::utils::IteratorType::reduction); }
  mlir::OpFoldResult parallelSize();
  mlir::Value combine(mlir::Operation *combiner, mlir::Value x, mlir::Value y);
  /// Whether the outputs are reductions that several threads may do parts of.
  bool canCooperate() const;
  /// How the running value of a scan goes on: by a combiner, else linearly.
  struct Scan {
    unsigned running = 0; // the output
    mlir::Operation *combiner = nullptr;
  };
  /// What threads can share of a scan; empty if the op is not a scan, or must run in order.
  std::optional<Scan> scan() const;
  /// Whether several workgroups may scan a part each, from what those before it come to.
  bool canScanInParts() const;
  /// Whether it keeps the better of two, as argmax does.
  bool chooses() const { return generic && choice().has_value(); }
  /// Emits a launch's part: one workgroup goes along each scan.
  void emitScans(const Team &team, mlir::Value first, mlir::Value step);
  /// What one workgroup does of a scan: elements from one number to another, counted from where it
  /// starts.
  struct Stretch {
    mlir::Value from, to, carry;
    mlir::Value isLast;        // null: it is
    FlatView *total = nullptr; // where what it comes to is left; null: the elements are shown
    mlir::Value at;
  };
  /// For the `row`-th of the scans. `carry` is worked out by `before`, from what the scan starts
  /// with.
  void emitStretch(const Team &team, mlir::Value row, Stretch stretch,
                   llvm::function_ref<mlir::Value(mlir::Value)> before = {});
  /// Columns that threads of a workgroup share; 0 if each column belongs to one thread, or the op
  /// does not have columns.
  int64_t columnsOfWorkgroup(int64_t threads);
  /// Emits that many parts of a launch; if their number is open, those of every `groups`-th group.
  void emitColumns(const Team &team, int64_t columns, mlir::Value group, mlir::Value groups);
  mlir::OpFoldResult reductionSize() const { return ranges.back(); }
  /// Whether neighbours in the reduction lie next to each other in memory.
  bool reducesRows() const;
  /// Points of the output that a thread does at once: as many as a load brings.
  int64_t pointsAtOnce();
  /// The update of the `number`-th point: `combine` is told where, once the body's ops are there
  /// but for `combiner` and what comes after it.
  void emitUpdate(mlir::Value number, mlir::Operation *combiner,
                  llvm::function_ref<void(const FlatView &, mlir::Value)> combine);
  /// What the body makes of these elements of its inputs and outputs. `point`: for bodies that ask
  /// where they are.
  llvm::SmallVector<mlir::Value> apply(mlir::ValueRange values, llvm::ArrayRef<mlir::Value> point,
                                       mlir::ValueRange outs);

protected:
  using Point = llvm::SmallVector<mlir::Value>; // one index per loop
  /// The address of an element, linear in the loops.
  struct Linear {
    mlir::OpFoldResult base;
    llvm::SmallVector<mlir::OpFoldResult> steps; // one per loop
  };
  /// None where a map divides.
  std::optional<Linear> linear(const Access &access);
  int64_t vectorWidth(unsigned loop);
  bool isRun(const Access &access, unsigned loop, int64_t width);
  llvm::SmallVector<llvm::SmallVector<mlir::Value>>
  loadRun(llvm::ArrayRef<Access> accesses, const Point &point, unsigned loop, int64_t width);
  /// The `i`-th point of a run, as far as a body asks where it is.
  Point pointOfRun(const Point &point, unsigned loop, int64_t i);
  void storeRun(llvm::ArrayRef<llvm::SmallVector<mlir::Value>> results, const Point &point);
  int64_t product(mlir::utils::IteratorType kind) const;
  void findRanges();
  llvm::SmallVector<unsigned> loops(mlir::utils::IteratorType kind) const;
  mlir::Value expression(mlir::AffineExpr e, const Point &point);
  mlir::Value offset(const Access &access, const Point &point);
  mlir::Value load(const Access &access, const Point &point);
  void store(mlir::Value v, const Access &access, const Point &point);
  llvm::SmallVector<mlir::Value> compute(const Point &point, mlir::ValueRange outs);
  llvm::SmallVector<mlir::Value> shareOf(const Team &team, Point point, mlir::ValueRange neutral);
  bool isRead(unsigned in);
  void setInputs(mlir::ValueRange values);
  void emitBodyOp(mlir::Operation &inner, llvm::ArrayRef<mlir::Value> point);
  bool isStart(unsigned out);
  void onePoints(Point point, unsigned loop, int64_t width);
  llvm::SmallVector<mlir::Value> initial(const Point &point);
  llvm::SmallVector<mlir::Value> overReductions(Point point, mlir::ValueRange init);
  void onePoint(Point point);
  /// `width`: points of the last loop that go together.
  void unflatten(mlir::Value flat, llvm::ArrayRef<unsigned> over, Point &point, int64_t width = 1);
  /// What the outputs had before, and what the threads' shares of a point come to.
  void finish(const Point &point, llvm::ArrayRef<mlir::Value> shares);
  llvm::SmallVector<mlir::Value> neutralOf(const Point &point);
  void together(Point point, const Team &team);
  void sideBySide(int64_t points, const Team &team, mlir::Value first = {});
  /// A reduction that keeps the better of two values and a number of its own: argmax.
  struct Choice {
    mlir::Value better, value; // of the body
  };
  std::optional<Choice> choice() const;
  mlir::Value isBetter(const Choice &choice, mlir::Value x, mlir::Value best);
  llvm::SmallVector<mlir::Value> combineAll(llvm::ArrayRef<mlir::Value> x,
                                            llvm::ArrayRef<mlir::Value> y);
  /// Combines neighbours until one is left.
  llvm::SmallVector<mlir::Value> inPairs(llvm::SmallVector<llvm::SmallVector<mlir::Value>> values);
  class SharedScan; // what the threads of a workgroup do of a stretch: SharedScan.cpp
  void scanWhole(Point point, const Team &team);
  mlir::Value coefficient(const Scan &kind);
  bool streams(unsigned out) const;
  void emitFor(const Team &team);

  Kernel &kernel;
  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Operation *op;
  mlir::linalg::GenericOp generic; // null: fill or copy
  llvm::SmallVector<Access> ins, outs;
  llvm::SmallVector<mlir::Value> init;
  llvm::SmallVector<mlir::utils::IteratorType> kinds;
  llvm::SmallVector<mlir::OpFoldResult> ranges;
};

/// The value of the thread whose number differs in this bit, of one that runs at the same time.
mlir::Value exchanged(Kernel &kernel, mlir::Value v, int64_t bit);
/// Clones scalar code into the kernel, reads of memory included. False if an op has no place there.
bool emitScalar(Kernel &kernel, mlir::Operation &op);
/// The memory that an operation reads and writes, views seen through.
void accessesOf(Kernel &kernel, mlir::Operation &op, llvm::SmallVectorImpl<mlir::Value> &reads,
                llvm::SmallVectorImpl<mlir::Value> &writes);

} // namespace xtensor::gpu

#endif // XTENSOR_PASSES_GPU_LEAF_H
