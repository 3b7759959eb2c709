// The CBLAS routines that the runtime needs, with whatever prefix the library was built.
// Without a library, plain loops replace them (BlasFallback.cpp).
#pragma once

#if !defined(XTENSOR_BLAS_PREFIX)
#define XTENSOR_BLAS_PREFIX
#endif
#define XT_BLAS_JOIN2(a, b) a##b
#define XT_BLAS_JOIN(a, b) XT_BLAS_JOIN2(a, b)
#define XT_BLAS(name) XT_BLAS_JOIN(XTENSOR_BLAS_PREFIX, name)

namespace xtensor::blas {
constexpr int kRowMajor = 101, kNoTrans = 111, kTrans = 112, kLower = 122;
}

extern "C" {
void XT_BLAS(cblas_sgemm)(int order, int transA, int transB, int m, int n, int k, float alpha,
                          const float *a, int lda, const float *b, int ldb, float beta, float *c,
                          int ldc);
void XT_BLAS(cblas_dgemm)(int order, int transA, int transB, int m, int n, int k, double alpha,
                          const double *a, int lda, const double *b, int ldb, double beta,
                          double *c, int ldc);
void XT_BLAS(cblas_sgemv)(int order, int trans, int m, int n, float alpha, const float *a, int lda,
                          const float *x, int incx, float beta, float *y, int incy);
void XT_BLAS(cblas_dgemv)(int order, int trans, int m, int n, double alpha, const double *a,
                          int lda, const double *x, int incx, double beta, double *y, int incy);
void XT_BLAS(cblas_ssyrk)(int order, int triangle, int trans, int n, int k, float alpha,
                          const float *a, int lda, float beta, float *c, int ldc);
void XT_BLAS(cblas_dsyrk)(int order, int triangle, int trans, int n, int k, double alpha,
                          const double *a, int lda, double beta, double *c, int ldc);
void XT_BLAS(openblas_set_num_threads)(int threads);
char *XT_BLAS(openblas_get_config)(void);
}
