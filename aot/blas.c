/* Matrix products by the library that the compiler names: the calls that the runtime makes of one
 * tile (runtime/Gemm.cpp), so that the bits are those of a call in Python on one thread. */
#include "gemm.h"

enum { kRowMajor = 101, kNoTrans = 111, kTrans = 112 };

#define PRODUCTS(NAME, T, P)                                                                       \
  void cblas_##P##gemm(int order, int ta, int tb, int m, int n, int k, T alpha, const T *a,        \
                       int lda, const T *b, int ldb, T beta, T *c, int ldc);                       \
  void cblas_##P##gemv(int order, int trans, int m, int n, T alpha, const T *a, int lda,           \
                       const T *x, int incx, T beta, T *y, int incy);                              \
  void xta_blas_##NAME(xt_call *call, int64_t ta, int64_t tb, int64_t m, int64_t n, int64_t k,     \
                       const T *a, int64_t lda, const T *b, int64_t ldb, T *c, int64_t ldc,        \
                       int64_t accumulate) {                                                       \
    const int64_t most = 1 << 30;                                                                  \
    if (m <= 0 || n <= 0)                                                                          \
      return;                                                                                      \
    if ((ta ? k : m) == 1)                                                                         \
      lda = ta ? m : k > 0 ? k : 1;                                                                \
    if ((tb ? n : k) == 1)                                                                         \
      ldb = tb ? k > 0 ? k : 1 : n;                                                                \
    if (m == 1)                                                                                    \
      ldc = n;                                                                                     \
    if (m > most || n > most || k > most || lda > most || ldb > most || ldc > most || k <= 0) {    \
      xta_own_##NAME(ta, tb, m, n, k, a, lda, b, ldb, c, ldc, accumulate, call);                   \
      return;                                                                                      \
    }                                                                                              \
    /* gemv with beta = 0 multiplies in some versions, and 0 * NaN is not 0: always add. */        \
    if ((m == 1 || n == 1) && !accumulate)                                                         \
      for (int64_t i = 0; i < m; ++i)                                                              \
        for (int64_t x = 0; x < n; ++x)                                                            \
          c[i * ldc + x] = 0;                                                                      \
    if (n == 1)                                                                                    \
      cblas_##P##gemv(kRowMajor, ta ? kTrans : kNoTrans, (int)(ta ? k : m), (int)(ta ? m : k), 1,  \
                      a, (int)lda, b, (int)(tb ? 1 : ldb), 1, c, (int)ldc);                        \
    else if (m == 1)                                                                               \
      cblas_##P##gemv(kRowMajor, tb ? kNoTrans : kTrans, (int)(tb ? n : k), (int)(tb ? k : n), 1,  \
                      b, (int)ldb, a, (int)(ta ? lda : 1), 1, c, 1);                               \
    else                                                                                           \
      cblas_##P##gemm(kRowMajor, ta ? kTrans : kNoTrans, tb ? kTrans : kNoTrans, (int)m, (int)n,   \
                      (int)k, 1, a, (int)lda, b, (int)ldb, accumulate ? 1 : 0, c, (int)ldc);       \
  }

PRODUCTS(gemm_f32, float, s)
PRODUCTS(gemm_f64, double, d)
