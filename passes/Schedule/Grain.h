// How many iterations of a parallel loop are worth a thread's while.
#ifndef XTENSOR_PASSES_SCHEDULE_GRAIN_H
#define XTENSOR_PASSES_SCHEDULE_GRAIN_H

#include "Estimates.h"

namespace xtensor {

/// On a forall: the least number of iterations of one chunk.
constexpr llvm::StringLiteral kGrainAttribute = "xtensor.grain";

/// Vector instructions that take about 2 us, what waking a thread costs.
constexpr int64_t kWorkOfChunk = 16384;
/// The iterations of a chunk, of which each costs `work` vector instructions.
Amount grainFor(Amount work);

} // namespace xtensor

#endif // XTENSOR_PASSES_SCHEDULE_GRAIN_H
