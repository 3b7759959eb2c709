// Convolutions, and products of small matrices, summed in registers.
#ifndef XTENSOR_PASSES_CPU_WINDOWPRODUCT_H
#define XTENSOR_PASSES_CPU_WINDOWPRODUCT_H

#include "CPU/LoopEmitter.h"

namespace xtensor::cpu {

/// Writes a tiled product (ProductTiles.h) as loops over tiles of the result; returns whether it
/// did.
bool emitWindowProduct(mlir::OpBuilder &b, Kernel &kernel, Views &views, VectorTarget target);

} // namespace xtensor::cpu

#endif // XTENSOR_PASSES_CPU_WINDOWPRODUCT_H
