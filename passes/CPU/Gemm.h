// Contractions that a matrix library does better than loops.
#ifndef XTENSOR_PASSES_CPU_GEMM_H
#define XTENSOR_PASSES_CPU_GEMM_H

#include "CPU/Stage.h"

namespace xtensor::cpu {

/// Calls xt_gemm_* for `kernel` if it is C[b.., m, n] (+)= A[b.., m, k] * B[b.., k, n] with either
/// operand transposed or not; returns whether it did.
bool emitGemm(mlir::OpBuilder &b, Kernel &kernel);

} // namespace xtensor::cpu

#endif // XTENSOR_PASSES_CPU_GEMM_H
