// Which part of the result of a product the registers hold while sums run.
#ifndef XTENSOR_PASSES_CPU_REGISTERTILE_H
#define XTENSOR_PASSES_CPU_REGISTERTILE_H

#include "CPU/Stage.h"

namespace xtensor::cpu {

/// Steps of a loop beside each other in a tile.
struct Side {
  unsigned loop;
  int64_t count;
};

/// The part of the result that registers hold.
struct RegisterTile {
  int vectorLoop = -1;
  int64_t width = 1, vectors = 1;
  llvm::SmallVector<Side, 2> sides;
  double cost = 0;

  int64_t sums() const {
    int64_t product = vectors;
    for (const Side &side : sides)
      product *= side.count;
    return product;
  }
};

/// The cheapest tile for vectors of `bits` bits; none where no loop has vectors. `whole`: tiles
/// must not overlap. `strided`: lanes of a factor may lie apart.
std::optional<RegisterTile> chooseRegisterTile(const Kernel &kernel, int64_t bits, bool whole,
                                               bool strided = false);

} // namespace xtensor::cpu

#endif // XTENSOR_PASSES_CPU_REGISTERTILE_H
