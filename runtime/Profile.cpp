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
constexpr int64_t kReserved = 1 << 16;  // besides, of programs and of transfers
constexpr int64_t kKernelsOfProgram =
    1 << 20; // of passes/KernelCalls.h: the first one is the program
constexpr int64_t kSums = 1 << 12;
constexpr int kDeepest = 64;

/// The spans of one kernel and kind that found no room.
struct Sum {
  int64_t kernel, count, nanoseconds;
  int32_t kind;
};

/// What a thread records, and the kernels that it is in. On the heap: thread-local memory of this
/// library is part of the little that is there for libraries that are loaded late.
struct Buffer {
  std::mutex lock; // almost always the thread's
  xt_span *spans = nullptr;
  int64_t count = 0, room = 0, dropped = 0;
  Sum *sums = nullptr; // by a hash of the kernel; those without a count are free
  Buffer *next = nullptr;
  const int32_t thread = static_cast<int32_t>(syscall(SYS_gettid));
  // All below: the thread's alone.
  int depth = 0;
  struct {
    int64_t kernel, begin;
  } open[kDeepest];

  void add(const xt_span &span) {
    std::lock_guard<std::mutex> guard(lock);
    bool isReserved = span.kind > XT_SPAN_SHARE ||
                      (span.kind == XT_SPAN_KERNEL && span.kernel % kKernelsOfProgram == 0);
    if (count < room && (count < kMostSpans || isReserved)) {
      spans[count++] = span;
      return;
    }
    int64_t most = kMostSpans + (isReserved ? kReserved : 0);
    int64_t larger = count < most ? std::clamp<int64_t>(2 * room, 1024, most) : 0;
    void *memory = larger > room ? realloc(spans, larger * sizeof(xt_span)) : nullptr;
    if (!memory)
      return drop(span);
    spans = static_cast<xt_span *>(memory);
    room = larger;
    spans[count++] = span;
  }

  void drop(const xt_span &span) {
    ++dropped;
    if (span.kind > XT_SPAN_SHARE)
      return;
    if (!sums)
      sums = static_cast<Sum *>(calloc(kSums, sizeof(Sum)));
    uint64_t at = (2 * static_cast<uint64_t>(span.kernel) + span.kind) * 0x9e3779b97f4a7c15 >> 32;
    for (int64_t i = 0; sums && i < kSums; ++i) {
      Sum &sum = sums[(at + i) % kSums];
      if (!sum.count)
        sum = {span.kernel, 0, 0, span.kind};
      if (sum.kernel != span.kernel || sum.kind != span.kind)
        continue;
      ++sum.count;
      sum.nanoseconds += span.end - span.begin;
      return;
    }
  }

  int64_t take(xt_span *to, int64_t most) {
    int64_t taken = std::min(count, most);
    count -= taken;
    std::copy(spans + count, spans + count + taken, to);
    if (count)
      return taken;
    free(spans);
    spans = nullptr;
    room = 0;
    int64_t left = 0;
    for (Sum *sum = sums; sum && sum < sums + kSums; ++sum) {
      if (!sum->count)
        continue;
      if (taken == most) {
        ++left;
        continue;
      }
      int32_t kind = XT_SPAN_MORE_KERNELS + (sum->kind - XT_SPAN_KERNEL);
      to[taken++] = {sum->kernel, std::exchange(sum->count, 0), sum->nanoseconds, kind, thread};
    }
    if (!left)
      free(std::exchange(sums, nullptr));
    return taken;
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

void xtensor::profile::add(int64_t kernel, int32_t kind, int64_t begin, int64_t end) {
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
      profile::add(kernel, XT_SPAN_KERNEL, begin, profile::now());
    return;
  }
}

void xt_profile_size(int64_t kernel, int64_t size) {
  int depth = mine && isProfiling() ? mine->depth : 0;
  if (depth > 0 && depth <= kDeepest && mine->open[depth - 1].kernel == kernel)
    profile::add(kernel, XT_SPAN_SIZE, mine->open[depth - 1].begin, size);
}

void xt_profile_start(void) { profile::recordings.fetch_add(1); }
void xt_profile_stop(void) { profile::recordings.fetch_sub(1); }

int64_t xt_profile_take(xt_span *spans, int64_t room, int64_t *dropped) {
  int64_t taken = 0;
  for (Buffer *b = buffers.load(std::memory_order_acquire); b; b = b->next) {
    std::lock_guard<std::mutex> guard(b->lock);
    taken += b->take(spans + taken, room - taken);
    *dropped += std::exchange(b->dropped, 0);
  }
  return taken;
}
