#include "Services.h"

#include <cstring>

namespace {

// The runtime reports to the call that its thread works for: each of these says which one it is.

void *acquire(xt_call *call, int64_t bytes) {
  xt_begin_call(&call->status);
  return xt_arena_acquire(bytes);
}

void release(xt_call *call, void *memory) {
  xt_begin_call(&call->status);
  xt_arena_release(memory);
}

void parallelFor(xt_call *call, void (*body)(void *, int64_t, int64_t), void *ctx, int64_t n,
                 int64_t grain) {
  xt_begin_call(&call->status);
  xt_parallel_for(body, ctx, n, grain);
}

void gemmF32(xt_call *call, int64_t transA, int64_t transB, int64_t m, int64_t n, int64_t k,
             const float *a, int64_t lda, const float *b, int64_t ldb, float *c, int64_t ldc,
             int64_t accumulate) {
  xt_begin_call(&call->status);
  xt_gemm_f32(transA, transB, m, n, k, a, lda, b, ldb, c, ldc, accumulate);
}

void gemmF64(xt_call *call, int64_t transA, int64_t transB, int64_t m, int64_t n, int64_t k,
             const double *a, int64_t lda, const double *b, int64_t ldb, double *c, int64_t ldc,
             int64_t accumulate) {
  xt_begin_call(&call->status);
  xt_gemm_f64(transA, transB, m, n, k, a, lda, b, ldb, c, ldc, accumulate);
}

void routine(xt_call *call, const char *name, const xt_array *arrays, const int64_t *options) {
  static constexpr struct {
    const char *name;
    void (*function)(const xt_array *, const int64_t *);
  } known[] = {
#define XT_ROUTINE(name, reports, work) {#name, name},
#include "Routines.def"
  };
  xt_begin_call(&call->status);
  for (const auto &r : known)
    if (!strcmp(r.name, name))
      return r.function(arrays, options);
  call->status.code = 4; // of a newer compiler
}

} // namespace

const xt_services xtensor::runtimeServices = {
    sizeof(xt_services), acquire, release, parallelFor, gemmF32, gemmF64, routine};
