// The changes D and E of the factors L and U for a small change T of the rows of L U, and the
// transpose of that map. D U + L E is T. In reverse, Z is the cotangent of T: Z U^T below the
// diagonal, and L^T Z on and above it, are the cotangents of L and U.
//
// Both are solved by the steps of the factorisation, the second in reverse order, in 4/3 n^3
// operations. Our kernels handle blocks of rows and columns, and the library applies them to the
// rest. The routine divides only by pivots with rows below them. Below a pivot of 0, elimination
// had nothing to do, and D is 0.
#include "Lapack.h"
#include "Matrices.h"
#include "SmallMatrices.h"

using namespace xtensor;

namespace {

constexpr int64_t kBlock = kSmallFactors;

/// A copy of a block on the diagonal, in whole vectors.
template <typename T>
struct Diagonal {
  T packed[kBlock * kBlock], x[kBlock * kBlock];
  T lower[kBlock * kBlock], upper[kBlock * kBlock]; ///< those of x
};

/// Two column-major matrices, L U in one and another, whose columns are `leading` apart.
template <typename T>
class Blocks {
public:
  Blocks(int64_t rows, int64_t columns, int64_t leading, const T *lu, T *x, Diagonal<T> &d)
      : m(rows), n(columns), ld(int(leading)), lu(lu), x(x), d(d) {}

  void tangent() {
    for (int64_t j = 0, least = std::min(m, n); j < least; j += kBlock) {
      int64_t k = std::min(least, j + kBlock), size = k - j;
      take(j, size);
      factorsTangent(size, d.packed, d.x, kBlock);
      give(j, size);
      part(size);
      lapack::subtractProduct(false, false, int(m - k), int(size), int(size), at(lu, k, j), ld,
                              d.upper, kBlock, at(x, k, j), ld);
      divideByUpper(false, j, k);
      lapack::subtractProduct(false, false, int(size), int(n - k), int(size), d.lower, kBlock,
                              at(lu, j, k), ld, at(x, j, k), ld);
      divideByLower(false, j, k);
      lapack::subtractProduct(false, false, int(m - k), int(n - k), int(size), at(x, k, j), ld,
                              at(lu, j, k), ld, at(x, k, k), ld);
      lapack::subtractProduct(false, false, int(m - k), int(n - k), int(size), at(lu, k, j), ld,
                              at(x, j, k), ld, at(x, k, k), ld);
    }
  }

  void cotangent() {
    for (int64_t k = std::min(m, n), j; k > 0; k = j) {
      j = (k - 1) / kBlock * kBlock;
      int64_t size = k - j;
      take(j, size);
      lapack::subtractProduct(false, true, int(m - k), int(size), int(n - k), at(x, k, k), ld,
                              at(lu, j, k), ld, at(x, k, j), ld);
      divideByUpper(true, j, k);
      lapack::subtractProduct(true, false, int(size), int(n - k), int(m - k), at(lu, k, j), ld,
                              at(x, k, k), ld, at(x, j, k), ld);
      divideByLower(true, j, k);
      // Each of both products is needed on one side of the diagonal.
      std::fill_n(d.lower, kBlock * size, T(0));
      std::fill_n(d.upper, kBlock * size, T(0));
      lapack::subtractProduct(false, true, int(size), int(size), int(n - k), at(x, j, k), ld,
                              at(lu, j, k), ld, d.lower, kBlock);
      lapack::subtractProduct(true, false, int(size), int(size), int(m - k), at(lu, k, j), ld,
                              at(x, k, j), ld, d.upper, kBlock);
      for (int64_t c = 0; c < size; ++c)
        for (int64_t r = 0; r < size; ++r)
          d.x[c * kBlock + r] += (r > c ? d.lower : d.upper)[c * kBlock + r];
      factorsCotangent(size, d.packed, d.x, kBlock);
      give(j, size);
    }
  }

private:
  template <typename P>
  P *at(P *matrix, int64_t i, int64_t j) const {
    return matrix + i + j * ld;
  }
  void take(int64_t j, int64_t size) {
    for (int64_t c = 0; c < size; ++c) {
      T *packed = d.packed + c * kBlock, *column = d.x + c * kBlock;
      std::copy_n(at(lu, j, j + c), size, packed);
      std::copy_n(at(x, j, j + c), size, column);
      std::fill_n(packed + size, kBlock - size, T(0));
      std::fill_n(column + size, kBlock - size, T(0));
      // What is divided by it becomes 0.
      if (packed[c] == 0)
        packed[c] = std::numeric_limits<T>::infinity();
    }
  }
  void give(int64_t j, int64_t size) const {
    for (int64_t c = 0; c < size; ++c)
      std::copy_n(d.x + c * kBlock, size, at(x, j, j + c));
  }
  void part(int64_t size) {
    for (int64_t c = 0; c < size; ++c)
      for (int64_t r = 0; r < size; ++r) {
        T value = d.x[c * kBlock + r];
        d.lower[c * kBlock + r] = r > c ? value : T(0);
        d.upper[c * kBlock + r] = r > c ? T(0) : value;
      }
  }
  /// x[k:m, j:k] becomes what times op(U)[j:k, j:k] is that.
  void divideByUpper(bool transposed, int64_t j, int64_t k) const {
    if (k < m)
      lapack::trsm('R', 'U', transposed, false, int(m - k), int(k - j), d.packed, kBlock,
                   at(x, k, j), ld);
  }
  /// x[j:k, k:n] becomes what op(L)[j:k, j:k] times it is.
  void divideByLower(bool transposed, int64_t j, int64_t k) const {
    if (k < n)
      lapack::trsm('L', 'L', transposed, true, int(k - j), int(n - k), d.packed, kBlock,
                   at(x, j, k), ld);
  }

  int64_t m, n;
  int ld;
  const T *lu;
  T *x;
  Diagonal<T> &d;
};

template <typename T>
void luTangent(const xt_array *arrays, bool transposed) {
  int64_t m = rowsOf(arrays[0]), n = columnsOf(arrays[0]), k = std::min(m, n);
  int64_t leading = spacedColumns(m);
  const int trailing[] = {2, 2, 2};
  forEachMatrix(arrays, 3, trailing, k, 2.0 / 3 * double(m) * n * k,
                2 * Scratch::bytesFor<T>(n * leading) + Scratch::bytesFor<Diagonal<T>>(1),
                [&](const int64_t *at, Scratch &scratch) {
                  Matrix<T> factors{scratch.take<T>(n * leading), m, n, 1, leading};
                  Matrix<T> x{scratch.take<T>(n * leading), m, n, 1, leading};
                  copy(matrixOf<T>(arrays[0], at[0]), factors);
                  copy(matrixOf<T>(arrays[1], at[1]), x);
                  Blocks<T> blocks(m, n, leading, factors.data, x.data,
                                   *scratch.take<Diagonal<T>>(1));
                  transposed ? blocks.cotangent() : blocks.tangent();
                  copy(x, matrixOf<T>(arrays[2], at[2]));
                });
}

} // namespace

// packed, t -> x. options: transposed.
void xt_lu_tangent(const xt_array *arrays, const int64_t *options) {
  arrays[0].type == XT_F32 ? luTangent<float>(arrays, options[0] != 0)
                           : luTangent<double>(arrays, options[0] != 0);
}
