// Kernels for matrices of a few cache lines, for which a library call costs more than the work.
#pragma once

#include <cstdint>

namespace xtensor {

/// Up to this size they are faster than the library.
constexpr int64_t kSmallMatrix = 96;
/// Blocks of LU factors of which derivatives are made by kernels: rows and columns.
constexpr int64_t kSmallFactors = 32;
/// The number of columns of a right-hand side that are solved at a time: row-major, this many per
/// row.
constexpr int64_t kSolveColumns = 32;

/// B = A^T: B is row-major, rows x columns, its rows `toRow` apart, and those of A `fromRow`.
void transpose(int64_t rows, int64_t columns, const float *from, int64_t fromRow, float *to,
               int64_t toRow);
void transpose(int64_t rows, int64_t columns, const double *from, int64_t fromRow, double *to,
               int64_t toRow);

/// X of L X = X in place: L is n x n with any strides (negative ones, too), of which the lower
/// triangle is read; X has `columns` columns, 1 or a multiple of kSolveColumns, and its rows are
/// `leading` apart.
void solveLower(int64_t n, const float *l, int64_t rowStride, int64_t columnStride, bool unit,
                float *x, int64_t columns, int64_t leading);
void solveLower(int64_t n, const double *l, int64_t rowStride, int64_t columnStride, bool unit,
                double *x, int64_t columns, int64_t leading);

/// L X in place of X, of the same; `strict`: the diagonal of L counts as zeros.
void multiplyLower(int64_t n, const float *l, int64_t rowStride, int64_t columnStride, bool strict,
                   float *x, int64_t columns, int64_t leading);
void multiplyLower(int64_t n, const double *l, int64_t rowStride, int64_t columnStride, bool strict,
                   double *x, int64_t columns, int64_t leading);

/// C += A B on and below the diagonal, row-major: A is n x k, rows `k` apart, B k x n and C n x n,
/// rows `leading` apart, a multiple of 16. What lies above the diagonal in C may become anything.
void addLowerProduct(int64_t n, int64_t k, const float *a, const float *b, float *c,
                     int64_t leading);
void addLowerProduct(int64_t n, int64_t k, const double *a, const double *b, double *c,
                     int64_t leading);

/// The upper triangular U of U^T U = S in place of the upper triangle of S, whose rows are
/// `leading` apart, a multiple of 16. False if S is not positive definite.
bool factorUpper(int64_t n, float *s, int64_t leading);
bool factorUpper(int64_t n, double *s, int64_t leading);

/// Of matrices given transposed, by rows that are `leading` apart, whole vectors of 16 of which may
/// be read: L is lower triangular. D of D L^T + L D^T = B, lower triangular, in place of the lower
/// triangle of B; zeros above it.
void factorTangent(int64_t n, const float *l, float *b, int64_t leading);
void factorTangent(int64_t n, const double *l, double *b, int64_t leading);

/// The symmetric X of which X L has the lower triangle of C, in place of C.
void factorCotangent(int64_t n, const float *l, float *c, int64_t leading);
void factorCotangent(int64_t n, const double *l, double *c, int64_t leading);

/// Of column-major matrices whose columns are `leading` apart, whole vectors of 16 that end in
/// zeros: D and E of D U + L E = X in place of X, D below the diagonal and E on and above it, for
/// the L and U of `packed`.
void factorsTangent(int64_t n, const float *packed, float *x, int64_t leading);
void factorsTangent(int64_t n, const double *packed, double *x, int64_t leading);

/// Z of which Z U^T has what lies below the diagonal of X, and L^T Z the rest, in place of X.
void factorsCotangent(int64_t n, const float *packed, float *x, int64_t leading);
void factorsCotangent(int64_t n, const double *packed, double *x, int64_t leading);

} // namespace xtensor
