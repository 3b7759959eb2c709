/* libxtensor_threads: the thread pool alone, for programs that call libraries compiled ahead of
 * time and have no threads of their own to lend. Set `parallel_for` of an xt_context to xt_threads.
 */
#ifndef XTENSOR_THREADS_H
#define XTENSOR_THREADS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `state` is not looked at. One pool for the process: $XTENSOR_NUM_THREADS, or the cores that it
 * may run on; calls of several threads at once take turns or run alone. */
void xt_threads(void *state, void (*body)(void *ctx, int64_t begin, int64_t end), void *ctx,
                int64_t n, int64_t grain);

#ifdef __cplusplus
}
#endif
#endif
