#include "Threads.h"

#include "runtime.h"

XT_API void xt_threads(void *, void (*body)(void *, int64_t, int64_t), void *ctx, int64_t n,
                       int64_t grain) {
  // The caller's call has no status of this library's.
  xt_begin_call(nullptr);
  xt_parallel_for(body, ctx, n, grain);
}
