// Spans of time of kernels, of threads and of transfers. Each thread writes to a buffer of its own,
// which outlives it.
#include "Profile.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <utility>

using namespace xtensor;

std::atomic<int> xtensor::profile::recordings{0};

namespace {

constexpr int64_t kMostSpans = 1 << 20; // of a thread, between two times that they are taken
constexpr int kDeepest = 64;

/// What a thread records, and the kernels that it is in. On the heap: thread-local memory of this
/// library is part of the little that is there for libraries that are loaded late.
struct Buffer {
  std::mutex lock; // almost always the thread's
  xt_span *spans = nullptr;
  int64_t count = 0, room = 0, dropped = 0;
  Buffer *next = nullptr;
  const int32_t thread = static_cast<int32_t>(syscall(SYS_gettid));
  // All below: the thread's alone.
  int depth = 0;
  struct {
    int64_t kernel, begin;
  } open[kDeepest];

  void add(const xt_span &span) {
    std::lock_guard<std::mutex> guard(lock);
    if (count == room) {
      int64_t larger = std::min(std::max<int64_t>(2 * room, 1024), kMostSpans);
      void *memory = larger > room ? realloc(spans, larger * sizeof(xt_span)) : nullptr;
      if (!memory) {
        ++dropped;
        return;
      }
      spans = static_cast<xt_span *>(memory);
      room = larger;
    }
    spans[count++] = span;
  }
};

std::atomic<Buffer *> buffers{nullptr}; // of all threads there ever were
thread_local Buffer *mine = nullptr;

/// Null if memory is exhausted.
Buffer *myBuffer() {
  if (mine)
    return mine;
  mine = new (std::nothrow) Buffer;
  if (!mine)
    return nullptr;
  mine->next = buffers.load(std::memory_order_relaxed);
  while (!buffers.compare_exchange_weak(mine->next, mine, std::memory_order_release,
                                        std::memory_order_relaxed)) {
  }
  return mine;
}

} // namespace

int64_t xtensor::profile::now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int64_t xtensor::profile::currentKernel() {
  int depth = mine ? std::min(mine->depth, kDeepest) : 0;
  return depth ? mine->open[depth - 1].kernel : -1;
}

void xtensor::profile::add(int64_t kernel, int32_t kind, int64_t begin) {
  int64_t end = now();
  if (Buffer *buffer = myBuffer())
    buffer->add({kernel, begin, end, kind, buffer->thread});
}

void xt_profile_begin(int64_t kernel) {
  Buffer *buffer = isProfiling() ? myBuffer() : nullptr;
  if (!buffer)
    return;
  if (buffer->depth < kDeepest)
    buffer->open[buffer->depth] = {kernel, profile::now()};
  ++buffer->depth;
}

void xt_profile_end(int64_t kernel) {
  // What began before the recording did, or was left without an end, is not told.
  while (mine && mine->depth > 0) {
    int depth = --mine->depth;
    if (depth >= kDeepest)
      return;
    auto [opened, begin] = mine->open[depth];
    if (opened != kernel)
      continue;
    if (isProfiling())
      profile::add(kernel, XT_SPAN_KERNEL, begin);
    return;
  }
}

void xt_profile_start(void) { profile::recordings.fetch_add(1); }
void xt_profile_stop(void) { profile::recordings.fetch_sub(1); }

int64_t xt_profile_take(xt_span *spans, int64_t room, int64_t *dropped) {
  int64_t taken = 0;
  for (Buffer *b = buffers.load(std::memory_order_acquire); b; b = b->next) {
    std::lock_guard<std::mutex> guard(b->lock);
    int64_t count = std::min(b->count, room - taken);
    std::copy(b->spans, b->spans + count, spans + taken);
    std::copy(b->spans + count, b->spans + b->count, b->spans);
    b->count -= count;
    taken += count;
    *dropped += std::exchange(b->dropped, 0);
    if (!b->count) {
      free(b->spans);
      b->spans = nullptr;
      b->room = 0;
    }
  }
  return taken;
}
