// The change D of a Cholesky factor L for a small change of A, and the transpose of that map. D
// L^T + L D^T is the change of A. In reverse, X is the cotangent of A, which is symmetric, and the
// lower triangle of X L is half of that of the cotangent of L.
//
// Both are solved by the steps of the factorisation, the second in reverse order, in 2/3 n^3
// operations: Murray, "Differentiation of the Cholesky decomposition" (2016). Our kernels handle
// blocks of columns, and the library applies them to the other columns.
#include "LaneTriangles.h"
#include "Lapack.h"
#include "Matrices.h"
#include "SideBySide.h"
#include "SmallMatrices.h"

using namespace xtensor;

namespace {

/// Two column-major matrices of n columns, L and another, whose columns are `leading` apart.
template <typename T>
class Blocks {
public:
  Blocks(int64_t n, int64_t leading, const T *l, T *x) : n(n), ld(int(leading)), l(l), x(x) {}

  void tangent() {
    for (int64_t j = 0; j < n; j += kSmallMatrix) {
      int64_t k = std::min(n, j + kSmallMatrix);
      subtract(false, true, j, n, j, k, 0, j, x, l, x);
      subtract(false, true, j, n, j, k, 0, j, l, x, x);
      factorTangent(k - j, at(l, j, j), at(x, j, j), ld);
      subtract(false, true, k, n, j, k, j, k, l, x, x);
      divide(true, j, k);
    }
  }

  void cotangent() {
    for (int64_t j = (n - 1) / kSmallMatrix * kSmallMatrix; j >= 0; j -= kSmallMatrix) {
      int64_t k = std::min(n, j + kSmallMatrix);
      subtract(false, false, k, n, j, k, k, n, x, l, x);
      divide(false, j, k);
      subtract(true, false, j, k, j, k, k, n, x, l, x);
      factorCotangent(k - j, at(l, j, j), at(x, j, j), ld);
      copy(Matrix<T>{at(x, k, j), n - k, k - j, 1, ld}.transposed(),
           Matrix<T>{at(x, j, k), k - j, n - k, 1, ld});
    }
  }

private:
  template <typename P>
  P *at(P *matrix, int64_t i, int64_t j) const {
    return matrix + i + j * ld;
  }
  /// c[i:iEnd, j:jEnd] -= op(a)[i:iEnd, p:pEnd] op(b)[p:pEnd, j:jEnd].
  void subtract(bool turnA, bool turnB, int64_t i, int64_t iEnd, int64_t j, int64_t jEnd, int64_t p,
                int64_t pEnd, const T *a, const T *b, T *c) const {
    lapack::subtractProduct(turnA, turnB, int(iEnd - i), int(jEnd - j), int(pEnd - p),
                            turnA ? at(a, p, i) : at(a, i, p), ld,
                            turnB ? at(b, j, p) : at(b, p, j), ld, at(c, i, j), ld);
  }
  /// x[k:n, j:k] becomes what times op(L)[j:k, j:k] is that.
  void divide(bool transposed, int64_t j, int64_t k) {
    if (k < n)
      lapack::trsm('R', 'L', transposed, false, int(n - k), int(k - j), at(l, j, j), ld,
                   at(x, k, j), ld);
  }

  int64_t n;
  int ld;
  const T *l;
  T *x;
};

/// As `choleskyTangent`, of a batch of small matrices.
template <typename T>
void tangentSideBySide(const xt_array *arrays, const Batches &loops, bool transposed) {
  int64_t n = rowsOf(arrays[0]);
  size_t bytes = 2 * Scratch::bytesFor<T>(n * n * kMatrixLanes);
  forEachBlock(loops, double(n) * n * n / 3, bytes, [&](const LaneBlock &block, Scratch &scratch) {
    T *l = scratch.take<T>(n * n * kMatrixLanes), *x = scratch.take<T>(n * n * kMatrixLanes);
    block.load(arrays[0], 0, l);
    block.load(arrays[1], 1, x);
    if (transposed)
      choleskyCotangentLanes(n, l, x);
    else
      choleskyTangentLanes(n, l, x);
    block.store(x, arrays[2], 2);
  });
}

template <typename T>
void choleskyTangent(const xt_array *arrays, bool transposed) {
  int64_t n = rowsOf(arrays[0]);
  bool square = n == columnsOf(arrays[0]);
  int64_t leading = spacedColumns(n);
  const int trailing[] = {2, 2, 2};
  Batches loops(arrays, 3, trailing);
  if (squaresFillLanes(n, columnsOf(arrays[0]), loops.count()))
    return tangentSideBySide<T>(arrays, loops, transposed);
  forEachMatrix(arrays, 3, trailing, n, double(n) * n * n / 3,
                2 * Scratch::bytesFor<T>(n * leading), [&](const int64_t *at, Scratch &scratch) {
                  Matrix<T> l = matrixOf<T>(arrays[0], at[0]), t = matrixOf<T>(arrays[1], at[1]),
                            to = matrixOf<T>(arrays[2], at[2]);
                  if (!square)
                    return to.fill(kNaN<T>);
                  Matrix<T> factor{scratch.take<T>(n * leading), n, n, 1, leading};
                  Matrix<T> x{scratch.take<T>(n * leading), n, n, 1, leading};
                  for (int64_t j = 0; j < n; ++j) {
                    std::fill_n(&factor.at(n, j), leading - n, T(0));
                    std::fill_n(&x.at(n, j), leading - n, T(0));
                  }
                  copy(l, factor);
                  Blocks<T> blocks(n, leading, factor.data, x.data);
                  if (transposed) {
                    copy(t, x);
                    for (int64_t j = 0; j < n; ++j)
                      for (int64_t i = j; i < n; ++i)
                        x.at(i, j) *= T(0.5);
                    blocks.cotangent();
                    return copy(x, to);
                  }
                  copySymmetric(t, x);
                  blocks.tangent();
                  for (int64_t j = 0; j < n; ++j)
                    std::fill_n(&x.at(0, j), j, T(0));
                  copy(x, to);
                });
}

} // namespace

// l, t -> x. options: transposed.
void xt_cholesky_tangent(const xt_array *arrays, const int64_t *options) {
  arrays[0].type == XT_F32 ? choleskyTangent<float>(arrays, options[0] != 0)
                           : choleskyTangent<double>(arrays, options[0] != 0);
}
