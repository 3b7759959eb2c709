// The LAPACK routines that the runtime needs, as overloads for float and double, and the number of
// threads that OpenBLAS uses for them. All matrices are column-major.
#pragma once

#include "Blas.h"

#include <cstddef>

#define XT_LAPACK(name) XT_BLAS(name)

#define XT_LAPACK_OF(T, p)                                                                         \
  extern "C" {                                                                                     \
  void XT_LAPACK(p##potrf_)(const char *, const int *, T *, const int *, int *, size_t);           \
  void XT_LAPACK(p##getrf_)(const int *, const int *, T *, const int *, int *, int *);             \
  void XT_LAPACK(p##geqrf_)(const int *, const int *, T *, const int *, T *, T *, const int *,     \
                            int *);                                                                \
  void XT_LAPACK(p##orgqr_)(const int *, const int *, const int *, T *, const int *, const T *,    \
                            T *, const int *, int *);                                              \
  void XT_LAPACK(p##syevd_)(const char *, const char *, const int *, T *, const int *, T *, T *,   \
                            const int *, int *, const int *, int *, size_t, size_t);               \
  void XT_LAPACK(p##sytrd_)(const char *, const int *, T *, const int *, T *, T *, T *, T *,       \
                            const int *, int *, size_t);                                           \
  void XT_LAPACK(p##gesdd_)(const char *, const int *, const int *, T *, const int *, T *, T *,    \
                            const int *, T *, const int *, T *, const int *, int *, int *,         \
                            size_t);                                                               \
  void XT_BLAS(cblas_##p##trsm)(int, int, int, int, int, int, int, T, const T *, int, T *, int);   \
  }                                                                                                \
  namespace xtensor::lapack {                                                                      \
  inline int potrf(char uplo, int n, T *a, int lda) {                                              \
    int info = 0;                                                                                  \
    XT_LAPACK(p##potrf_)(&uplo, &n, a, &lda, &info, 1);                                            \
    return info;                                                                                   \
  }                                                                                                \
  inline int getrf(int m, int n, T *a, int lda, int *pivots) {                                     \
    int info = 0;                                                                                  \
    XT_LAPACK(p##getrf_)(&m, &n, a, &lda, pivots, &info);                                          \
    return info;                                                                                   \
  }                                                                                                \
  inline int geqrf(int m, int n, T *a, int lda, T *tau, T *work, int size) {                       \
    int info = 0;                                                                                  \
    XT_LAPACK(p##geqrf_)(&m, &n, a, &lda, tau, work, &size, &info);                                \
    return info;                                                                                   \
  }                                                                                                \
  inline int orgqr(int m, int n, int k, T *a, int lda, const T *tau, T *work, int size) {          \
    int info = 0;                                                                                  \
    XT_LAPACK(p##orgqr_)(&m, &n, &k, a, &lda, tau, work, &size, &info);                            \
    return info;                                                                                   \
  }                                                                                                \
  inline int syevd(int n, T *a, int lda, T *w, T *work, int size, int *iwork, int isize) {         \
    int info = 0;                                                                                  \
    XT_LAPACK(p##syevd_)("V", "L", &n, a, &lda, w, work, &size, iwork, &isize, &info, 1, 1);       \
    return info;                                                                                   \
  }                                                                                                \
  inline int sytrd(int n, T *a, int lda, T *d, T *e, T *tau, T *work, int size) {                  \
    int info = 0;                                                                                  \
    XT_LAPACK(p##sytrd_)("L", &n, a, &lda, d, e, tau, work, &size, &info, 1);                      \
    return info;                                                                                   \
  }                                                                                                \
  inline int gesdd(int m, int n, T *a, int lda, T *s, T *u, int ldu, T *vt, int ldvt, T *work,     \
                   int size, int *iwork) {                                                         \
    int info = 0;                                                                                  \
    XT_LAPACK(p##gesdd_)("S", &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work, &size, iwork, &info,   \
                         1);                                                                       \
    return info;                                                                                   \
  }                                                                                                \
  /* op(A) X = B, or X op(A) = B, in place of B; the triangle A is on that side, upper or lower.   \
   */                                                                                              \
  inline void trsm(char side, char triangle, bool transposed, bool unit, int m, int n, const T *a, \
                   int lda, T *b, int ldb) {                                                       \
    XT_BLAS(cblas_##p##trsm)(102, side == 'L' ? 141 : 142, triangle == 'U' ? 121 : 122,            \
                             transposed ? 112 : 111, unit ? 132 : 131, m, n, T(1), a, lda, b,      \
                             ldb);                                                                 \
  }                                                                                                \
  /* C += factor op(A) op(B); the sum has k terms. */                                              \
  inline void addProduct(T factor, bool turnA, bool turnB, int m, int n, int k, const T *a,        \
                         int lda, const T *b, int ldb, T *c, int ldc) {                            \
    if (m == 0 || n == 0 || k == 0)                                                                \
      return;                                                                                      \
    XT_BLAS(cblas_##p##gemm)(102, turnA ? 112 : 111, turnB ? 112 : 111, m, n, k, factor, a, lda,   \
                             b, ldb, T(1), c, ldc);                                                \
  }                                                                                                \
  inline void subtractProduct(bool turnA, bool turnB, int m, int n, int k, const T *a, int lda,    \
                              const T *b, int ldb, T *c, int ldc) {                                \
    addProduct(T(-1), turnA, turnB, m, n, k, a, lda, b, ldb, c, ldc);                              \
  }                                                                                                \
  }

XT_LAPACK_OF(float, s)
XT_LAPACK_OF(double, d)
