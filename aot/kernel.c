/* What compiled code calls when it was compiled ahead of time: on to the services of the call.
 * Freestanding C, compiled to bitcode for each architecture when the project is built, and linked
 * into every library by the compiler. */
#include "call.h"
#include "gemm.h"

/* Whether matrix products are the services'; the compiler says so per library. */
extern const int32_t xta_library_products;

void xta_report_index(int32_t site, int64_t index, int64_t size, xt_call *call) {
  int32_t done = 0;
  if (__atomic_compare_exchange_n(&call->status.code, &done, 1, 0, __ATOMIC_RELAXED,
                                  __ATOMIC_RELAXED)) {
    call->status.site = site;
    call->status.index = index;
    call->status.size = size;
  }
}

void *xta_arena_acquire(int64_t bytes, xt_call *call) {
  void *memory = call->services->acquire(call, bytes);
  int32_t done = 0;
  if (!memory && __atomic_compare_exchange_n(&call->status.code, &done, 2, 0, __ATOMIC_RELAXED,
                                             __ATOMIC_RELAXED))
    call->status.size = bytes;
  return memory;
}

void xta_arena_release(void *memory, xt_call *call) {
  if (memory)
    call->services->release(call, memory);
}

typedef struct {
  void (*body)(void *ctx, int64_t begin, int64_t end, xt_call *call);
  void *ctx;
  xt_call *call;
} Loop;

static void part(void *p, int64_t begin, int64_t end) {
  Loop *loop = p;
  loop->body(loop->ctx, begin, end, loop->call);
}

void xta_parallel_for(void (*body)(void *, int64_t, int64_t, xt_call *), void *ctx, int64_t n,
                      int64_t grain, xt_call *call) {
  if (n <= 0)
    return;
  if (!call->services->parallel_for || n <= grain) {
    body(ctx, 0, n, call);
    return;
  }
  Loop loop = {body, ctx, call};
  call->services->parallel_for(call, part, &loop, n, grain);
}

void xta_gemm_f32(int64_t trans_a, int64_t trans_b, int64_t m, int64_t n, int64_t k, const float *a,
                  int64_t lda, const float *b, int64_t ldb, float *c, int64_t ldc,
                  int64_t accumulate, xt_call *call) {
  if (xta_library_products)
    call->services->gemm_f32(call, trans_a, trans_b, m, n, k, a, lda, b, ldb, c, ldc, accumulate);
  else
    xta_own_gemm_f32(trans_a, trans_b, m, n, k, a, lda, b, ldb, c, ldc, accumulate, call);
}

void xta_gemm_f64(int64_t trans_a, int64_t trans_b, int64_t m, int64_t n, int64_t k,
                  const double *a, int64_t lda, const double *b, int64_t ldb, double *c,
                  int64_t ldc, int64_t accumulate, xt_call *call) {
  if (xta_library_products)
    call->services->gemm_f64(call, trans_a, trans_b, m, n, k, a, lda, b, ldb, c, ldc, accumulate);
  else
    xta_own_gemm_f64(trans_a, trans_b, m, n, k, a, lda, b, ldb, c, ldc, accumulate, call);
}

#define XT_ROUTINE(name, reports, work)                                                            \
  void xta_##name(const xt_array *arrays, const int64_t *options, xt_call *call) {                 \
    call->services->routine(call, #name, arrays, options);                                         \
  }
#include "Routines.def"
