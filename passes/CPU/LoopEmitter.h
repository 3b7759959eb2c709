// Writes a kernel as loops over vectors.
#ifndef XTENSOR_PASSES_CPU_LOOPEMITTER_H
#define XTENSOR_PASSES_CPU_LOOPEMITTER_H

#include "CPU/Stage.h"

namespace xtensor::cpu {

struct VectorTarget {
  int64_t bits = 512;
  bool masks = true; // masked loads and stores cost what plain ones do
};

/// Emits `kernel` at the insertion point of `b`.
void emitLoops(mlir::OpBuilder &b, Kernel &kernel, Views &views, VectorTarget target);

} // namespace xtensor::cpu

#endif // XTENSOR_PASSES_CPU_LOOPEMITTER_H
