// Products of matrices whose sums have few terms, or that have few rows and columns. OpenBLAS packs
// both factors for such a product, which takes as long as the product itself.
#pragma once

#include <cstdint>

namespace xtensor {

/// Rows and columns of a product that is multiplied without copies, however many terms it has.
constexpr int64_t kFewRows = 128;

/// Whether multiplyShort is the faster one, B being stored row by row.
constexpr bool isShort(int64_t m, int64_t n, int64_t k) {
  return m >= 4 &&
         (k <= 32 || (k <= 64 && (m <= 64 || n <= 64)) || (m <= kFewRows && n <= kFewRows));
}

/// C[m, n] = op(A)[m, k] B[k, n], or added to C. False where the processor lacks AVX-512: then
/// nothing was done. Each sum is taken in the same order, whatever tile it is in.
bool multiplyShort(bool transA, int64_t m, int64_t n, int64_t k, const float *a, int64_t lda,
                   const float *b, int64_t ldb, float *c, int64_t ldc, bool accumulate);
bool multiplyShort(bool transA, int64_t m, int64_t n, int64_t k, const double *a, int64_t lda,
                   const double *b, int64_t ldb, double *c, int64_t ldc, bool accumulate);

} // namespace xtensor
