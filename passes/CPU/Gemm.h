// Recognizes contractions that a matrix library computes faster than loops.
#ifndef XTENSOR_PASSES_CPU_GEMM_H
#define XTENSOR_PASSES_CPU_GEMM_H

#include "CPU/Stage.h"

namespace xtensor::cpu {

/// Below this many multiplications loops are faster than a call of the library.
constexpr int64_t kSmallestGemm = 4096;

/// Whether `kernel` does nothing but add products of its first two operands, f32 or
/// f64, to its output. Further operands only give ranges.
bool isProductSum(Kernel &kernel);

/// Whether `kernel` is C[b.., m, n] (+)= A[b.., m, k] * B[b.., k, n] with either operand transposed
/// or not, and large enough for a library.
bool isGemm(Kernel &kernel);

/// Calls xt_gemm_* for `kernel` if it is one; returns whether it did.
bool emitGemm(mlir::OpBuilder &b, Kernel &kernel);

} // namespace xtensor::cpu

#endif // XTENSOR_PASSES_CPU_GEMM_H
