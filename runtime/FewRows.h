// Products of a few rows and a large matrix. OpenBLAS packs the matrix, which takes longer than
// the product: this reads it once, where it is.
#pragma once

#include <cstdint>

namespace xtensor {

/// Rows that are few, the least sides of the matrix for which they are, and, if they are more than
/// `kVeryFewRows`, its least elements.
constexpr int64_t kMostFewRows = 24, kLeastSide = 32, kVeryFewRows = 8, kLeastElements = 1 << 16;

/// Whether the processor has AVX-512, which these products need.
bool hasFewRowProducts();

inline bool areFewRows(int64_t rows, int64_t columns, int64_t k) {
  return hasFewRowProducts() && rows >= 2 && rows <= kMostFewRows && columns >= kLeastSide &&
         k >= kLeastSide;
}

/// C[m, n] = A[m, k] B[k, n], or added to C, with few rows of A. `row` and `term` are the steps in
/// A. Each sum is taken in the same order, whatever part of the columns is asked for.
void multiplyFewRows(int64_t m, int64_t n, int64_t k, const float *a, int64_t row, int64_t term,
                     const float *b, int64_t ldb, float *c, int64_t ldc, bool accumulate);
void multiplyFewRows(int64_t m, int64_t n, int64_t k, const double *a, int64_t row, int64_t term,
                     const double *b, int64_t ldb, double *c, int64_t ldc, bool accumulate);

/// The same for the transpose of B[n, k], and A row by row. `row` and `column` are the steps in C.
void multiplyFewTransposed(int64_t m, int64_t n, int64_t k, const float *a, int64_t lda,
                           const float *b, int64_t ldb, float *c, int64_t row, int64_t column,
                           bool accumulate);
void multiplyFewTransposed(int64_t m, int64_t n, int64_t k, const double *a, int64_t lda,
                           const double *b, int64_t ldb, double *c, int64_t row, int64_t column,
                           bool accumulate);

} // namespace xtensor
