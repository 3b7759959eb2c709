#include "SmallMatrices.h"

#include <cmath>

// One version per generation of vector instructions, chosen when the library is loaded.
#if defined(__x86_64__) && defined(__linux__) && defined(__clang__)
#define XT_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define XT_CLONES
#endif
#define XT_INLINE inline __attribute__((always_inline))

namespace {

template <typename T, int64_t columns>
XT_INLINE void solve(int64_t n, const T *l, int64_t rowStride, int64_t columnStride, bool unit,
                     T *x) {
  for (int64_t i = 0; i < n; ++i) {
    T row[columns];
    const T *li = l + i * rowStride;
    for (int64_t c = 0; c < columns; ++c)
      row[c] = x[i * columns + c];
    for (int64_t j = 0; j < i; ++j) {
      T factor = li[j * columnStride];
      for (int64_t c = 0; c < columns; ++c)
        row[c] -= factor * x[j * columns + c];
    }
    if (!unit) {
      T pivot = li[i * columnStride];
      for (int64_t c = 0; c < columns; ++c)
        row[c] /= pivot;
    }
    for (int64_t c = 0; c < columns; ++c)
      x[i * columns + c] = row[c];
  }
}

template <typename T>
XT_INLINE void subtract(T *__restrict y, const T *__restrict x, T factor, int64_t begin,
                        int64_t end) {
  for (int64_t j = begin; j < end; j += 16)
    for (int64_t v = 0; v < 16; ++v)
      y[j + v] -= factor * x[j + v];
}

template <typename T>
XT_INLINE bool factor(int64_t n, T *s, int64_t leading) {
  for (int64_t k = 0; k < n; ++k) {
    T *row = s + k * leading;
    if (!(row[k] > 0) || std::isinf(row[k]))
      return false;
    T root = std::sqrt(row[k]), inverse = 1 / root;
    for (int64_t j = k + 1; j < n; ++j)
      row[j] *= inverse;
    row[k] = root;
    for (int64_t i = k + 1; i < n; ++i) {
      // What lies below the diagonal, or beyond n, is never read: whole vectors.
      subtract(s + i * leading, row, row[i], i & ~int64_t(15), leading);
    }
  }
  return true;
}

} // namespace

namespace xtensor {

XT_CLONES void solveLower(int64_t n, const float *l, int64_t rowStride, int64_t columnStride,
                          bool unit, float *x, int64_t columns) {
  if (columns == 1)
    return solve<float, 1>(n, l, rowStride, columnStride, unit, x);
  solve<float, kSolveColumns>(n, l, rowStride, columnStride, unit, x);
}
XT_CLONES void solveLower(int64_t n, const double *l, int64_t rowStride, int64_t columnStride,
                          bool unit, double *x, int64_t columns) {
  if (columns == 1)
    return solve<double, 1>(n, l, rowStride, columnStride, unit, x);
  solve<double, kSolveColumns>(n, l, rowStride, columnStride, unit, x);
}

XT_CLONES bool factorUpper(int64_t n, float *s, int64_t leading) { return factor(n, s, leading); }
XT_CLONES bool factorUpper(int64_t n, double *s, int64_t leading) { return factor(n, s, leading); }

} // namespace xtensor
