// Implicit QL steps on a symmetric tridiagonal matrix (Martin and Wilkinson, "The implicit QL
// algorithm", 1968). Each rotation follows from the one before it, by a root and two divisions:
// while the processor waits for these, it turns two whole columns of eigenvectors by vectors.
#include "Tridiagonal.h"
#include "Clones.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace {

constexpr int kMostSteps = 30; // for each eigenvalue, of which nearly all need one or two

// A sum of squares below the first number has lost digits: what it gives is not a rotation. Both
// numbers are then multiplied by the second one.
template <typename T>
constexpr T kLeastSquare = sizeof(T) == 4 ? 0x1p-100 : 0x1p-960;
template <typename T>
constexpr T kUp = sizeof(T) == 4 ? 0x1p93 : 0x1p760;

/// Columns x and y, n numbers each, turned by an angle.
template <typename T>
XT_INLINE void turn(int64_t n, T c, T s, T *__restrict x, T *__restrict y) {
  for (int64_t k = 0; k < n; ++k) {
    T first = x[k], second = y[k];
    x[k] = c * first - s * second;
    y[k] = s * first + c * second;
  }
}

/// One step on the rows `first` to `last`, with a shift near the eigenvalue of the first one.
template <typename T>
XT_INLINE void step(int64_t n, int64_t first, int64_t last, T *d, T *e, T *q) {
  T g = (d[first + 1] - d[first]) / (2 * e[first]);
  g = d[last] - d[first] + e[first] / (g + std::copysign(std::sqrt(g * g + 1), g));
  T s = 1, c = 1, shift = 0;
  for (int64_t i = last - 1; i >= first; --i) {
    T f = s * e[i], b = c * e[i], size = 1;
    if (f * f + g * g < kLeastSquare<T>) {
      f *= kUp<T>;
      g *= kUp<T>;
      size = 1 / kUp<T>;
    }
    T r = std::sqrt(f * f + g * g);
    e[i + 1] = r * size;
    if (r == 0) { // the matrix has come apart here
      d[i + 1] -= shift;
      e[last] = 0;
      return;
    }
    s = f / r;
    c = g / r;
    g = d[i + 1] - shift;
    r = (d[i] - g) * s + 2 * c * b;
    shift = s * r;
    d[i + 1] = g + shift;
    g = c * r - b;
    turn(n, c, s, q + i * n, q + (i + 1) * n);
  }
  d[first] -= shift;
  e[first] = g;
  e[last] = 0;
}

template <typename T>
XT_INLINE bool eigh(int64_t n, T *d, T *e, T *q) {
  constexpr T kEpsilon = std::numeric_limits<T>::epsilon();
  // Squares of numbers in this range, and of what is left of them, do not overflow or vanish.
  constexpr int kRange = std::numeric_limits<T>::max_exponent / 4;
  e[n - 1] = 0;
  T largest = 0;
  for (int64_t i = 0; i < n; ++i)
    largest = std::max({largest, std::abs(d[i]), std::abs(e[i])});
  if (!(largest < std::ldexp(T(1), kRange) && largest > std::ldexp(T(1), -kRange)))
    return false;
  const int exponent = std::ilogb(largest);
  const T up = std::ldexp(T(1), -exponent), down = std::ldexp(T(1), exponent);
  for (int64_t i = 0; i < n; ++i) {
    d[i] *= up;
    e[i] *= up;
  }
  for (int64_t first = 0; first < n; ++first)
    for (int steps = 0;; ++steps) {
      int64_t last = first;
      while (last + 1 < n &&
             std::abs(e[last]) > kEpsilon * (std::abs(d[last]) + std::abs(d[last + 1]) + kEpsilon))
        ++last;
      if (last == first)
        break;
      if (steps == kMostSteps)
        return false;
      step(n, first, last, d, e, q);
    }
  for (int64_t i = 0; i < n; ++i) {
    int64_t least = std::min_element(d + i, d + n) - d;
    if (least != i) {
      std::swap(d[i], d[least]);
      std::swap_ranges(q + i * n, q + (i + 1) * n, q + least * n);
    }
    d[i] *= down;
  }
  return true;
}

} // namespace

namespace xtensor {

XT_CLONES bool tridiagonalEigh(int64_t n, float *diagonal, float *below, float *q) {
  return eigh(n, diagonal, below, q);
}
XT_CLONES bool tridiagonalEigh(int64_t n, double *diagonal, double *below, double *q) {
  return eigh(n, diagonal, below, q);
}

} // namespace xtensor
