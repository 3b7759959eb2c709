// The thread pool behind xt_parallel_for, for the other files of the runtime.
#pragma once

#include <cstdint>

namespace xtensor {

/// Calls body(ctx, chunk) for each chunk in [0, chunks); same rules as xt_parallel_for.
/// urgent: worth waking sleeping threads for right now.
void runChunks(void (*body)(void *ctx, int64_t chunk), void *ctx, int64_t chunks, bool urgent);

/// Whether this thread already runs inside a parallel loop.
bool insideParallelLoop();

/// What this thread calls, if not null, each time that it takes a part of a parallel loop.
extern thread_local void (*duringLoops)() __attribute__((tls_model("initial-exec")));

} // namespace xtensor
