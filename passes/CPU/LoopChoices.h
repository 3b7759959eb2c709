// How a kernel runs over vectors: along which loop, how wide, and in which tiles.
#ifndef XTENSOR_PASSES_CPU_LOOPCHOICES_H
#define XTENSOR_PASSES_CPU_LOOPCHOICES_H

#include "CPU/Stage.h"

namespace xtensor::cpu {

/// Operands that jump along the vector loop, and are contiguous along another loop, `across`.
///
/// A square: vectors along `across`, one for each lane, are read and transposed.
/// A strip: `across` and the vector loop are one contiguous row. `strip` vectors of this row hold
/// the elements of all lanes, interleaved.
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

/// The choice for vectors of `bits` bits.
LoopChoice chooseLoops(const Kernel &kernel, int64_t bits);

/// The loop along which `access` has the other elements of its row, if along `vectorLoop` it walks
/// the row in steps of several elements that `width` lanes cover without a gap; -1: none.
int stripLoop(const Kernel &kernel, const Access &access, unsigned vectorLoop, int64_t width);

/// Whether vectors of `access` along `across` are to be transposed.
bool isTransposed(const Access &access, unsigned vectorLoop, unsigned across);

} // namespace xtensor::cpu

#endif // XTENSOR_PASSES_CPU_LOOPCHOICES_H
