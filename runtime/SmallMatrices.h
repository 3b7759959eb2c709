// Kernels for matrices of a few cache lines, where a library call costs more than the work.
#pragma once

#include <cstdint>

namespace xtensor {

/// Up to this size they are faster than the library.
constexpr int64_t kSmallMatrix = 96;
/// Columns that a right-hand side is solved by at a time: row-major, so many per row.
constexpr int64_t kSolveColumns = 32;

/// X of L X = X in place: L is n x n with any strides (negative ones, too), of which the lower
/// triangle is read; X has `columns` columns, 1 or a multiple of kSolveColumns, and its rows are
/// `leading` apart.
void solveLower(int64_t n, const float *l, int64_t rowStride, int64_t columnStride, bool unit,
                float *x, int64_t columns, int64_t leading);
void solveLower(int64_t n, const double *l, int64_t rowStride, int64_t columnStride, bool unit,
                double *x, int64_t columns, int64_t leading);

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

} // namespace xtensor
