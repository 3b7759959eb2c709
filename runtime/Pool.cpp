// A thread pool for short loops. Workers spin for a while after a loop, then sleep. Threads claim
// chunks one by one, so a late worker finds no chunk, and no thread waits for a worker that has
// not started.
#include "Pool.h"
#include "Profile.h"
#include "Status.h"
#include "runtime.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <linux/futex.h>
#include <new>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

constexpr int kMaxThreads = 1024;
constexpr int64_t kChunksPerThread = 4;
// Waking a sleeping worker costs 10 to 20 us, so loops of less than this many grains (2 us each) do
// not do it at once; they do when that much work went by since the last time.
constexpr int64_t kGrainsWorthWaking = 32;
constexpr auto kSpin = std::chrono::microseconds(200);

thread_local bool inside __attribute__((tls_model("initial-exec"))) = false;

void relax() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void futexWait(std::atomic<uint32_t> &word, uint32_t seen) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAIT_PRIVATE, seen, nullptr,
          nullptr, 0);
}

void futexWake(std::atomic<uint32_t> &word, int count) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAKE_PRIVATE, count, nullptr,
          nullptr, 0);
}

int defaultThreads() {
  if (const char *text = getenv("XTENSOR_NUM_THREADS")) {
    int n = atoi(text);
    if (n >= 1)
      return std::min(n, kMaxThreads);
  }
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return std::clamp(CPU_COUNT(&set), 1, kMaxThreads);
  return static_cast<int>(std::clamp(sysconf(_SC_NPROCESSORS_ONLN), 1L, long(kMaxThreads)));
}

/// One cache line each: what the owner writes, what all claim, what all count.
struct Pool {
  alignas(64) std::atomic<uint32_t> epoch{0};
  alignas(64) std::atomic<int64_t> unclaimed{0};
  alignas(64) std::atomic<int64_t> unfinished{0};
  alignas(64) std::atomic<int> parked{0};
  // The job. Written by the owner while nothing is unclaimed; read after a successful claim only.
  void (*body)(void *, int64_t) = nullptr;
  void *ctx = nullptr;
  int64_t chunks = 0;
  int64_t kernel = -1; // whose loop it is, for profiles

  alignas(64) std::atomic<bool> owned{false};
  // All below: the owner's.
  std::atomic<int> threads{defaultThreads()};
  int running = 0; // workers started
  int64_t grainsMissed = 0;
  int avoidedCore = -1;
  cpu_set_t allowed;
  pthread_t workers[kMaxThreads];

  Pool() {
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
      CPU_ZERO(&allowed);
  }

  bool claim(int64_t &chunk) {
    int64_t left = unclaimed.load(std::memory_order_acquire);
    while (left > 0)
      if (unclaimed.compare_exchange_weak(left, left - 1, std::memory_order_acq_rel,
                                          std::memory_order_acquire)) {
        chunk = chunks - left;
        return true;
      }
    return false;
  }

  void work() {
    int64_t chunk;
    if (!claim(chunk))
      return;
    // The owner returns from the loop when all is finished, so a share is told before that.
    int64_t begin = xtensor::isProfiling() ? xtensor::profile::now() : 0;
    do {
      if (xtensor::duringLoops)
        xtensor::duringLoops();
      body(ctx, chunk);
      if (begin) {
        int64_t end = xtensor::profile::now(); // where the next share begins
        xtensor::profile::add(kernel, XT_SPAN_SHARE, begin, end);
        begin = end;
      }
      unfinished.fetch_sub(1, std::memory_order_release);
    } while (claim(chunk));
  }

  void serve(int id) {
    inside = true;
    uint32_t seen = epoch.load(std::memory_order_acquire);
    while (id < threads.load(std::memory_order_acquire)) {
      work();
      auto start = std::chrono::steady_clock::now();
      for (int i = 1; epoch.load(std::memory_order_acquire) == seen; ++i) {
        relax();
        if (i % 64 || std::chrono::steady_clock::now() - start < kSpin)
          continue;
        parked.fetch_add(1, std::memory_order_seq_cst);
        while (epoch.load(std::memory_order_seq_cst) == seen)
          futexWait(epoch, seen);
        parked.fetch_sub(1, std::memory_order_relaxed);
      }
      seen = epoch.load(std::memory_order_acquire);
    }
  }

  /// The kernel queues a woken thread on the waker's core, where it starves while the caller
  /// computes.
  void keepOffCallersCore() {
    int core = sched_getcpu();
    if (core < 0 || core == avoidedCore || running + 1 > CPU_COUNT(&allowed))
      return;
    cpu_set_t set = allowed;
    CPU_CLR(core, &set);
    if (CPU_COUNT(&set) == 0)
      return;
    for (int i = 0; i < running; ++i)
      pthread_setaffinity_np(workers[i], sizeof set, &set);
    avoidedCore = core;
  }

  void startWorkers();
  void stopWorkers();
  void run(void (*newBody)(void *, int64_t), void *newCtx, int64_t count, bool urgent);
};

// Never destroyed: workers may outlive static destructors. Replaced in a forked child, which has no
// workers.
std::atomic<Pool *> current{nullptr};
pthread_once_t once = PTHREAD_ONCE_INIT;
alignas(Pool) char firstPool[sizeof(Pool)];

void renewAfterFork() {
  int threads = current.load()->threads.load();
  Pool *fresh = new (std::nothrow) Pool;
  if (!fresh)
    abort();
  fresh->threads = threads;
  current = fresh;
  inside = false;
}

Pool &pool() {
  Pool *p = current.load(std::memory_order_acquire);
  if (p)
    return *p;
  pthread_once(&once, [] {
    current = new (firstPool) Pool;
    pthread_atfork(nullptr, nullptr, renewAfterFork);
  });
  return *current.load();
}

struct Start {
  Pool *pool;
  int id;
};

void Pool::startWorkers() {
  int wanted = threads.load(std::memory_order_relaxed) - 1;
  if (running >= wanted)
    return;
  sigset_t all, before; // signals are the application's threads' business
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (; running < wanted; ++running) {
    auto *start = new (std::nothrow) Start{this, running + 1};
    auto main = [](void *arg) -> void * {
      Start s = *static_cast<Start *>(arg);
      delete static_cast<Start *>(arg);
      s.pool->serve(s.id);
      return nullptr;
    };
    if (!start || pthread_create(&workers[running], nullptr, main, start) != 0) {
      delete start;
      threads = running + 1; // go on with what the system gives
      break;
    }
    pthread_setname_np(workers[running], "xtensor");
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  avoidedCore = -1;
  keepOffCallersCore();
}

void Pool::stopWorkers() {
  int keep = threads.load() - 1;
  epoch.fetch_add(1, std::memory_order_seq_cst);
  futexWake(epoch, kMaxThreads);
  for (; running > keep; --running)
    pthread_join(workers[running - 1], nullptr);
}

void Pool::run(void (*newBody)(void *, int64_t), void *newCtx, int64_t count, bool urgent) {
  startWorkers();
  int asleep = parked.load(std::memory_order_relaxed);
  if (asleep == running && !urgent) {
    grainsMissed += count;
    if (grainsMissed < kGrainsWorthWaking) {
      for (int64_t i = 0; i < count; ++i)
        newBody(newCtx, i);
      return;
    }
  }
  grainsMissed = 0;
  body = newBody, ctx = newCtx, chunks = count;
  kernel = xtensor::isProfiling() ? xtensor::profile::currentKernel() : -1;
  unfinished.store(count, std::memory_order_relaxed);
  unclaimed.store(count, std::memory_order_release);
  epoch.fetch_add(1, std::memory_order_seq_cst);
  asleep = parked.load(std::memory_order_seq_cst);
  int64_t wanted = std::min<int64_t>(count - 1 - (running - asleep), asleep);
  if (wanted > 0) {
    keepOffCallersCore();
    futexWake(epoch, static_cast<int>(wanted));
  }
  work();
  for (int i = 1; unfinished.load(std::memory_order_acquire) != 0; ++i) {
    relax();
    if (i % 4096 == 0)
      sched_yield(); // a worker may have lost its core to somebody else
  }
}

struct Range {
  void (*body)(void *, int64_t, int64_t);
  void *ctx;
  int64_t n, chunks;
  xt_status *status;
};

void runRange(void *arg, int64_t chunk) {
  auto &r = *static_cast<Range *>(arg);
  xt_begin_call(r.status);
  int64_t each = r.n / r.chunks, longer = r.n % r.chunks; // the first `longer` chunks take one more
  int64_t begin = chunk * each + std::min(chunk, longer);
  r.body(r.ctx, begin, begin + each + (chunk < longer));
}

} // namespace

thread_local void (*xtensor::duringLoops)() = nullptr;

bool xtensor::insideParallelLoop() { return inside; }

void xtensor::runChunks(void (*body)(void *, int64_t), void *ctx, int64_t chunks, bool urgent) {
  Pool &p = pool();
  if (chunks > 1 && !inside && p.threads.load(std::memory_order_relaxed) > 1 &&
      !p.owned.exchange(true, std::memory_order_acquire)) {
    inside = true;
    p.run(body, ctx, chunks, urgent);
    inside = false;
    p.owned.store(false, std::memory_order_release);
    return;
  }
  for (int64_t i = 0; i < chunks; ++i) {
    if (duringLoops)
      duringLoops();
    body(ctx, i);
  }
}

void xt_parallel_for(void (*body)(void *, int64_t, int64_t), void *ctx, int64_t n, int64_t grain) {
  if (n <= 0)
    return;
  grain = std::max<int64_t>(grain, 1);
  int threads = inside || n <= grain ? 1 : xt_num_threads();
  int64_t chunks = std::min<int64_t>(n / grain, threads * kChunksPerThread);
  if (threads == 1 || chunks < 2) {
    if (xtensor::duringLoops)
      xtensor::duringLoops();
    return body(ctx, 0, n);
  }
  Range range{body, ctx, n, chunks, xtensor::currentCall()};
  xtensor::runChunks(runRange, &range, chunks, n / grain >= kGrainsWorthWaking);
}

void xt_run_tasks(void (*body)(void *, int64_t), void *ctx, int64_t n) {
  xtensor::runChunks(body, ctx, n, /*urgent=*/true);
}

int xt_num_threads(void) { return pool().threads.load(std::memory_order_relaxed); }

void xt_set_num_threads(int n) {
  if (inside)
    return;
  Pool &p = pool();
  while (p.owned.exchange(true, std::memory_order_acquire))
    sched_yield();
  p.threads = n < 1 ? defaultThreads() : std::min(n, kMaxThreads);
  if (p.running > p.threads - 1)
    p.stopWorkers();
  p.owned.store(false, std::memory_order_release);
}
