#include "LaneFactors.h"
#include "Clones.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

using namespace xtensor;

namespace {

/// Whether each matrix is finite: 0, or NaN. One that is not becomes the identity.
template <typename T>
XT_INLINE void replaceNonfinite(int64_t m, int64_t n, T *__restrict a, T *__restrict finite) {
  // A product with 0 is NaN where the element is not finite, and so is the sum.
  for (int64_t v = 0; v < kMatrixLanes; ++v)
    finite[v] = 0;
  for (int64_t k = 0; k < m * n; ++k)
    for (int64_t v = 0; v < kMatrixLanes; ++v)
      finite[v] += a[k * kMatrixLanes + v] * T(0);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t v = 0; v < kMatrixLanes; ++v) {
        T &element = a[(i * n + j) * kMatrixLanes + v];
        element = finite[v] == 0 ? element : T(i == j);
      }
}

template <typename T>
XT_INLINE void addToAll(int64_t count, const T *__restrict summand, T *__restrict a) {
  for (int64_t k = 0; k < count; ++k)
    for (int64_t v = 0; v < kMatrixLanes; ++v)
      a[k * kMatrixLanes + v] += summand[v];
}

template <typename T>
XT_INLINE void makeIdentity(int64_t m, int64_t n, T *__restrict a) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t v = 0; v < kMatrixLanes; ++v)
        a[(i * n + j) * kMatrixLanes + v] = T(i == j);
}

/// The largest absolute value of each matrix, of elements `stride` places apart.
template <typename T>
XT_INLINE void largestOf(int64_t count, const T *__restrict x, int64_t stride,
                         T *__restrict largest) {
  for (int64_t v = 0; v < kMatrixLanes; ++v)
    largest[v] = 0;
  for (int64_t k = 0; k < count; ++k)
    for (int64_t v = 0; v < kMatrixLanes; ++v) {
      T size = std::abs(x[k * stride * kMatrixLanes + v]);
      largest[v] = size > largest[v] ? size : largest[v];
    }
}

template <typename T>
XT_INLINE void luLanes(int64_t n, T *__restrict a, int32_t *__restrict order,
                       T *__restrict parity) {
  auto element = [&](int64_t i, int64_t j) { return a + (i * n + j) * kMatrixLanes; };
  T finite[kMatrixLanes];
  replaceNonfinite(n, n, a, finite);
  for (int64_t v = 0; v < kMatrixLanes; ++v)
    parity[v] = 1;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t v = 0; v < kMatrixLanes; ++v)
      order[i * kMatrixLanes + v] = int32_t(i);
  for (int64_t k = 0; k < n; ++k) {
    T best[kMatrixLanes];
    int32_t at[kMatrixLanes];
    for (int64_t v = 0; v < kMatrixLanes; ++v) {
      best[v] = std::abs(element(k, k)[v]);
      at[v] = int32_t(k);
    }
    for (int64_t i = k + 1; i < n; ++i) {
      const T *x = element(i, k);
      for (int64_t v = 0; v < kMatrixLanes; ++v) {
        bool larger = std::abs(x[v]) > best[v];
        best[v] = larger ? std::abs(x[v]) : best[v];
        at[v] = larger ? int32_t(i) : at[v];
      }
    }
    for (int64_t v = 0; v < kMatrixLanes; ++v)
      parity[v] = at[v] == int32_t(k) ? parity[v] : -parity[v];
    for (int64_t i = k + 1; i < n; ++i) {
      auto exchange = [&](auto *x, auto *y) {
        for (int64_t v = 0; v < kMatrixLanes; ++v) {
          auto first = x[v], second = y[v];
          x[v] = at[v] == int32_t(i) ? second : first;
          y[v] = at[v] == int32_t(i) ? first : second;
        }
      };
      exchange(order + k * kMatrixLanes, order + i * kMatrixLanes);
      for (int64_t j = 0; j < n; ++j)
        exchange(element(k, j), element(i, j));
    }
    const T *pivot = element(k, k);
    for (int64_t i = k + 1; i < n; ++i) {
      T *factor = element(i, k);
      // Where the pivot is 0, so is all below it.
      for (int64_t v = 0; v < kMatrixLanes; ++v)
        factor[v] = factor[v] / (pivot[v] != 0 ? pivot[v] : T(1));
      for (int64_t j = k + 1; j < n; ++j) {
        T *y = element(i, j);
        const T *x = element(k, j);
        for (int64_t v = 0; v < kMatrixLanes; ++v)
          y[v] -= factor[v] * x[v];
      }
    }
  }
  addToAll(n * n, finite, a);
}

template <typename T>
XT_INLINE void luSolveLanes(int64_t n, const T *__restrict a, bool transposed, bool identity,
                            T *__restrict x, int64_t columns) {
  // Row i less row j, both of their columns before `end`.
  auto subtract = [&](int64_t i, int64_t j, int64_t end) {
    const T *factor = a + (transposed ? j * n + i : i * n + j) * kMatrixLanes;
    for (int64_t c = 0; c < end; ++c)
      for (int64_t v = 0; v < kMatrixLanes; ++v)
        x[(i * columns + c) * kMatrixLanes + v] -=
            factor[v] * x[(j * columns + c) * kMatrixLanes + v];
  };
  auto divide = [&](int64_t i, int64_t end) {
    const T *pivot = a + (i * n + i) * kMatrixLanes;
    for (int64_t c = 0; c < end; ++c)
      for (int64_t v = 0; v < kMatrixLanes; ++v)
        x[(i * columns + c) * kMatrixLanes + v] /= pivot[v];
  };
  for (int64_t i = 0; i < n; ++i) {
    // What lies above the diagonal of the identity stays 0.
    for (int64_t j = 0; j < i; ++j)
      subtract(i, j, identity ? j + 1 : columns);
    if (transposed)
      divide(i, identity ? i + 1 : columns);
  }
  for (int64_t i = n - 1; i >= 0; --i) {
    for (int64_t j = i + 1; j < n; ++j)
      subtract(i, j, columns);
    if (!transposed)
      divide(i, columns);
  }
}

template <typename T>
XT_INLINE void lowerLanes(int64_t n, T *__restrict a) {
  auto element = [&](int64_t i, int64_t j) { return a + (i * n + j) * kMatrixLanes; };
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j)
      for (int64_t v = 0; v < kMatrixLanes; ++v) {
        element(i, j)[v] = T(0.5) * element(i, j)[v] + T(0.5) * element(j, i)[v];
        element(j, i)[v] = j < i ? T(0) : element(j, i)[v];
      }
  T failed[kMatrixLanes] = {};
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  for (int64_t k = 0; k < n; ++k) {
    T inverse[kMatrixLanes];
    T *pivot = element(k, k);
    for (int64_t v = 0; v < kMatrixLanes; ++v) {
      bool good = (pivot[v] > 0) & (pivot[v] < kInfinity);
      failed[v] = good ? failed[v] : std::numeric_limits<T>::quiet_NaN();
      T root = std::sqrt(good ? pivot[v] : T(1));
      pivot[v] = root;
      inverse[v] = 1 / root;
    }
    for (int64_t i = k + 1; i < n; ++i)
      for (int64_t v = 0; v < kMatrixLanes; ++v)
        element(i, k)[v] *= inverse[v];
    for (int64_t i = k + 1; i < n; ++i)
      for (int64_t j = k + 1; j <= i; ++j)
        for (int64_t v = 0; v < kMatrixLanes; ++v)
          element(i, j)[v] -= element(i, k)[v] * element(j, k)[v];
  }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j)
      for (int64_t v = 0; v < kMatrixLanes; ++v)
        element(i, j)[v] += failed[v];
}

/// X - tau u (u^T X) for `count` columns of X from column c on: u is column j of `a`, 1 in row j, 0
/// above.
template <int64_t count, typename T>
XT_INLINE void reflectColumns(int64_t m, int64_t n, int64_t j, const T *__restrict a,
                              const T *__restrict tau, T *__restrict x, int64_t columns,
                              int64_t c) {
  T sum[count][kMatrixLanes];
  auto row = [&](int64_t i) { return x + (i * columns + c) * kMatrixLanes; };
  for (int64_t k = 0; k < count; ++k)
    for (int64_t v = 0; v < kMatrixLanes; ++v)
      sum[k][v] = row(j)[k * kMatrixLanes + v];
  for (int64_t i = j + 1; i < m; ++i) {
    const T *u = a + (i * n + j) * kMatrixLanes, *y = row(i);
    for (int64_t k = 0; k < count; ++k)
      for (int64_t v = 0; v < kMatrixLanes; ++v)
        sum[k][v] += u[v] * y[k * kMatrixLanes + v];
  }
  for (int64_t k = 0; k < count; ++k)
    for (int64_t v = 0; v < kMatrixLanes; ++v) {
      sum[k][v] *= tau[v];
      row(j)[k * kMatrixLanes + v] -= sum[k][v];
    }
  for (int64_t i = j + 1; i < m; ++i) {
    const T *u = a + (i * n + j) * kMatrixLanes;
    T *y = row(i);
    for (int64_t k = 0; k < count; ++k)
      for (int64_t v = 0; v < kMatrixLanes; ++v)
        y[k * kMatrixLanes + v] -= u[v] * sum[k][v];
  }
}

/// The same for columns `begin` to `end`.
template <typename T>
XT_INLINE void reflect(int64_t m, int64_t n, int64_t j, const T *__restrict a,
                       const T *__restrict tau, T *__restrict x, int64_t columns, int64_t begin,
                       int64_t end) {
  constexpr int64_t kBlock = 4;
  int64_t c = begin;
  for (; c + kBlock <= end; c += kBlock)
    reflectColumns<kBlock>(m, n, j, a, tau, x, columns, c);
  for (; c < end; ++c)
    reflectColumns<1>(m, n, j, a, tau, x, columns, c);
}

template <typename T>
XT_INLINE void reflections(int64_t m, int64_t n, T *__restrict a, T *__restrict q) {
  int64_t k = m < n ? m : n;
  auto element = [&](int64_t i, int64_t j) { return a + (i * n + j) * kMatrixLanes; };
  T finite[kMatrixLanes], taus[kLaneReflections * kMatrixLanes];
  replaceNonfinite(m, n, a, finite);
  for (int64_t j = 0; j < k; ++j) {
    T *first = element(j, j), *tau = taus + j * kMatrixLanes;
    T below[kMatrixLanes], largest[kMatrixLanes], sum[kMatrixLanes] = {}, divisor[kMatrixLanes];
    largestOf(m - j - 1, first + n * kMatrixLanes, n, below);
    for (int64_t v = 0; v < kMatrixLanes; ++v) {
      T size = std::abs(first[v]);
      largest[v] = size > below[v] ? size : below[v] > 0 ? below[v] : T(1);
    }
    // In units of the largest element: numbers near the least one have too few digits for tau.
    for (int64_t i = j; i < m; ++i)
      for (int64_t v = 0; v < kMatrixLanes; ++v) {
        T &x = element(i, j)[v];
        x /= largest[v];
        sum[v] += x * x;
      }
    for (int64_t v = 0; v < kMatrixLanes; ++v) {
      // A column that is zero below the diagonal stays as it is.
      bool turns = below[v] > 0;
      T to = -std::copysign(std::sqrt(sum[v]), first[v]);
      tau[v] = turns ? (to - first[v]) / to : T(0);
      divisor[v] = turns ? first[v] - to : T(1);
      first[v] = (turns ? to : first[v]) * largest[v];
    }
    for (int64_t i = j + 1; i < m; ++i)
      for (int64_t v = 0; v < kMatrixLanes; ++v)
        element(i, j)[v] /= divisor[v];
    reflect(m, n, j, a, tau, a, n, j + 1, n);
  }
  makeIdentity(m, k, q);
  for (int64_t j = k - 1; j >= 0; --j)
    reflect(m, n, j, a, taus + j * kMatrixLanes, q, k, j, k);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = j + 1; i < m; ++i)
      for (int64_t v = 0; v < kMatrixLanes; ++v)
        element(i, j)[v] = 0;
  addToAll(m * n, finite, a);
  addToAll(m * k, finite, q);
}

/// Passes over all pairs: 6 to 9 are usual.
constexpr int kMostPasses = 30;

/// Exchanges x and y where `which` is not 0.
template <typename T>
XT_INLINE void exchange(const T *__restrict which, T *__restrict x, T *__restrict y) {
  for (int64_t v = 0; v < kMatrixLanes; ++v) {
    T first = x[v], second = y[v];
    x[v] = which[v] != 0 ? second : first;
    y[v] = which[v] != 0 ? first : second;
  }
}

/// Angles by which pairs of rows turn: sines, and sine / (1 + cosine).
template <typename T>
struct Angles {
  T sine[kMatrixLanes], half[kMatrixLanes];

  /// Makes a symmetric 2 x 2 matrix of lane v diagonal where `turns` holds: `difference` is that of
  /// its diagonal, and `beside` the element beside it. Returns the tangent.
  XT_INLINE T set(int64_t v, bool turns, T difference, T beside) {
    T ratio = difference / (turns ? 2 * beside : T(1));
    T size = 1 / (std::abs(ratio) + std::sqrt(ratio * ratio + 1));
    T tangent = !turns ? T(0) : ratio < 0 ? -size : size;
    T cosine = 1 / std::sqrt(tangent * tangent + 1);
    sine[v] = tangent * cosine;
    half[v] = sine[v] / (1 + cosine);
    return tangent;
  }
  XT_INLINE void turn(T *__restrict x, T *__restrict y) const {
    for (int64_t v = 0; v < kMatrixLanes; ++v) {
      T first = x[v], second = y[v];
      x[v] = first - sine[v] * (second + half[v] * first);
      y[v] = second + sine[v] * (first - half[v] * second);
    }
  }
};

/// One pass over all pairs of rows of the symmetric A, of which the upper triangle is kept; rows of
/// V turn with those of A. Whether anything turned.
template <typename T>
XT_INLINE bool rotateAll(int64_t n, T *__restrict a, T *__restrict vectors) {
  constexpr T kEpsilon = std::numeric_limits<T>::epsilon();
  auto element = [&](int64_t i, int64_t j) { return a + (i * n + j) * kMatrixLanes; };
  bool any = false;
  for (int64_t p = 0; p < n; ++p)
    for (int64_t q = p + 1; q < n; ++q) {
      T *pp = element(p, p), *pq = element(p, q), *qq = element(q, q);
      Angles<T> angles;
      int turned = 0;
      for (int64_t v = 0; v < kMatrixLanes; ++v) {
        // A is scaled: its largest element is between 1 and 2.
        int isSeen = pq[v] * pq[v] > kEpsilon * kEpsilon * std::abs(pp[v] * qq[v]);
        int isNormal = std::abs(pq[v]) > kEpsilon * kEpsilon;
        bool turns = isSeen & isNormal; // no branch: vectors run along the lanes
        T tangent = angles.set(v, turns, qq[v] - pp[v], pq[v]);
        pp[v] -= tangent * pq[v];
        qq[v] += tangent * pq[v];
        pq[v] = turns ? T(0) : pq[v];
        turned |= turns;
      }
      if (turned == 0)
        continue;
      any = true;
      for (int64_t k = 0; k < p; ++k)
        angles.turn(element(k, p), element(k, q));
      for (int64_t k = p + 1; k < q; ++k)
        angles.turn(element(p, k), element(k, q));
      for (int64_t k = q + 1; k < n; ++k)
        angles.turn(element(p, k), element(q, k));
      for (int64_t k = 0; k < n; ++k)
        angles.turn(vectors + (p * n + k) * kMatrixLanes, vectors + (q * n + k) * kMatrixLanes);
    }
  return any;
}

/// A power of two near the largest element of each matrix, and 1 if there is none.
template <typename T>
XT_INLINE void scalesOf(int64_t count, const T *__restrict a, T *__restrict scale) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  constexpr Bits kExponent = sizeof(T) == 4 ? Bits(0x7f800000) : Bits(0x7ff0000000000000);
  T largest[kMatrixLanes];
  largestOf(count, a, 1, largest);
  for (int64_t v = 0; v < kMatrixLanes; ++v) {
    Bits bits;
    std::memcpy(&bits, &largest[v], sizeof bits);
    bits &= kExponent;
    std::memcpy(&scale[v], &bits, sizeof bits);
    T least = std::numeric_limits<T>::min();
    scale[v] = largest[v] == 0 ? T(1) : scale[v] < least ? least : scale[v];
  }
}

/// As signOfColumn, for each matrix: elements are `stride` places apart.
template <typename T>
XT_INLINE void signsOf(int64_t count, const T *__restrict x, int64_t stride, T *__restrict sign) {
  T largest[kMatrixLanes];
  largestOf(count, x, stride, largest);
  for (int64_t v = 0; v < kMatrixLanes; ++v)
    sign[v] = 1;
  for (int64_t k = count - 1; k >= 0; --k)
    for (int64_t v = 0; v < kMatrixLanes; ++v) {
      T element = x[k * stride * kMatrixLanes + v];
      bool counts = std::abs(element) > T(kLeastOfSign) * largest[v];
      sign[v] = !counts ? sign[v] : element < 0 ? T(-1) : T(1);
    }
}

template <typename T>
XT_INLINE void multiplyBy(const T *__restrict factor, int64_t count, T *__restrict x,
                          int64_t stride) {
  for (int64_t k = 0; k < count; ++k)
    for (int64_t v = 0; v < kMatrixLanes; ++v)
      x[k * stride * kMatrixLanes + v] *= factor[v];
}

template <typename T>
XT_INLINE void rotations(int64_t n, T *__restrict a, T *__restrict values, T *__restrict vectors) {
  auto element = [&](int64_t i, int64_t j) { return a + (i * n + j) * kMatrixLanes; };
  auto vector = [&](int64_t i, int64_t j) { return vectors + (i * n + j) * kMatrixLanes; };
  T finite[kMatrixLanes], scale[kMatrixLanes];
  replaceNonfinite(n, n, a, finite);
  scalesOf(n * n, a, scale);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i; j < n; ++j)
      for (int64_t v = 0; v < kMatrixLanes; ++v)
        element(i, j)[v] =
            T(0.5) * (element(i, j)[v] / scale[v]) + T(0.5) * (element(j, i)[v] / scale[v]);
  makeIdentity(n, n, vectors);
  for (int pass = 0; pass < kMostPasses && rotateAll(n, a, vectors); ++pass)
    ;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t v = 0; v < kMatrixLanes; ++v)
      values[i * kMatrixLanes + v] = element(i, i)[v];
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i + 1; j < n; ++j) {
      T later[kMatrixLanes];
      for (int64_t v = 0; v < kMatrixLanes; ++v)
        later[v] = T(values[j * kMatrixLanes + v] < values[i * kMatrixLanes + v]);
      exchange(later, values + i * kMatrixLanes, values + j * kMatrixLanes);
      for (int64_t k = 0; k < n; ++k)
        exchange(later, vector(i, k), vector(j, k));
    }
  // Rows of `vectors` are eigenvectors so far.
  for (int64_t i = 0; i < n; ++i) {
    T sign[kMatrixLanes];
    signsOf(n, vector(i, 0), 1, sign);
    multiplyBy(sign, n, vector(i, 0), 1);
  }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i + 1; j < n; ++j)
      for (int64_t v = 0; v < kMatrixLanes; ++v) {
        T first = vector(i, j)[v];
        vector(i, j)[v] = vector(j, i)[v];
        vector(j, i)[v] = first;
      }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t v = 0; v < kMatrixLanes; ++v)
      values[i * kMatrixLanes + v] = values[i * kMatrixLanes + v] * scale[v] + finite[v];
  addToAll(n * n, finite, vectors);
}

/// One pass over all pairs of the n rows of B, each of m elements, which makes them orthogonal;
/// rows of V turn with them. Whether anything turned.
template <typename T>
XT_INLINE bool separateAll(int64_t m, int64_t n, T *__restrict b, T *__restrict vectors) {
  constexpr T kEpsilon = std::numeric_limits<T>::epsilon();
  bool any = false;
  for (int64_t p = 0; p < n; ++p)
    for (int64_t q = p + 1; q < n; ++q) {
      T *x = b + p * m * kMatrixLanes, *y = b + q * m * kMatrixLanes;
      T xx[kMatrixLanes] = {}, xy[kMatrixLanes] = {}, yy[kMatrixLanes] = {};
      for (int64_t k = 0; k < m; ++k)
        for (int64_t v = 0; v < kMatrixLanes; ++v) {
          T first = x[k * kMatrixLanes + v], second = y[k * kMatrixLanes + v];
          xx[v] += first * first;
          xy[v] += first * second;
          yy[v] += second * second;
        }
      Angles<T> angles;
      int turned = 0;
      for (int64_t v = 0; v < kMatrixLanes; ++v) {
        bool turns = xy[v] * xy[v] > kEpsilon * kEpsilon * xx[v] * yy[v];
        turned |= angles.set(v, turns, yy[v] - xx[v], xy[v]) != 0;
      }
      if (turned == 0)
        continue;
      any = true;
      for (int64_t k = 0; k < m; ++k)
        angles.turn(x + k * kMatrixLanes, y + k * kMatrixLanes);
      for (int64_t k = 0; k < n; ++k)
        angles.turn(vectors + (p * n + k) * kMatrixLanes, vectors + (q * n + k) * kMatrixLanes);
    }
  return any;
}

/// `b` has the columns of a matrix of m >= n rows as its rows.
template <typename T>
XT_INLINE void singular(int64_t m, int64_t n, T *__restrict b, T *__restrict values,
                        T *__restrict u, T *__restrict vectors, T *__restrict columns,
                        bool transposed) {
  T finite[kMatrixLanes], scale[kMatrixLanes], sign[kMatrixLanes];
  replaceNonfinite(n, m, b, finite);
  scalesOf(n * m, b, scale);
  for (int64_t k = 0; k < n * m; ++k)
    for (int64_t v = 0; v < kMatrixLanes; ++v)
      b[k * kMatrixLanes + v] /= scale[v];
  makeIdentity(n, n, vectors);
  for (int pass = 0; pass < kMostPasses && separateAll(m, n, b, vectors); ++pass)
    ;
  for (int64_t i = 0; i < n; ++i) {
    T *value = values + i * kMatrixLanes, sum[kMatrixLanes] = {};
    for (int64_t k = 0; k < m; ++k)
      for (int64_t v = 0; v < kMatrixLanes; ++v)
        sum[v] += b[(i * m + k) * kMatrixLanes + v] * b[(i * m + k) * kMatrixLanes + v];
    for (int64_t v = 0; v < kMatrixLanes; ++v)
      value[v] = std::sqrt(sum[v]);
  }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i + 1; j < n; ++j) {
      T later[kMatrixLanes];
      for (int64_t v = 0; v < kMatrixLanes; ++v)
        later[v] = T(values[j * kMatrixLanes + v] > values[i * kMatrixLanes + v]);
      exchange(later, values + i * kMatrixLanes, values + j * kMatrixLanes);
      for (int64_t k = 0; k < m; ++k)
        exchange(later, b + (i * m + k) * kMatrixLanes, b + (j * m + k) * kMatrixLanes);
      for (int64_t k = 0; k < n; ++k)
        exchange(later, vectors + (i * n + k) * kMatrixLanes, vectors + (j * n + k) * kMatrixLanes);
    }
  // Q of columns that are orthogonal, and maybe zero, is a whole basis.
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t v = 0; v < kMatrixLanes; ++v)
        columns[(i * n + j) * kMatrixLanes + v] = b[(j * m + i) * kMatrixLanes + v];
  reflections(m, n, columns, u);
  for (int64_t j = 0; j < n; ++j) {
    const T *diagonal = columns + (j * n + j) * kMatrixLanes;
    for (int64_t v = 0; v < kMatrixLanes; ++v)
      sign[v] = diagonal[v] < 0 ? T(-1) : T(1);
    T *left = u + j * kMatrixLanes, *right = vectors + j * n * kMatrixLanes;
    multiplyBy(sign, m, left, n);
    if (transposed)
      signsOf(n, right, 1, sign);
    else
      signsOf(m, left, n, sign);
    multiplyBy(sign, m, left, n);
    multiplyBy(sign, n, right, 1);
  }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t v = 0; v < kMatrixLanes; ++v)
      values[i * kMatrixLanes + v] = values[i * kMatrixLanes + v] * scale[v] + finite[v];
  addToAll(m * n, finite, u);
  addToAll(n * n, finite, vectors);
}

/// A call with the smallest sizes n as constants: their loops are unrolled.
#define XT_OF_SIZE(call)                                                                           \
  if (n == 2) {                                                                                    \
    constexpr int64_t n = 2;                                                                       \
    call;                                                                                          \
  } else if (n == 3) {                                                                             \
    constexpr int64_t n = 3;                                                                       \
    call;                                                                                          \
  } else {                                                                                         \
    call;                                                                                          \
  }

} // namespace

namespace xtensor {

XT_CLONES void factorLanes(int64_t n, float *a, int32_t *order, float *parity) {
  XT_OF_SIZE(luLanes(n, a, order, parity));
}
XT_CLONES void factorLanes(int64_t n, double *a, int32_t *order, double *parity) {
  XT_OF_SIZE(luLanes(n, a, order, parity));
}
XT_CLONES void solveLanes(int64_t n, const float *factors, bool transposed, bool identity, float *x,
                          int64_t columns) {
  XT_OF_SIZE(luSolveLanes(n, factors, transposed, identity, x, columns));
}
XT_CLONES void solveLanes(int64_t n, const double *factors, bool transposed, bool identity,
                          double *x, int64_t columns) {
  XT_OF_SIZE(luSolveLanes(n, factors, transposed, identity, x, columns));
}
XT_CLONES void choleskyLanes(int64_t n, float *a) { XT_OF_SIZE(lowerLanes(n, a)); }
XT_CLONES void choleskyLanes(int64_t n, double *a) { XT_OF_SIZE(lowerLanes(n, a)); }

XT_CLONES void qrLanes(int64_t m, int64_t n, float *a, float *q) {
  if (m != n)
    return reflections(m, n, a, q);
  XT_OF_SIZE(reflections(n, n, a, q));
}
XT_CLONES void qrLanes(int64_t m, int64_t n, double *a, double *q) {
  if (m != n)
    return reflections(m, n, a, q);
  XT_OF_SIZE(reflections(n, n, a, q));
}
XT_CLONES void eighLanes(int64_t n, float *a, float *values, float *vectors) {
  XT_OF_SIZE(rotations(n, a, values, vectors));
}
XT_CLONES void eighLanes(int64_t n, double *a, double *values, double *vectors) {
  XT_OF_SIZE(rotations(n, a, values, vectors));
}
XT_CLONES void svdLanes(int64_t m, int64_t n, float *b, float *values, float *u, float *vectors,
                        float *space, bool transposed) {
  if (m != n)
    return singular(m, n, b, values, u, vectors, space, transposed);
  XT_OF_SIZE(singular(n, n, b, values, u, vectors, space, transposed));
}
XT_CLONES void svdLanes(int64_t m, int64_t n, double *b, double *values, double *u, double *vectors,
                        double *space, bool transposed) {
  if (m != n)
    return singular(m, n, b, values, u, vectors, space, transposed);
  XT_OF_SIZE(singular(n, n, b, values, u, vectors, space, transposed));
}

} // namespace xtensor
