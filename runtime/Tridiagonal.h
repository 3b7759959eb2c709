// Eigenvalues and vectors of symmetric tridiagonal matrices of a few cache lines.
#pragma once

#include <cstdint>

namespace xtensor {

/// Up to this size it is faster than the library, which divides the matrix.
constexpr int64_t kSmallTridiagonal = 64;

/// The eigenvalues of a tridiagonal matrix in place of `diagonal`, in ascending order. `below` has
/// the n - 1 elements beside the diagonal, and room for one more. `q` is column-major and
/// orthogonal: it becomes q V, V the eigenvectors. False if the numbers are too large or too small
/// for it, or if it does not converge; all three are of no use then.
bool tridiagonalEigh(int64_t n, float *diagonal, float *below, float *q);
bool tridiagonalEigh(int64_t n, double *diagonal, double *below, double *q);

} // namespace xtensor
