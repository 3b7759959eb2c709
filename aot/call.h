/* Between code compiled ahead of time and what runs it: the code has no state and calls nothing of
 * the process but libc and libm; all else comes with each call. */
#ifndef XTENSOR_AOT_CALL_H
#define XTENSOR_AOT_CALL_H

#include "runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct xt_call xt_call;

/* Grows at its end; `bytes` tells how much of it there is. */
typedef struct xt_services {
  uint64_t bytes;
  /* 64-byte aligned; null, and not reported, if there is no memory. */
  void *(*acquire)(xt_call *call, int64_t bytes);
  void (*release)(xt_call *call, void *memory);
  void (*parallel_for)(xt_call *call, void (*body)(void *ctx, int64_t begin, int64_t end),
                       void *ctx, int64_t n, int64_t grain);
  void (*gemm_f32)(xt_call *call, int64_t trans_a, int64_t trans_b, int64_t m, int64_t n, int64_t k,
                   const float *a, int64_t lda, const float *b, int64_t ldb, float *c, int64_t ldc,
                   int64_t accumulate);
  void (*gemm_f64)(xt_call *call, int64_t trans_a, int64_t trans_b, int64_t m, int64_t n, int64_t k,
                   const double *a, int64_t lda, const double *b, int64_t ldb, double *c,
                   int64_t ldc, int64_t accumulate);
  /* A routine of Routines.def by its name. */
  void (*routine)(xt_call *call, const char *name, const xt_array *arrays, const int64_t *options);
} xt_services;

/* An xt_entry gets the address of the status: code of this process finds that, code compiled ahead
 * of time all of it. */
struct xt_call {
  xt_status status;
  const xt_services *services;
  void *state; /* of the services */
};

#ifdef __cplusplus
}
#endif
#endif
