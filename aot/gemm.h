/* What the C part has itself. Products of matrices without a library (gemm.c); as xt_gemm_* of
 * runtime.h. */
#ifndef XTENSOR_AOT_GEMM_H
#define XTENSOR_AOT_GEMM_H

#include "call.h"

void xta_own_gemm_f32(int64_t trans_a, int64_t trans_b, int64_t m, int64_t n, int64_t k,
                      const float *a, int64_t lda, const float *b, int64_t ldb, float *c,
                      int64_t ldc, int64_t accumulate, xt_call *call);
void xta_own_gemm_f64(int64_t trans_a, int64_t trans_b, int64_t m, int64_t n, int64_t k,
                      const double *a, int64_t lda, const double *b, int64_t ldb, double *c,
                      int64_t ldc, int64_t accumulate, xt_call *call);
void xta_parallel_for(void (*body)(void *, int64_t, int64_t, xt_call *), void *ctx, int64_t n,
                      int64_t grain, xt_call *call);

/* As the routines of runtime.h (sort.c; lapack.c where a library is named), and what they take from
 * the call (kernel.c). */
#define XT_ROUTINE(name, reports, work)                                                            \
  void xta_own_##name(const xt_array *arrays, const int64_t *options, xt_call *call);
#include "Routines.def"
void *xta_arena_acquire(int64_t bytes, xt_call *call);
void xta_arena_release(void *memory, xt_call *call);

#endif
