// Vectors of AVX-512 for the matrix products that read their factors where they are.
#pragma once

#if defined(__x86_64__) && defined(__linux__) && defined(__clang__)
#define XT_HAS_WIDE_VECTORS

#include <cstdint>
#include <immintrin.h>

#define XT_V4 __attribute__((target("arch=x86-64-v4"), __min_vector_width__(512)))
#define XT_V4_INLINE inline XT_V4 __attribute__((always_inline))

namespace xtensor {

template <typename T>
struct Vector;

template <>
struct Vector<float> {
  using Type = __m512;
  static constexpr int64_t size = 16;
  static XT_V4_INLINE Type load(const float *p) { return _mm512_loadu_ps(p); }
  static XT_V4_INLINE Type load(const float *p, int64_t mask) {
    return _mm512_maskz_loadu_ps(__mmask16(mask), p);
  }
  static XT_V4_INLINE void store(float *p, Type v) { _mm512_storeu_ps(p, v); }
  static XT_V4_INLINE void store(float *p, Type v, int64_t mask) {
    _mm512_mask_storeu_ps(p, __mmask16(mask), v);
  }
  static XT_V4_INLINE Type all(float x) { return _mm512_set1_ps(x); }
  static XT_V4_INLINE float sum(Type v) { return _mm512_reduce_add_ps(v); }
};

template <>
struct Vector<double> {
  using Type = __m512d;
  static constexpr int64_t size = 8;
  static XT_V4_INLINE Type load(const double *p) { return _mm512_loadu_pd(p); }
  static XT_V4_INLINE Type load(const double *p, int64_t mask) {
    return _mm512_maskz_loadu_pd(__mmask8(mask), p);
  }
  static XT_V4_INLINE void store(double *p, Type v) { _mm512_storeu_pd(p, v); }
  static XT_V4_INLINE void store(double *p, Type v, int64_t mask) {
    _mm512_mask_storeu_pd(p, __mmask8(mask), v);
  }
  static XT_V4_INLINE Type all(double x) { return _mm512_set1_pd(x); }
  static XT_V4_INLINE double sum(Type v) { return _mm512_reduce_add_pd(v); }
};

/// The first `columns` of a vector of `size`.
XT_V4_INLINE int64_t maskOf(int64_t columns, int64_t size) {
  int64_t all = (int64_t(1) << size) - 1;
  return columns >= size ? all : columns <= 0 ? 0 : all >> (size - columns);
}

/// The sums of `terms` products of rows of A and columns of B, in registers. `row` and `term` are
/// the steps in A. `ahead`: how many rows of B before its use a row is prefetched; 0: not at all.
/// `masks`: of the columns of each vector that there are; none: all.
template <typename T, int64_t ahead, int64_t rows, int64_t vectors, typename... Masks>
XT_V4_INLINE void sumTerms(typename Vector<T>::Type (&sums)[rows][vectors], const T *a, int64_t row,
                           int64_t term, const T *b, int64_t ldb, int64_t terms,
                           const Masks *...masks) {
  using V = Vector<T>;
#pragma clang loop unroll(full)
  for (int64_t r = 0; r < rows; ++r)
#pragma clang loop unroll(full)
    for (int64_t s = 0; s < vectors; ++s)
      sums[r][s] = V::all(0);
  for (int64_t l = 0; l < terms; ++l, a += term, b += ldb) {
    typename V::Type right[vectors];
#pragma clang loop unroll(full)
    for (int64_t s = 0; s < vectors; ++s) {
      right[s] = V::load(b + s * V::size, masks[s]...);
      if constexpr (ahead > 0)
        _mm_prefetch(b + s * V::size + ahead * ldb, _MM_HINT_T1);
    }
#pragma clang loop unroll(full)
    for (int64_t r = 0; r < rows; ++r) {
      typename V::Type left = V::all(a[r * row]);
#pragma clang loop unroll(full)
      for (int64_t s = 0; s < vectors; ++s)
        sums[r][s] = __builtin_elementwise_fma(left, right[s], sums[r][s]);
    }
  }
}

inline bool hasVectors() {
  static const bool has = __builtin_cpu_supports("x86-64-v4") > 0;
  return has;
}

} // namespace xtensor

#endif
