// What the runtime records for profiles: the functions that compiled code and Python call, and what
// the other files of the runtime call.
#pragma once

#include "runtime.h"

#include <atomic>

extern "C" {

/* A span of time on one thread, in nanoseconds of the monotonic clock. kernel: what the span is
 * of; for a transfer, the bytes. */
enum {
  XT_SPAN_KERNEL, /* between xt_profile_begin and xt_profile_end */
  XT_SPAN_SHARE,  /* a thread's share of the parallel loops of a kernel */
  XT_SPAN_WRITE,  /* a copy to a device */
  XT_SPAN_READ,   /* a copy from a device, with the time that the device still works */
  XT_SPAN_COPY,   /* a copy on a device, until it has begun */
  /* All runs of a kernel, and all shares of its loops, that found no room: how many they are
   * (begin), and their nanoseconds together (end). */
  XT_SPAN_MORE_KERNELS,
  XT_SPAN_MORE_SHARES,
  XT_SPAN_SIZE /* an open size (end) of the program that has begun at `begin` */
};
typedef struct xt_span {
  int64_t kernel;
  int64_t begin, end;
  int32_t kind;
  int32_t thread; /* as the system numbers it */
} xt_span;
/* Programs that are profiled call these around each kernel, by a number of their own. They nest.
 * While nothing is recorded they do nothing. */
XT_API void xt_profile_begin(int64_t kernel);
XT_API void xt_profile_end(int64_t kernel);
/* Tells the next open size of the program that has just begun: they tell what its kernels do. */
XT_API void xt_profile_size(int64_t kernel, int64_t size);
/* Records spans from now on; recordings nest. Devices wait for each kernel meanwhile. */
XT_API void xt_profile_start(void);
XT_API void xt_profile_stop(void);
/* Takes up to `room` of the spans that were recorded, in any order, and returns how many. dropped:
 * how many have found no room, since it was last told. A thread has room for 1,048,576 spans, and
 * for some more of programs and of transfers. */
XT_API int64_t xt_profile_take(xt_span *spans, int64_t room, int64_t *dropped);
}

namespace xtensor {

namespace profile {
extern std::atomic<int> recordings; // that go on
int64_t now();
/// The innermost kernel that this thread is in, or -1.
int64_t currentKernel();
void add(int64_t kernel, int32_t kind, int64_t begin, int64_t end);
} // namespace profile

inline bool isProfiling() { return profile::recordings.load(std::memory_order_relaxed) > 0; }

/// A span from here to the end of the block, if anything is recorded.
class Span {
public:
  Span(int64_t kernel, int32_t kind)
      : kernel(kernel), begin(isProfiling() ? profile::now() : 0), kind(kind) {}
  ~Span() {
    if (begin)
      profile::add(kernel, kind, begin, profile::now());
  }
  Span(const Span &) = delete;

private:
  int64_t kernel, begin;
  int32_t kind;
};

} // namespace xtensor
