// Matrix products for machines without OpenBLAS: correct, cache-aware, and much slower.
#include "Blas.h"

#include <cstdint>

namespace {

template <typename T>
void gemm(bool transA, bool transB, int m, int n, int k, T alpha, const T *a, int64_t lda,
          const T *b, int64_t ldb, T beta, T *c, int64_t ldc) {
  for (int i = 0; i < m; ++i) {
    T *row = c + i * ldc;
    for (int j = 0; j < n; ++j)
      row[j] = beta == 0 ? T(0) : beta * row[j];
    for (int p = 0; p < k; ++p) {
      T left = alpha * (transA ? a[p * lda + i] : a[i * lda + p]);
      for (int j = 0; j < n; ++j)
        row[j] += left * (transB ? b[j * ldb + p] : b[p * ldb + j]);
    }
  }
}

template <typename T>
void gemv(bool trans, int m, int n, T alpha, const T *a, int64_t lda, const T *x, int64_t incx,
          T beta, T *y, int64_t incy) {
  int rows = trans ? n : m, cols = trans ? m : n;
  for (int i = 0; i < rows; ++i) {
    T sum = 0;
    for (int j = 0; j < cols; ++j)
      sum += (trans ? a[j * lda + i] : a[i * lda + j]) * x[j * incx];
    y[i * incy] = alpha * sum + (beta == 0 ? T(0) : beta * y[i * incy]);
  }
}

} // namespace

using xtensor::blas::kTrans;

extern "C" {
void XT_BLAS(cblas_sgemm)(int, int ta, int tb, int m, int n, int k, float alpha, const float *a,
                          int lda, const float *b, int ldb, float beta, float *c, int ldc) {
  gemm(ta == kTrans, tb == kTrans, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
void XT_BLAS(cblas_dgemm)(int, int ta, int tb, int m, int n, int k, double alpha, const double *a,
                          int lda, const double *b, int ldb, double beta, double *c, int ldc) {
  gemm(ta == kTrans, tb == kTrans, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
void XT_BLAS(cblas_sgemv)(int, int t, int m, int n, float alpha, const float *a, int lda,
                          const float *x, int incx, float beta, float *y, int incy) {
  gemv(t == kTrans, m, n, alpha, a, lda, x, incx, beta, y, incy);
}
void XT_BLAS(cblas_dgemv)(int, int t, int m, int n, double alpha, const double *a, int lda,
                          const double *x, int incx, double beta, double *y, int incy) {
  gemv(t == kTrans, m, n, alpha, a, lda, x, incx, beta, y, incy);
}
void XT_BLAS(cblas_ssyrk)(int, int, int t, int n, int k, float alpha, const float *a, int lda,
                          float beta, float *c, int ldc) {
  gemm(t == kTrans, t != kTrans, n, n, k, alpha, a, lda, a, lda, beta, c, ldc);
}
void XT_BLAS(cblas_dsyrk)(int, int, int t, int n, int k, double alpha, const double *a, int lda,
                          double beta, double *c, int ldc) {
  gemm(t == kTrans, t != kTrans, n, n, k, alpha, a, lda, a, lda, beta, c, ldc);
}
void XT_BLAS(openblas_set_num_threads)(int) {}
char *XT_BLAS(openblas_get_config)(void) {
  static char name[] = "none (plain loops)";
  return name;
}
}
