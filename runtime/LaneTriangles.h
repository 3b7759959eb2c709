// Triangles of small matrices side by side: one matrix in each lane of a vector, as LaneFactors.h
// has them. The other triangle of a matrix is not read.
#pragma once

#include "LaneFactors.h"

namespace xtensor {

/// X of A X = X in place, for n x n triangles: X has `columns` columns. `unit`: the diagonal is not
/// read, and counts as ones.
void solveTriangleLanes(int64_t n, const float *a, bool upper, bool unit, float *x,
                        int64_t columns);
void solveTriangleLanes(int64_t n, const double *a, bool upper, bool unit, double *x,
                        int64_t columns);

/// A X in place of X, of the same; `strict`: the diagonal is not read, and counts as zeros.
void multiplyTriangleLanes(int64_t n, const float *a, bool upper, bool strict, float *x,
                           int64_t columns);
void multiplyTriangleLanes(int64_t n, const double *a, bool upper, bool strict, double *x,
                           int64_t columns);

/// X = the terms of A B^T on and below the diagonal, zeros above it: A and B are n x `terms`.
/// `strict`: zeros on the diagonal, too.
void triangleOfProductLanes(int64_t n, int64_t terms, const float *a, const float *b, bool strict,
                            float *x);
void triangleOfProductLanes(int64_t n, int64_t terms, const double *a, const double *b, bool strict,
                            double *x);

/// The lower triangular D of D L^T + L D^T = (X + X^T) / 2 in place of X.
void choleskyTangentLanes(int64_t n, const float *l, float *x);
void choleskyTangentLanes(int64_t n, const double *l, double *x);

/// The symmetric C of which C L has half of the lower triangle of X, in place of X.
void choleskyCotangentLanes(int64_t n, const float *l, float *x);
void choleskyCotangentLanes(int64_t n, const double *l, double *x);

} // namespace xtensor
