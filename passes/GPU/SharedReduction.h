// Reductions of which several threads do parts each.
#ifndef XTENSOR_PASSES_GPU_SHAREDREDUCTION_H
#define XTENSOR_PASSES_GPU_SHAREDREDUCTION_H

#include "GPU/Points.h"

namespace xtensor::gpu {

class SharedReduction {
public:
  /// None unless all outputs of the op are reductions whose parts can be combined.
  static std::optional<SharedReduction> of(Points &points);

  /// Whether it keeps the better of two, as argmax does.
  bool chooses() const { return choice.has_value(); }
  /// Columns that threads of a workgroup share; 0 if each column belongs to one thread, or the op
  /// does not have columns.
  int64_t columnsOfWorkgroup(int64_t threads) const;

  /// One point of the outputs, by a workgroup.
  void emitPoint(const Points::Point &point, const Team &team);
  /// Points of the outputs after each other, by a workgroup.
  void emitPoints(const Team &team, mlir::Value first, mlir::Value end, mlir::Value step);
  /// The part of a launch: one workgroup for each output.
  void emitRows(const Team &team, mlir::Value first, mlir::Value step);
  /// Several points side by side, from `first` on.
  void emitColumns(int64_t columns, const Team &team, mlir::Value first = {});
  /// That many in each part of a launch; if the number of parts is open, those of every `groups`-th
  /// group.
  void emitAllColumns(int64_t columns, const Team &team, mlir::Value group, mlir::Value groups);

private:
  using Values = llvm::SmallVector<mlir::Value>; // one per output
  /// A reduction that keeps the better of two values and a number of its own: argmax.
  struct Choice {
    mlir::Value better, value; // of the body
  };
  explicit SharedReduction(Points &points)
      : p(points), kernel(points.kernel), b(points.b), loc(points.loc) {}
  static std::optional<Choice> choiceOf(mlir::linalg::GenericOp generic);

  mlir::Value isBetter(mlir::Value x, mlir::Value best);
  Values combineAll(llvm::ArrayRef<mlir::Value> x, llvm::ArrayRef<mlir::Value> y);
  /// Combines neighbours until one is left.
  Values inPairs(llvm::SmallVector<Values> values);
  Values startsAt(const Points::Point &point);
  Values shareOf(const Team &team, Points::Point point);
  /// What the outputs had before, and what the threads' shares of a point come to.
  void finish(const Points::Point &point, llvm::ArrayRef<mlir::Value> shares);

  // The memory that shares meet in, one element per thread and output.
  FlatView memoryFor(unsigned out, mlir::Value share);
  /// What the thread left whose number is greater by `distance`.
  Values loadFurther(const Team &team, int64_t distance);
  void storeAt(mlir::Value place, mlir::ValueRange values);
  /// Leaves the shares of subgroups there.
  void leaveShares(const Team &team, int64_t subgroup, mlir::ValueRange shares);
  /// Joins what lies there until a few are left; returns how far apart they are.
  int64_t joinPairs(const Team &team, int64_t count);
  /// The same for columns side by side; returns how many are left of each.
  int64_t joinHalves(const Team &team, int64_t columns, int64_t count);

  Points &p;
  Kernel &kernel;
  mlir::OpBuilder &b;
  mlir::Location loc;
  llvm::SmallVector<mlir::Operation *> combiners; // one per output
  std::optional<Choice> choice;                   // instead of them
  llvm::SmallVector<FlatView> memory;
};

/// The value of the thread whose number differs in this bit, of one that runs at the same time.
mlir::Value exchanged(Kernel &kernel, mlir::Value v, int64_t bit);

} // namespace xtensor::gpu

#endif // XTENSOR_PASSES_GPU_SHAREDREDUCTION_H
