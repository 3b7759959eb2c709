// How kernels are cut for a device: a lookup in library/devices.def by the profile of the device.
#ifndef XTENSOR_PASSES_GPU_TUNING_H
#define XTENSOR_PASSES_GPU_TUNING_H

#include "GPU/Profile.h"

namespace xtensor::gpu {

/// What a device's units multiply at once: m x k with k x n, a subgroup together.
struct Unit {
  int64_t m, n, k;
  /// Threads of the subgroup that share the rows and the columns of the sums, once they have them.
  int64_t down, across;
  /// Which thread has which sum is the driver's to know (VK_KHR_cooperative_matrix): threads find
  /// them in the workgroup's memory. Else it is as PTX has it, for mma.sync.
  bool opaque;

  int64_t lanes() const { return down * across; }
  bool multiplies(mlir::Type half) const { return half.isF16() || (half.isBF16() && !opaque); }
};

/// A workgroup's part of a matrix product, and its threads' parts of that.
struct Tile {
  int64_t m, n, k;
  int64_t threadM, threadN;
  int64_t rate;         // per cent of a full device's arithmetic
  bool ofUnits = false; // that multiply matrices

  /// Rows and columns of the smallest of every device.
  static constexpr int64_t kLeastSide = 32;
  int64_t threads() const { return (m / threadM) * (n / threadN); }
  /// Of the room that a workgroup of 256 threads takes, with 64 sums in each.
  double share() const { return std::max(double(threads()), double(m * n) / 64) / 256; }
  /// Elements of one buffer of the workgroup's memory: a padded row per step of the depth, so that
  /// threads that store columns meet different banks.
  static constexpr int64_t kPad = 4;
  int64_t elements() const { return k * (m + n + 2 * kPad); }

  /// Of tiles for units that multiply matrices: rows of 16 bytes are what a load of a fragment
  /// brings, and eight of them, one after another, meet different banks.
  static constexpr int64_t kUnitPad = 8;
  /// Elements of one buffer for an operand, whose rows lie along its depth or across.
  int64_t unitElements(int64_t side, bool deep) const {
    return deep ? side * (k + kUnitPad) : k * (side + kUnitPad);
  }
  /// Elements that sums of an opaque unit pass through: two of its results for each subgroup.
  int64_t unitSums(const Unit &unit) const {
    return unit.opaque ? 2 * threads() / unit.lanes() * unit.m * unit.n : 0;
  }
};

/// Limits that a kernel keeps to, and what suits its device.
struct KernelLimits {
  /// Buffers and numbers that a kernel is planned with. Every device binds 31 buffers and 32
  /// numbers; some are left for scratch, reports and numbers that are handed on.
  static constexpr unsigned kBuffers = 24, kNumbers = 28, kMostNumbers = 32;
  int64_t threads = 256;                  // of a workgroup
  int64_t workgroupBytes = 32768;         // of its memory
  int64_t maxGroups = 65535;              // in one launch
  int64_t subgroup = 1;                   // threads that exchange values without memory
  int64_t groups = 128;                   // workgroups that fill the device
  int64_t vectorBytes = 0;                // of one load of a thread
  int64_t rows = 0;                       // that are threads' rather than workgroups'; 0: none
  int64_t steps = 0;                      // of all loops that a thread may take; 0: any number
  llvm::SmallVector<Tile> tiles4, tiles8; // by bytes of what is multiplied
  std::optional<Unit> unit;               // that multiplies half precision
  llvm::SmallVector<Tile> unitTiles;

  bool addsF32 = false, addsF64 = false; // to memory, in one step

  /// Bytes of its memory that a workgroup's threads need to meet in: for values that reductions
  /// combine, four of 8 bytes for each thread, and for single ones.
  static constexpr int64_t bytesToMeet(int64_t threads) { return 4 * threads * 8 + 64; }

  static KernelLimits of(const Profile &device);
  /// Whether this many rows of `each` elements are given to threads rather than to workgroups.
  bool areThreads(int64_t points, int64_t each) const;
  /// The number of threads of a workgroup with this many points.
  int64_t threadsFor(int64_t points) const;
  /// The tile that `batches` products of m x n are soonest done with; null if none fits.
  /// kDynamic: not known. `bytes`: of what is multiplied; 2 for units that multiply matrices.
  const Tile *tileFor(int64_t batches, int64_t m, int64_t n, int64_t bytes) const;
};

} // namespace xtensor::gpu

#endif // XTENSOR_PASSES_GPU_TUNING_H
