// Factors of small matrices side by side: one matrix in each lane of a vector. Element (i, j) of
// lane v of a matrix of n columns is a[(i n + j) kMatrixLanes + v].
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace xtensor {

/// Matrices that are factored side by side, one in each lane, and the largest of these.
constexpr int64_t kMatrixLanes = 16, kLaneMatrix = 16;
/// The same of QR factors, of which both sizes count.
constexpr int64_t kLaneReflections = 32;
/// With more columns, vectors along the rows of one right-hand side are faster.
constexpr int64_t kLaneColumns = 8;

/// L and U of n x n matrices in their place, rows exchanged for the largest pivots: element (i, j)
/// of lane v is a[(i n + j) kMatrixLanes + v]. Row i of L U was row order[i kMatrixLanes + v], and
/// `parity` is the sign of this order. A matrix that is not finite becomes NaN, its rows in order.
void factorLanes(int64_t n, float *a, int32_t *order, float *parity);
void factorLanes(int64_t n, double *a, int32_t *order, double *parity);

/// X of L U X = X in place, or of its transposed (U^T L^T X = X), for the factors of factorLanes: X
/// has `columns` columns. `identity`: X has n columns and begins as the identity.
void solveLanes(int64_t n, const float *factors, bool transposed, bool identity, float *x,
                int64_t columns);
void solveLanes(int64_t n, const double *factors, bool transposed, bool identity, double *x,
                int64_t columns);

/// The lower triangular L of L L^T = (A + A^T) / 2 in place of A, zeros above it. NaN if A is not
/// positive definite.
void choleskyLanes(int64_t n, float *a);
void choleskyLanes(int64_t n, double *a);

/// Q and R of m x n matrices, by reflections as LAPACK's: R in the first min(m, n) rows of A, zeros
/// below its diagonal, and Q with min(m, n) columns. NaN if A is not finite.
void qrLanes(int64_t m, int64_t n, float *a, float *q);
void qrLanes(int64_t m, int64_t n, double *a, double *q);

/// The eigenvalues of (A + A^T) / 2 in ascending order, and its eigenvectors as columns, with the
/// signs of `signOfColumn`; A is lost. By Jacobi's rotations. NaN if A is not finite.
void eighLanes(int64_t n, float *a, float *values, float *vectors);
void eighLanes(int64_t n, double *a, double *values, double *vectors);

/// The singular values of m x n matrices of m >= n rows in descending order, the left vectors as
/// columns of U (m x n), and the right ones as rows of `vectors` (n x n). `b` has the columns of a
/// matrix as its rows, and is lost; `space` is as large. By Jacobi's rotations of columns. Columns
/// of U have the signs of `signOfColumn`; if `transposed`, rows of `vectors` have them. NaN if a
/// matrix is not finite.
void svdLanes(int64_t m, int64_t n, float *b, float *values, float *u, float *vectors, float *space,
              bool transposed);
void svdLanes(int64_t m, int64_t n, double *b, double *values, double *u, double *vectors,
              double *space, bool transposed);

/// Of a column of eigenvectors or of left singular vectors: the sign of the first element that is
/// at least this part of the largest one. Each routine makes it positive, so that vectors do not
/// depend on the routine.
constexpr double kLeastOfSign = 0.4;
template <typename T>
T signOfColumn(int64_t n, const T *x) {
  T largest = 0, sign = 1;
  for (int64_t i = 0; i < n; ++i)
    largest = std::max(largest, std::abs(x[i]));
  for (int64_t i = n; i-- > 0;)
    if (std::abs(x[i]) > T(kLeastOfSign) * largest)
      sign = x[i] < 0 ? T(-1) : T(1);
  return sign;
}

} // namespace xtensor
