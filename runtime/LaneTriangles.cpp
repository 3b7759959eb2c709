#include "LaneTriangles.h"
#include "Clones.h"

using namespace xtensor;

namespace {

/// The rows of an upper triangle are done from the last one on, and so are its columns: seen from
/// the last element, it is a lower one.
template <bool upper, typename T>
XT_INLINE void solve(int64_t n, const T *__restrict a, bool unit, T *__restrict x,
                     int64_t columns) {
  auto row = [&](int64_t k) { return upper ? n - 1 - k : k; };
  for (int64_t i = 0; i < n; ++i)
    for (int64_t c = 0; c < columns; ++c) {
      T *own = x + (row(i) * columns + c) * kMatrixLanes, rest[kMatrixLanes];
      for (int64_t v = 0; v < kMatrixLanes; ++v)
        rest[v] = own[v];
      for (int64_t j = 0; j < i; ++j) {
        const T *factor = a + (row(i) * n + row(j)) * kMatrixLanes;
        const T *other = x + (row(j) * columns + c) * kMatrixLanes;
        for (int64_t v = 0; v < kMatrixLanes; ++v)
          rest[v] -= factor[v] * other[v];
      }
      const T *pivot = a + (row(i) * n + row(i)) * kMatrixLanes;
      for (int64_t v = 0; v < kMatrixLanes; ++v)
        own[v] = unit ? rest[v] : rest[v] / pivot[v];
    }
}

/// From the last row on: what others need is theirs as long as it is not its own.
template <bool upper, typename T>
XT_INLINE void multiply(int64_t n, const T *__restrict a, bool strict, T *__restrict x,
                        int64_t columns) {
  auto row = [&](int64_t k) { return upper ? n - 1 - k : k; };
  for (int64_t i = n - 1; i >= 0; --i)
    for (int64_t c = 0; c < columns; ++c) {
      T sum[kMatrixLanes] = {};
      for (int64_t j = 0; j < i + !strict; ++j) {
        const T *factor = a + (row(i) * n + row(j)) * kMatrixLanes;
        const T *other = x + (row(j) * columns + c) * kMatrixLanes;
        for (int64_t v = 0; v < kMatrixLanes; ++v)
          sum[v] += factor[v] * other[v];
      }
      T *own = x + (row(i) * columns + c) * kMatrixLanes;
      for (int64_t v = 0; v < kMatrixLanes; ++v)
        own[v] = sum[v];
    }
}

template <typename T>
XT_INLINE void solveAny(int64_t n, const T *a, bool upper, bool unit, T *x, int64_t columns) {
  upper ? solve<true>(n, a, unit, x, columns) : solve<false>(n, a, unit, x, columns);
}

template <typename T>
XT_INLINE void multiplyAny(int64_t n, const T *a, bool upper, bool strict, T *x, int64_t columns) {
  upper ? multiply<true>(n, a, strict, x, columns) : multiply<false>(n, a, strict, x, columns);
}

template <typename T>
XT_INLINE void lowerProduct(int64_t n, int64_t terms, const T *__restrict a, const T *__restrict b,
                            bool strict, T *__restrict x) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      T sum[kMatrixLanes] = {};
      for (int64_t k = 0; j < i + !strict && k < terms; ++k)
        for (int64_t v = 0; v < kMatrixLanes; ++v)
          sum[v] += a[(i * terms + k) * kMatrixLanes + v] * b[(j * terms + k) * kMatrixLanes + v];
      for (int64_t v = 0; v < kMatrixLanes; ++v)
        x[(i * n + j) * kMatrixLanes + v] = sum[v];
    }
}

/// Column k once those before it are known: x_ik - sum over j < k of d_ij l_kj + l_ij d_kj.
template <typename T>
XT_INLINE void tangent(int64_t n, const T *__restrict l, T *__restrict x) {
  auto at = [&](auto *matrix, int64_t i, int64_t j) { return matrix + (i * n + j) * kMatrixLanes; };
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < i; ++j)
      for (int64_t v = 0; v < kMatrixLanes; ++v) {
        at(x, i, j)[v] = T(0.5) * at(x, i, j)[v] + T(0.5) * at(x, j, i)[v];
        at(x, j, i)[v] = 0;
      }
  for (int64_t k = 0; k < n; ++k) {
    T inverse[kMatrixLanes];
    for (int64_t i = k; i < n; ++i) {
      T rest[kMatrixLanes];
      for (int64_t v = 0; v < kMatrixLanes; ++v)
        rest[v] = at(x, i, k)[v];
      for (int64_t j = 0; j < k; ++j)
        for (int64_t v = 0; v < kMatrixLanes; ++v)
          rest[v] -= at(l, k, j)[v] * at(x, i, j)[v] + at(x, k, j)[v] * at(l, i, j)[v];
      for (int64_t v = 0; v < kMatrixLanes; ++v) {
        inverse[v] = i == k ? 1 / at(l, k, k)[v] : inverse[v];
        T own = i == k ? rest[v] / 2 : rest[v] - at(l, i, k)[v] * at(x, k, k)[v];
        at(x, i, k)[v] = own * inverse[v];
      }
    }
  }
}

/// Column k once those after it are known: x_ik - sum over j > k of c_ij l_jk, then its own
/// element.
template <typename T>
XT_INLINE void cotangent(int64_t n, const T *__restrict l, T *__restrict x) {
  auto at = [&](auto *matrix, int64_t i, int64_t j) { return matrix + (i * n + j) * kMatrixLanes; };
  for (int64_t k = n - 1; k >= 0; --k) {
    T inverse[kMatrixLanes], own[kMatrixLanes];
    for (int64_t v = 0; v < kMatrixLanes; ++v) {
      inverse[v] = 1 / at(l, k, k)[v];
      own[v] = T(0.5) * at(x, k, k)[v];
    }
    for (int64_t i = k + 1; i < n; ++i) {
      T rest[kMatrixLanes];
      for (int64_t v = 0; v < kMatrixLanes; ++v)
        rest[v] = T(0.5) * at(x, i, k)[v];
      for (int64_t j = k + 1; j < n; ++j)
        for (int64_t v = 0; v < kMatrixLanes; ++v)
          rest[v] -= at(l, j, k)[v] * at(x, i, j)[v];
      for (int64_t v = 0; v < kMatrixLanes; ++v) {
        rest[v] *= inverse[v];
        own[v] -= rest[v] * at(l, i, k)[v];
        at(x, i, k)[v] = rest[v];
      }
    }
    for (int64_t i = k + 1; i < n; ++i)
      for (int64_t v = 0; v < kMatrixLanes; ++v)
        at(x, k, i)[v] = at(x, i, k)[v];
    for (int64_t v = 0; v < kMatrixLanes; ++v)
      at(x, k, k)[v] = own[v] * inverse[v];
  }
}

} // namespace

namespace xtensor {

XT_CLONES void solveTriangleLanes(int64_t n, const float *a, bool upper, bool unit, float *x,
                                  int64_t columns) {
  solveAny(n, a, upper, unit, x, columns);
}
XT_CLONES void solveTriangleLanes(int64_t n, const double *a, bool upper, bool unit, double *x,
                                  int64_t columns) {
  solveAny(n, a, upper, unit, x, columns);
}
XT_CLONES void multiplyTriangleLanes(int64_t n, const float *a, bool upper, bool strict, float *x,
                                     int64_t columns) {
  multiplyAny(n, a, upper, strict, x, columns);
}
XT_CLONES void multiplyTriangleLanes(int64_t n, const double *a, bool upper, bool strict, double *x,
                                     int64_t columns) {
  multiplyAny(n, a, upper, strict, x, columns);
}

XT_CLONES void triangleOfProductLanes(int64_t n, int64_t terms, const float *a, const float *b,
                                      bool strict, float *x) {
  lowerProduct(n, terms, a, b, strict, x);
}
XT_CLONES void triangleOfProductLanes(int64_t n, int64_t terms, const double *a, const double *b,
                                      bool strict, double *x) {
  lowerProduct(n, terms, a, b, strict, x);
}
XT_CLONES void choleskyTangentLanes(int64_t n, const float *l, float *x) { tangent(n, l, x); }
XT_CLONES void choleskyTangentLanes(int64_t n, const double *l, double *x) { tangent(n, l, x); }
XT_CLONES void choleskyCotangentLanes(int64_t n, const float *l, float *x) { cotangent(n, l, x); }
XT_CLONES void choleskyCotangentLanes(int64_t n, const double *l, double *x) { cotangent(n, l, x); }

} // namespace xtensor
