// Which products are loops over tiles of their result, and over which tiles.
#ifndef XTENSOR_PASSES_CPU_PRODUCTTILES_H
#define XTENSOR_PASSES_CPU_PRODUCTTILES_H

#include "CPU/RegisterTile.h"
#include "Estimates.h"

namespace xtensor::cpu {

/// Bytes between the first and the last element that the loops other than `outer` reach.
Amount reachOf(const Access &access, const Kernel &kernel, llvm::ArrayRef<unsigned> outer);

/// A tile for `kernel`. Of small matrices, its vectors run along the result: a sum along lanes
/// would be short.
std::optional<RegisterTile> tileFor(const Kernel &kernel, int64_t bits, bool whole);

/// Whether `kernel` is a sum of products that reads windows, or that multiplies the matrices of a
/// batch: matrices too small for a library, and too large for loops that are fused with others.
bool isTiledProduct(Kernel &kernel);

/// Whether `kernel` is a product of matrices for which tiles take less time than a library: of
/// small matrices of a batch, or a convolution with a kernel of one place, whose sums are short,
/// and of which the first cache holds the factor that is read as vectors.
bool isFasterInTiles(Kernel &kernel);

/// Whether `kernel` is such a sum, and has a loop for vectors. It shares its loops with nothing
/// then.
bool hasProductTiles(Kernel &kernel);

} // namespace xtensor::cpu

#endif // XTENSOR_PASSES_CPU_PRODUCTTILES_H
