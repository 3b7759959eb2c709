// Convolutions: products of windows and a kernel, summed in registers.
#ifndef XTENSOR_PASSES_CPU_WINDOWPRODUCT_H
#define XTENSOR_PASSES_CPU_WINDOWPRODUCT_H

#include "CPU/LoopEmitter.h"

namespace xtensor::cpu {

/// Whether `kernel` is a convolution with a kernel of one place, hence a product of matrices, for
/// which tiles take less time than a library: its sums are short, and the first cache holds the
/// factor that is read as vectors.
bool isShortWindowProduct(Kernel &kernel);

/// Whether `kernel` is a sum of products that reads windows, and has a loop for vectors. It shares
/// its loops with nothing then.
bool isWindowProduct(Kernel &kernel);

/// Writes such a kernel as loops over tiles of the result; returns whether it did.
bool emitWindowProduct(mlir::OpBuilder &b, Kernel &kernel, Views &views, VectorTarget target);

} // namespace xtensor::cpu

#endif // XTENSOR_PASSES_CPU_WINDOWPRODUCT_H
