// The part on and below the diagonal of a product A B^T, summed over any axes:
// xt_triangle_of_product. Parts of both factors are copied into scratch memory, so they may have
// any strides. Our kernel computes blocks on the diagonal, and the library computes those below
// it.
#include "LaneTriangles.h"
#include "Lapack.h"
#include "Matrices.h"
#include "SideBySide.h"
#include "SmallMatrices.h"

using namespace xtensor;

namespace {

// So many of the terms are summed at a time.
constexpr int64_t kTerms = 256;

/// Copies the terms from `begin` on that `to` has columns for, of all rows: the axes after `row`,
/// the last one fastest.
template <typename T>
void terms(const xt_array &a, int row, int64_t offset, int64_t begin, const Matrix<T> &to) {
  bool any = row + 1 < a.rank;
  int64_t inner = any ? a.sizes[a.rank - 1] : 1, stride = any ? a.strides[a.rank - 1] : 0;
  for (int64_t k = 0; k < to.columns;) {
    int64_t first = (begin + k) % inner, rest = (begin + k) / inner;
    int64_t count = std::min(to.columns - k, inner - first);
    const T *from = static_cast<const T *>(a.data) + offset + first * stride;
    for (int d = a.rank - 2; d > row; --d) {
      from += rest % a.sizes[d] * a.strides[d];
      rest /= a.sizes[d];
    }
    copy(Matrix<const T>{from, to.rows, count, a.strides[row], stride},
         Matrix<T>{to.data + k * to.columnStride, to.rows, count, to.rowStride, to.columnStride});
    k += count;
  }
}

/// As `triangleOfProduct`, of a batch of small matrices with terms along one axis, or with one
/// term.
template <typename T>
void productSideBySide(const xt_array *arrays, const Batches &loops, bool strict) {
  const xt_array &x = arrays[2];
  int row = x.rank - 2;
  int64_t n = x.sizes[row];
  auto factor = [&](const xt_array &a) {
    return a.rank == row + 1 ? columnOf<T>(a) : matrixOf<T>(a);
  };
  Matrix<T> a = factor(arrays[0]), b = factor(arrays[1]);
  size_t bytes = 2 * Scratch::bytesFor<T>(n * a.columns * kMatrixLanes) +
                 Scratch::bytesFor<T>(n * n * kMatrixLanes);
  forEachBlock(loops, double(n) * n * a.columns / 2, bytes,
               [&](const LaneBlock &block, Scratch &scratch) {
                 T *left = scratch.take<T>(n * a.columns * kMatrixLanes);
                 T *right = scratch.take<T>(n * a.columns * kMatrixLanes);
                 T *product = scratch.take<T>(n * n * kMatrixLanes);
                 block.load(a, 0, left);
                 block.load(b, 1, right);
                 triangleOfProductLanes(n, a.columns, left, right, strict, product);
                 block.store(product, x, 2);
               });
}

template <typename T>
void triangleOfProduct(const xt_array *arrays, bool strict) {
  const xt_array &a = arrays[0], &b = arrays[1], &x = arrays[2];
  int row = x.rank - 2;
  int64_t n = x.sizes[row], count = 1, leading = (n + 15) / 16 * 16;
  // Sizes that only a call knows are compared where the triangle was read.
  bool square = n == x.sizes[row + 1];
  for (int d = row + 1; d < a.rank; ++d)
    count *= a.sizes[d];
  int64_t most = std::min(count, kTerms);
  const int trailing[] = {a.rank - row, b.rank - row, 2};
  Batches loops(arrays, 3, trailing);
  if (a.rank <= row + 2 && count > 0 && count <= kLaneColumns &&
      squaresFillLanes(n, x.sizes[row + 1], loops.count()))
    return productSideBySide<T>(arrays, loops, strict);
  size_t bytes = Scratch::bytesFor<T>(n * most) + Scratch::bytesFor<T>(leading * most) +
                 Scratch::bytesFor<T>(n * leading);
  forEachMatrix(arrays, 3, trailing, n, double(n) * n * count / 2, bytes,
                [&](const int64_t *at, Scratch &scratch) {
                  Matrix<T> to = matrixOf<T>(x, at[2]);
                  if (!square)
                    return to.fill(kNaN<T>);
                  T *left = scratch.take<T>(n * most), *right = scratch.take<T>(leading * most);
                  T *sum = scratch.take<T>(n * leading);
                  std::fill_n(sum, n * leading, T(0));
                  for (int64_t begin = 0; begin < count; begin += most) {
                    int64_t k = std::min(most, count - begin);
                    terms(a, row, at[0], begin, Matrix<T>{left, n, k, k, 1});
                    terms(b, row, at[1], begin, Matrix<T>{right, n, k, 1, leading});
                    for (int64_t p = 0; p < k; ++p)
                      std::fill_n(right + p * leading + n, leading - n, T(0));
                    for (int64_t j = 0; j < n; j += kSmallMatrix) {
                      int64_t now = std::min(kSmallMatrix, n - j), next = j + now;
                      addLowerProduct(now, k, left + j * k, right + j, sum + j * leading + j,
                                      leading);
                      // Row-major is column-major of the transposed matrices.
                      lapack::addProduct(T(1), false, false, int(now), int(n - next), int(k),
                                         right + j, int(leading), left + next * k, int(k),
                                         sum + next * leading + j, int(leading));
                    }
                  }
                  for (int64_t i = 0; i < n; ++i)
                    std::fill(sum + i * leading + i + !strict, sum + i * leading + n, T(0));
                  copy(Matrix<T>{sum, n, n, leading, 1}, to);
                });
}

} // namespace

// a, b -> x. options: strict.
void xt_triangle_of_product(const xt_array *arrays, const int64_t *options) {
  arrays[0].type == XT_F32 ? triangleOfProduct<float>(arrays, options[0] != 0)
                           : triangleOfProduct<double>(arrays, options[0] != 0);
}
