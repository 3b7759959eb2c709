// Running values that the threads of a workgroup share.
#ifndef XTENSOR_PASSES_GPU_SHAREDSCAN_H
#define XTENSOR_PASSES_GPU_SHAREDSCAN_H

#include "GPU/ScanKind.h"

namespace xtensor::gpu {

class SharedScan {
public:
  /// Elements of a thread per tile of a scan: as many as one load brings.
  static constexpr int64_t kOwn = 4;

  /// `kind`: of the op of `points`.
  SharedScan(Points &points, const ScanKind &kind) : p(points), kind(kind) {}

  /// Scans after each other, by a workgroup.
  void emitPoints(const Team &team, mlir::Value first, mlir::Value end, mlir::Value step);
  /// The part of a launch: one workgroup for each scan.
  void emitRows(const Team &team, mlir::Value first, mlir::Value step);

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

private:
  /// What the scan of a point starts with.
  mlir::Value startAt(const Points::Point &point);

  Points &p;
  const ScanKind kind;
};

} // namespace xtensor::gpu

#endif // XTENSOR_PASSES_GPU_SHAREDSCAN_H
