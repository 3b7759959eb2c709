// What passes know of the machine that code is for: the caches of one core. The module says it in
// DLTI's words, `dlti.target_system_spec`; where it says nothing, the defaults hold, which most
// machines have at least. Code for devices reads the defaults: they decide how loops are grouped.
#ifndef XTENSOR_PASSES_MACHINE_H
#define XTENSOR_PASSES_MACHINE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/bit.h"

namespace xtensor {

/// Data caches of one core, in bytes.
struct Caches {
  int64_t level1 = 32 * 1024, level2 = 512 * 1024;

  bool operator==(const Caches &other) const {
    return level1 == other.level1 && level2 == other.level2;
  }

  //===- what passes derive; elements have four bytes, numbers are powers of two
  //------------------//

  /// Elements of one iteration of a group: short enough for the first level.
  int64_t iterationElements() const { return fit(level1 / 4); }
  /// Elements that a scan leaves in the first level for the loop that reads them again.
  int64_t scannedElements() const { return fit(level1 / 8); }
  /// Bytes that the first level holds beside those that a loop reads at the time.
  int64_t roomAhead() const { return fit(level1 / 2); }
  /// Elements that one iteration of merged groups may touch: a quarter of the second level.
  int64_t workingSet() const { return fit(level2 / 16); }

private:
  static int64_t fit(int64_t n) { return llvm::bit_floor<uint64_t>(n); }
};

/// Rows that are a multiple of this many bytes apart share their places in the first cache.
constexpr int64_t kWayBytes = 4096;

/// The caches of this machine. XTENSOR_CACHES="L1,L2" (bytes) takes their place.
Caches cachesOfHost();

/// Whether the runtime multiplies matrices of bfloat16 by instructions for that, on this machine:
/// AVX512-BF16, and AMX where it is. XTENSOR_CPU_WITHOUT takes features away.
bool hasBFloat16ProductsOfHost();

/// What the module of `op` says.
Caches cachesFor(mlir::Operation *op);

/// Says it in `module`, where the module says nothing and the caches differ from the defaults.
/// Needs the DLTI dialect.
void setCaches(mlir::ModuleOp module, const Caches &caches);

} // namespace xtensor

#endif // XTENSOR_PASSES_MACHINE_H
