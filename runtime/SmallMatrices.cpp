#include "SmallMatrices.h"
#include "Clones.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace xtensor;

namespace {

/// Of a tile of 8 x 8.
template <typename T>
XT_INLINE void transposeTile(const T *from, int64_t fromRow, T *to, int64_t toRow) {
  typedef T Row __attribute__((vector_size(8 * sizeof(T))));
  Row rows[8], mixed[8];
  for (int64_t i = 0; i < 8; ++i)
    std::memcpy(&rows[i], from + i * fromRow, sizeof(Row));
  // Each step interleaves the rows with those four further on. Three of them transpose.
  for (int64_t step = 0; step < 3; ++step) {
    for (int64_t i = 0; i < 4; ++i) {
      mixed[2 * i] = __builtin_shufflevector(rows[i], rows[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
      mixed[2 * i + 1] = __builtin_shufflevector(rows[i], rows[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
    }
    for (int64_t i = 0; i < 8; ++i)
      rows[i] = mixed[i];
  }
  for (int64_t i = 0; i < 8; ++i)
    std::memcpy(to + i * toRow, &rows[i], sizeof(Row));
}

template <typename T>
XT_INLINE void transposeAny(int64_t rows, int64_t columns, const T *from, int64_t fromRow, T *to,
                            int64_t toRow) {
  // In blocks: what a block reads and writes stays in the cache.
  constexpr int64_t kBlock = 32, kTile = 8;
  for (int64_t i0 = 0; i0 < rows; i0 += kBlock)
    for (int64_t j0 = 0; j0 < columns; j0 += kBlock)
      for (int64_t i = i0; i < std::min(rows, i0 + kBlock); i += kTile)
        for (int64_t j = j0; j < std::min(columns, j0 + kBlock); j += kTile) {
          const T *tile = from + j * fromRow + i;
          T *result = to + i * toRow + j;
          if (i + kTile <= rows && j + kTile <= columns) {
            transposeTile(tile, fromRow, result, toRow);
            continue;
          }
          for (int64_t r = 0; r < std::min(kTile, rows - i); ++r)
            for (int64_t c = 0; c < std::min(kTile, columns - j); ++c)
              result[r * toRow + c] = tile[c * fromRow + r];
        }
}

template <typename T, int64_t columns>
XT_INLINE void solve(int64_t n, const T *l, int64_t rowStride, int64_t columnStride, bool unit,
                     T *x, int64_t leading) {
  for (int64_t i = 0; i < n; ++i) {
    T row[columns];
    const T *li = l + i * rowStride;
    for (int64_t c = 0; c < columns; ++c)
      row[c] = x[i * leading + c];
    for (int64_t j = 0; j < i; ++j) {
      T factor = li[j * columnStride];
      for (int64_t c = 0; c < columns; ++c)
        row[c] -= factor * x[j * leading + c];
    }
    if (!unit) {
      T pivot = li[i * columnStride];
      for (int64_t c = 0; c < columns; ++c)
        row[c] /= pivot;
    }
    for (int64_t c = 0; c < columns; ++c)
      x[i * leading + c] = row[c];
  }
}

template <typename T, int64_t columns>
XT_INLINE void multiply(int64_t n, const T *l, int64_t rowStride, int64_t columnStride, bool strict,
                        T *x, int64_t leading) {
  for (int64_t i = n - 1; i >= 0; --i) {
    T row[columns] = {};
    const T *li = l + i * rowStride;
    for (int64_t j = 0; j < i + !strict; ++j) {
      T factor = li[j * columnStride];
      for (int64_t c = 0; c < columns; ++c)
        row[c] += factor * x[j * leading + c];
    }
    for (int64_t c = 0; c < columns; ++c)
      x[i * leading + c] = row[c];
  }
}

template <typename T>
XT_INLINE void multiplyAny(int64_t n, const T *l, int64_t rowStride, int64_t columnStride,
                           bool strict, T *x, int64_t columns, int64_t leading) {
  if (columns == 1)
    return multiply<T, 1>(n, l, rowStride, columnStride, strict, x, leading);
  for (int64_t c = 0; c < columns; c += kSolveColumns)
    multiply<T, kSolveColumns>(n, l, rowStride, columnStride, strict, x + c, leading);
}

/// The same for that many rows, starting at row i.
template <typename T, int64_t rows>
XT_INLINE void lowerRows(int64_t i, int64_t k, const T *__restrict a, const T *__restrict b,
                         T *__restrict c, int64_t leading) {
  for (int64_t j = 0; j < i + rows; j += 16) {
    T sums[rows][16] = {};
    for (int64_t p = 0; p < k; ++p)
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t v = 0; v < 16; ++v)
          sums[r][v] += a[(i + r) * k + p] * b[p * leading + j + v];
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t v = 0; v < 16; ++v)
        c[(i + r) * leading + j + v] += sums[r][v];
  }
}

template <typename T>
XT_INLINE void lowerProduct(int64_t n, int64_t k, const T *a, const T *b, T *c, int64_t leading) {
  int64_t i = 0;
  for (; i + 4 <= n; i += 4)
    lowerRows<T, 4>(i, k, a, b, c, leading);
  for (; i < n; ++i)
    lowerRows<T, 1>(i, k, a, b, c, leading);
}

template <typename T>
XT_INLINE void solveAny(int64_t n, const T *l, int64_t rowStride, int64_t columnStride, bool unit,
                        T *x, int64_t columns, int64_t leading) {
  if (columns == 1)
    return solve<T, 1>(n, l, rowStride, columnStride, unit, x, leading);
  for (int64_t c = 0; c < columns; c += kSolveColumns)
    solve<T, kSolveColumns>(n, l, rowStride, columnStride, unit, x + c, leading);
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

/// Subtracts from a column of a result: this many elements at a time, in registers, in as many sums
/// as the processor can run in parallel.
template <typename T>
struct Sums {
  static constexpr int64_t kLanes = 16, kChains = 16 / sizeof(T);
  T of[kChains][kLanes] = {};

  XT_INLINE void add(int64_t chain, T factor, const T *x) {
    for (int64_t v = 0; v < kLanes; ++v)
      of[chain][v] += factor * x[v];
  }
  XT_INLINE void total(T *to) const {
    for (int64_t v = 0; v < kLanes; ++v) {
      to[v] = of[0][v] + of[1][v];
      if (kChains == 4)
        to[v] += of[kChains - 2][v] + of[kChains - 1][v];
    }
  }
};

/// Column k once those before it are known: b_ik - sum over j < k of d_ij l_kj + l_ij d_kj.
template <typename T>
XT_INLINE void tangent(int64_t n, const T *l, T *b, int64_t leading) {
  constexpr int64_t kLanes = Sums<T>::kLanes, kPairs = Sums<T>::kChains / 2;
  for (int64_t k = 0; k < n; ++k) {
    T *column = b + k * leading;
    const T *lk = l + k * leading;
    for (int64_t i = k & ~(kLanes - 1); i < n; i += kLanes) {
      Sums<T> sums;
      int64_t j = 0;
      for (; j + kPairs <= k; j += kPairs)
        for (int64_t p = 0; p < kPairs; ++p) {
          int64_t at = (j + p) * leading;
          sums.add(2 * p, l[at + k], b + at + i);
          sums.add(2 * p + 1, b[at + k], l + at + i);
        }
      for (; j < k; ++j) {
        sums.add(0, l[j * leading + k], b + j * leading + i);
        sums.add(1, b[j * leading + k], l + j * leading + i);
      }
      T sum[kLanes];
      sums.total(sum);
      for (int64_t v = std::max<int64_t>(k - i, 0), end = std::min(kLanes, n - i); v < end; ++v)
        column[i + v] -= sum[v];
    }
    T inverse = 1 / lk[k], own = column[k] * inverse / 2;
    column[k] = own;
    for (int64_t i = 0; i < k; ++i)
      column[i] = 0;
    for (int64_t i = k + 1; i < n; ++i)
      column[i] = (column[i] - lk[i] * own) * inverse;
  }
}

/// Column k once those after it are known: c_ik - sum over j > k of x_ij l_jk, then its own
/// element.
template <typename T>
XT_INLINE void cotangent(int64_t n, const T *l, T *c, int64_t leading) {
  constexpr int64_t kLanes = Sums<T>::kLanes, kChains = Sums<T>::kChains;
  for (int64_t k = n - 1; k >= 0; --k) {
    T *column = c + k * leading;
    const T *lk = l + k * leading;
    T inverse = 1 / lk[k], own = column[k];
    for (int64_t i = (k + 1) & ~(kLanes - 1); i < n; i += kLanes) {
      Sums<T> sums;
      int64_t j = k + 1;
      for (; j + kChains <= n; j += kChains)
        for (int64_t p = 0; p < kChains; ++p)
          sums.add(p, lk[j + p], c + (j + p) * leading + i);
      for (; j < n; ++j)
        sums.add(0, lk[j], c + j * leading + i);
      T sum[kLanes];
      sums.total(sum);
      for (int64_t v = std::max<int64_t>(k + 1 - i, 0), end = std::min(kLanes, n - i); v < end;
           ++v) {
        T x = (column[i + v] - sum[v]) * inverse;
        own -= x * lk[i + v];
        column[i + v] = x;
        c[(i + v) * leading + k] = x;
      }
    }
    column[k] = own * inverse;
  }
}

/// y -= d u + l e in the rows `begin` to n - 1: whole vectors, in which the rows before stay.
template <typename T>
XT_INLINE void subtractBoth(T *__restrict y, const T *__restrict d, T u, const T *__restrict l, T e,
                            int64_t begin, int64_t n) {
  for (int64_t i = begin & ~int64_t(15); i < n; i += 16)
    for (int64_t v = 0; v < 16; ++v) {
      T less = y[i + v] - (d[i + v] * u + l[i + v] * e);
      y[i + v] = i + v < begin ? y[i + v] : less;
    }
}

/// d -= z u, and the sum of l z, of the same rows.
template <typename T>
XT_INLINE T subtractAndSum(T *__restrict d, const T *__restrict z, T u, const T *__restrict l,
                           int64_t begin, int64_t n) {
  T sums[16] = {};
  for (int64_t i = begin & ~int64_t(15); i < n; i += 16)
    for (int64_t v = 0; v < 16; ++v) {
      T less = d[i + v] - z[i + v] * u, product = l[i + v] * z[i + v];
      d[i + v] = i + v < begin ? d[i + v] : less;
      sums[v] += i + v < begin ? T(0) : product;
    }
  // By halves: one after another, the additions would take longer than the loop.
  for (int64_t half = 8; half > 0; half /= 2)
    for (int64_t v = 0; v < half; ++v)
      sums[v] += sums[v + half];
  return sums[0];
}

/// Column and row k are known once those before have been taken from what is left.
template <typename T>
XT_INLINE void bothTangents(int64_t n, const T *packed, T *x, int64_t leading) {
  for (int64_t k = 0; k < n; ++k) {
    const T *l = packed + k * leading;
    T *d = x + k * leading, inverse = 1 / l[k], own = d[k];
    for (int64_t i = k + 1; i < n; ++i)
      d[i] = (d[i] - l[i] * own) * inverse;
    for (int64_t j = k + 1; j < n; ++j) {
      T *y = x + j * leading;
      subtractBoth(y, d, packed[j * leading + k], l, y[k], k + 1, n);
    }
  }
}

/// Column and row k are known once those after are: one walk over each column of those takes it
/// from both.
template <typename T>
XT_INLINE void bothCotangents(int64_t n, const T *packed, T *x, int64_t leading) {
  for (int64_t k = n - 1; k >= 0; --k) {
    const T *l = packed + k * leading;
    T *d = x + k * leading, inverse = 1 / l[k], own = d[k];
    for (int64_t j = k + 1; j < n; ++j) {
      T *z = x + j * leading;
      z[k] -= subtractAndSum(d, z, packed[j * leading + k], l, k + 1, n);
    }
    for (int64_t i = k + 1; i < n; ++i) {
      d[i] *= inverse;
      own -= l[i] * d[i];
    }
    d[k] = own;
  }
}

} // namespace

namespace xtensor {

XT_CLONES void solveLower(int64_t n, const float *l, int64_t rowStride, int64_t columnStride,
                          bool unit, float *x, int64_t columns, int64_t leading) {
  solveAny(n, l, rowStride, columnStride, unit, x, columns, leading);
}
XT_CLONES void solveLower(int64_t n, const double *l, int64_t rowStride, int64_t columnStride,
                          bool unit, double *x, int64_t columns, int64_t leading) {
  solveAny(n, l, rowStride, columnStride, unit, x, columns, leading);
}

XT_CLONES void multiplyLower(int64_t n, const float *l, int64_t rowStride, int64_t columnStride,
                             bool strict, float *x, int64_t columns, int64_t leading) {
  multiplyAny(n, l, rowStride, columnStride, strict, x, columns, leading);
}
XT_CLONES void multiplyLower(int64_t n, const double *l, int64_t rowStride, int64_t columnStride,
                             bool strict, double *x, int64_t columns, int64_t leading) {
  multiplyAny(n, l, rowStride, columnStride, strict, x, columns, leading);
}

XT_CLONES void transpose(int64_t rows, int64_t columns, const float *from, int64_t fromRow,
                         float *to, int64_t toRow) {
  transposeAny(rows, columns, from, fromRow, to, toRow);
}
XT_CLONES void transpose(int64_t rows, int64_t columns, const double *from, int64_t fromRow,
                         double *to, int64_t toRow) {
  transposeAny(rows, columns, from, fromRow, to, toRow);
}

XT_CLONES void addLowerProduct(int64_t n, int64_t k, const float *a, const float *b, float *c,
                               int64_t leading) {
  lowerProduct(n, k, a, b, c, leading);
}
XT_CLONES void addLowerProduct(int64_t n, int64_t k, const double *a, const double *b, double *c,
                               int64_t leading) {
  lowerProduct(n, k, a, b, c, leading);
}

XT_CLONES bool factorUpper(int64_t n, float *s, int64_t leading) { return factor(n, s, leading); }
XT_CLONES bool factorUpper(int64_t n, double *s, int64_t leading) { return factor(n, s, leading); }

XT_CLONES void factorTangent(int64_t n, const float *l, float *b, int64_t leading) {
  tangent(n, l, b, leading);
}
XT_CLONES void factorTangent(int64_t n, const double *l, double *b, int64_t leading) {
  tangent(n, l, b, leading);
}
XT_CLONES void factorCotangent(int64_t n, const float *l, float *c, int64_t leading) {
  cotangent(n, l, c, leading);
}
XT_CLONES void factorCotangent(int64_t n, const double *l, double *c, int64_t leading) {
  cotangent(n, l, c, leading);
}

XT_CLONES void factorsTangent(int64_t n, const float *packed, float *x, int64_t leading) {
  bothTangents(n, packed, x, leading);
}
XT_CLONES void factorsTangent(int64_t n, const double *packed, double *x, int64_t leading) {
  bothTangents(n, packed, x, leading);
}
XT_CLONES void factorsCotangent(int64_t n, const float *packed, float *x, int64_t leading) {
  bothCotangents(n, packed, x, leading);
}
XT_CLONES void factorsCotangent(int64_t n, const double *packed, double *x, int64_t leading) {
  bothCotangents(n, packed, x, leading);
}

} // namespace xtensor
