// How a kernel runs over vectors: along which loop, how wide, and in which tiles.
#ifndef XTENSOR_PASSES_CPU_LOOPCHOICES_H
#define XTENSOR_PASSES_CPU_LOOPCHOICES_H

#include "CPU/Stage.h"

namespace xtensor::cpu {

/// Operands that jump along the vector loop, and are contiguous along another loop, `across`.
///
/// A square: vectors along `across`, one for each lane, are read and transposed.
/// A strip: the few elements along `across` and those of the next lanes are near each other, as
/// in one contiguous row, a reversed one, or one with gaps. A few vectors of memory hold the
/// elements of all lanes, interleaved. `strip` of them hold what is written.
struct Tile {
  int across = -1;   // -1: no tiles
  int64_t strip = 0; // the range of `across`; 0: squares

  explicit operator bool() const { return across >= 0; }
};

struct LoopChoice {
  int vectorLoop = -1; // -1: no loop is worth it
  int64_t width = 1;   // lanes along the vector loop
  Tile tile;
};

/// Lanes from which a vector costs less than single elements.
inline constexpr int64_t kShortestVector = 4;

/// A function that takes many instructions, most of which wait for the one before.
bool isLongFunction(mlir::Operation &op);
/// Such functions in all bodies.
int64_t numFunctions(const Kernel &kernel);

/// The choice for vectors of `bits` bits. Without masks, a range shorter than such a vector takes
/// shorter vectors.
LoopChoice chooseLoops(const Kernel &kernel, int64_t bits, bool masks);

/// The loop along which `access` has the few elements of a lane, if `width` lanes along
/// `vectorLoop` are a few elements apart; -1: none. What is written covers memory without a gap.
int stripLoop(const Kernel &kernel, const Access &access, unsigned vectorLoop, int64_t width,
              bool written);

/// Whether lanes that are `stride` apart are sorted out of vectors, and not read one by one.
bool isInSteps(const Extent &stride);

/// Whether vectors of `access` along `across` are to be transposed.
bool isTransposed(const Access &access, unsigned vectorLoop, unsigned across);

} // namespace xtensor::cpu

#endif // XTENSOR_PASSES_CPU_LOOPCHOICES_H
