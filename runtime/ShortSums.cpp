// A tile of the result, 12 rows of two vectors, stays in registers. Its terms come from where the
// factors are: nothing is packed.
#include "ShortSums.h"
#include "WideVectors.h"

#ifdef XT_HAS_WIDE_VECTORS

using namespace xtensor;

namespace {

constexpr int64_t kTileRows = 12;
/// Bytes of B that are multiplied with all rows of A before the next: they stay in the second
/// cache.
constexpr int64_t kPanelBytes = 256 << 10;
/// Terms that are summed in registers. The sums of longer ones are added up in C.
constexpr int64_t kTermsTogether = 128;

template <typename T>
struct Factors {
  const T *a;
  int64_t row, term; // steps in A
  const T *b;
  int64_t ldb;
  T *c;
  int64_t ldc;
  int64_t k;
  bool accumulate;
};

/// `masks`: of the columns of each vector that there are; none: all.
template <typename T, int64_t rows, int64_t vectors, typename... Masks>
XT_V4_INLINE void tile(const Factors<T> &f, int64_t i, int64_t j, const Masks *...masks) {
  using V = Vector<T>;
  T *c = f.c + i * f.ldc + j;
  typename V::Type sums[rows][vectors];
  sumTerms<T, 0>(sums, f.a + i * f.row, f.row, f.term, f.b + j, f.ldb, f.k, masks...);
#pragma clang loop unroll(full)
  for (int64_t r = 0; r < rows; ++r)
#pragma clang loop unroll(full)
    for (int64_t s = 0; s < vectors; ++s) {
      T *to = c + r * f.ldc + s * V::size;
      V::store(to, f.accumulate ? V::load(to, masks[s]...) + sums[r][s] : sums[r][s], masks[s]...);
    }
}

/// Rows of tiles along the columns [first, last), the last of which may be cut off.
template <typename T, int64_t rows>
XT_V4_INLINE void rowsOfTiles(const Factors<T> &f, int64_t i, int64_t first, int64_t last) {
  constexpr int64_t size = Vector<T>::size;
  int64_t j = first;
  for (; j + 2 * size <= last; j += 2 * size)
    tile<T, rows, 2>(f, i, j);
  int64_t rest = last - j, masks[2] = {maskOf(rest, size), maskOf(rest - size, size)};
  if (rest > size)
    tile<T, rows, 2>(f, i, j, masks);
  else if (rest == size)
    tile<T, rows, 1>(f, i, j);
  else if (rest > 0)
    tile<T, rows, 1>(f, i, j, masks);
}

template <typename T>
XT_V4_INLINE void multiply(int64_t m, int64_t n, const Factors<T> &f) {
  constexpr int64_t width = 2 * Vector<T>::size;
  int64_t fitting = kPanelBytes / int64_t(sizeof(T)) / f.k / width * width;
  int64_t panel = fitting > width ? fitting : width;
  for (int64_t first = 0; first < n; first += panel) {
    int64_t last = n - first < panel ? n : first + panel, i = 0;
    for (; i + kTileRows <= m; i += kTileRows)
      rowsOfTiles<T, kTileRows>(f, i, first, last);
    for (; i + 4 <= m; i += 4)
      rowsOfTiles<T, 4>(f, i, first, last);
    for (; i < m; ++i)
      rowsOfTiles<T, 1>(f, i, first, last);
  }
}

template <typename T>
XT_V4_INLINE void multiplyParts(int64_t m, int64_t n, Factors<T> f) {
  int64_t terms = f.k;
  for (int64_t l = 0; l < terms; l += kTermsTogether) {
    f.k = terms - l < kTermsTogether ? terms - l : kTermsTogether;
    multiply(m, n, f);
    f.a += f.k * f.term;
    f.b += f.k * f.ldb;
    f.accumulate = true;
  }
}

XT_V4 void multiplyF32(int64_t m, int64_t n, const Factors<float> &f) { multiplyParts(m, n, f); }
XT_V4 void multiplyF64(int64_t m, int64_t n, const Factors<double> &f) { multiplyParts(m, n, f); }

} // namespace

bool xtensor::multiplyShort(bool transA, int64_t m, int64_t n, int64_t k, const float *a,
                            int64_t lda, const float *b, int64_t ldb, float *c, int64_t ldc,
                            bool accumulate) {
  if (!hasVectors())
    return false;
  multiplyF32(m, n, {a, transA ? 1 : lda, transA ? lda : 1, b, ldb, c, ldc, k, accumulate});
  return true;
}

bool xtensor::multiplyShort(bool transA, int64_t m, int64_t n, int64_t k, const double *a,
                            int64_t lda, const double *b, int64_t ldb, double *c, int64_t ldc,
                            bool accumulate) {
  if (!hasVectors())
    return false;
  multiplyF64(m, n, {a, transA ? 1 : lda, transA ? lda : 1, b, ldb, c, ldc, k, accumulate});
  return true;
}

#else

bool xtensor::multiplyShort(bool, int64_t, int64_t, int64_t, const float *, int64_t, const float *,
                            int64_t, float *, int64_t, bool) {
  return false;
}

bool xtensor::multiplyShort(bool, int64_t, int64_t, int64_t, const double *, int64_t,
                            const double *, int64_t, double *, int64_t, bool) {
  return false;
}

#endif
