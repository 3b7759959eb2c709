// A thread pool for short loops. Workers spin for a while after a loop, then sleep. Threads claim
// chunks one by one, so a late worker finds no chunk, and no thread waits for a worker that has
// not started. Each thread begins at a place of its own: so loops over the same array find the same
// part of it in the caches of a core. A worker that loses its core to another process in the middle
// of a chunk gets the core of the thread that waits for it.
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
#include <utility>

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
// A thread that waits for the last chunks looks after this time whether a worker has lost its core,
// and then at twice the interval each time. A time slice of the system is 1 to 4 ms.
constexpr auto kPatience = std::chrono::microseconds(20);

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

/// A thread of the pool. Its own cache lines.
struct alignas(64) Worker {
  std::atomic<bool> busy{false}; // in a chunk
  // All below: the owner's.
  pthread_t thread;
  clockid_t clock; // CPU time of the thread
  int64_t ran;     // what the clock showed last, in ns
  cpu_set_t cores; // where it was put
};

int64_t readClock(clockid_t clock) {
  timespec t;
  return clock_gettime(clock, &t) == 0 ? t.tv_sec * 1000000000LL + t.tv_nsec : -1;
}

/// The chunks of a loop that no thread has claimed: a bit for each, or for a run of several.
class Chunks {
public:
  /// All `count` chunks. The owner's, while none is left to claim.
  void fill(int64_t count) {
    chunks = count;
    run = (count + kBits - 1) / kBits;
    int64_t total = (count + run - 1) / run;
    runs.store(total, std::memory_order_relaxed);
    for (int64_t first = 0; first < total; first += 64) {
      int64_t bits = std::min<int64_t>(total - first, 64);
      words[first / 64].bits.store(~uint64_t(0) >> (64 - bits), std::memory_order_release);
    }
  }

  /// Claims the first run at or after the place where thread `id` of `threads` begins, or else the
  /// first one. Returns whether there was one: chunks [begin, end).
  bool claim(int64_t id, int64_t threads, int64_t &begin, int64_t &end) {
    // Of the next loop, if that begins meanwhile: its bits are claimed then, or left to others.
    int64_t total = runs.load(std::memory_order_relaxed), count = (total + 63) / 64;
    int64_t home = total * id / threads;
    uint64_t after = ~uint64_t(0) << home % 64;
    for (int64_t i = 0; count && i <= count; ++i) {
      int64_t w = (home / 64 + i) % count;
      uint64_t wanted = i == 0 ? after : i == count ? ~after : ~uint64_t(0);
      std::atomic<uint64_t> &bits = words[w].bits;
      uint64_t left = bits.load(std::memory_order_acquire);
      while (left & wanted) {
        int bit = __builtin_ctzll(left & wanted);
        if (!bits.compare_exchange_weak(left, left & ~(uint64_t(1) << bit),
                                        std::memory_order_acq_rel, std::memory_order_acquire))
          continue;
        begin = (w * 64 + bit) * run;
        end = std::min(begin + run, chunks);
        return true;
      }
    }
    return false;
  }

private:
  static constexpr int64_t kBits = kMaxThreads * kChunksPerThread;
  struct alignas(64) Word { // threads that begin in different words do not wait for each other
    std::atomic<uint64_t> bits{0};
  };
  Word words[kBits / 64];
  std::atomic<int64_t> runs{0};
  // Written while no bit is set; read after a successful claim only.
  int64_t chunks = 0, run = 1;
};

/// One cache line each: what the owner writes, what all claim, what all count.
struct Pool {
  alignas(64) std::atomic<uint32_t> epoch{0};
  Chunks unclaimed;
  alignas(64) std::atomic<int64_t> unfinished{0};
  alignas(64) std::atomic<int> parked{0};
  std::atomic<uint32_t> ownerSleeps{0}; // until nothing is unfinished
  // The job. Written by the owner while nothing is unclaimed; read after a successful claim only.
  void (*body)(void *, int64_t) = nullptr;
  void *ctx = nullptr;
  int64_t kernel = -1; // whose loop it is, for profiles

  alignas(64) std::atomic<bool> owned{false};
  // All below: the owner's.
  std::atomic<int> threads{defaultThreads()};
  int running = 0; // workers started
  int64_t grainsMissed = 0;
  int avoidedCore = -1;
  cpu_set_t allowed;
  Worker workers[kMaxThreads];

  Pool() {
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
      CPU_ZERO(&allowed);
  }

  /// Runs chunks until none is left. Thread 0 is the owner.
  void work(int64_t id) {
    int64_t size = threads.load(std::memory_order_relaxed), begin, end;
    if (!unclaimed.claim(id, size, begin, end))
      return;
    // The owner returns from the loop when all is finished, so a share is told before that.
    int64_t start = xtensor::isProfiling() ? xtensor::profile::now() : 0, finished = 0;
    do {
      for (int64_t chunk = begin; chunk < end; ++chunk) {
        if (xtensor::duringLoops)
          xtensor::duringLoops();
        body(ctx, chunk);
      }
      if (start) {
        int64_t now = xtensor::profile::now(); // where the next share begins
        xtensor::profile::add(kernel, XT_SPAN_SHARE, start, now);
        start = now;
      }
      finished += end - begin;
    } while (unclaimed.claim(id, size, begin, end));
    if (unfinished.fetch_sub(finished, std::memory_order_seq_cst) == finished &&
        ownerSleeps.load(std::memory_order_seq_cst) && ownerSleeps.exchange(0))
      futexWake(ownerSleeps, 1);
  }

  void serve(int id) {
    inside = true;
    std::atomic<bool> &busy = workers[id - 1].busy;
    uint32_t seen = epoch.load(std::memory_order_acquire);
    while (id < threads.load(std::memory_order_acquire)) {
      busy.store(true, std::memory_order_relaxed);
      work(id);
      busy.store(false, std::memory_order_relaxed);
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

  bool hasCoreForEach() const { return running < CPU_COUNT(&allowed); }

  void put(Worker &w, const cpu_set_t &cores) {
    if (pthread_setaffinity_np(w.thread, sizeof cores, &cores) == 0)
      w.cores = cores;
  }

  /// Workers that are not where they were put: somebody else has said which cores are allowed.
  void readAllowed() {
    cpu_set_t now;
    for (int i = 0; i < running; ++i)
      if (pthread_getaffinity_np(workers[i].thread, sizeof now, &now) == 0 &&
          !CPU_EQUAL(&now, &workers[i].cores))
        allowed = now;
  }

  /// The kernel queues a woken thread on the waker's core, where it starves while the caller
  /// computes.
  void keepOffCallersCore() {
    int core = sched_getcpu();
    if (core < 0 || core == avoidedCore)
      return;
    readAllowed();
    if (!hasCoreForEach())
      return;
    cpu_set_t set = allowed;
    CPU_CLR(core, &set);
    if (CPU_COUNT(&set) == 0)
      return;
    for (int i = 0; i < running; ++i)
      put(workers[i], set);
    avoidedCore = core;
  }

  /// Whether workers have lost their core in the middle of a chunk. They are moved to the caller's
  /// core, unless they may run there anyway.
  bool lendCore() {
    int core = std::max(sched_getcpu(), 0);
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(core, &own);
    bool isLost = false;
    for (int i = 0; i < running; ++i) {
      Worker &w = workers[i];
      if (!w.busy.load(std::memory_order_relaxed))
        continue;
      int64_t before = std::exchange(w.ran, readClock(w.clock));
      if (w.ran - before >= std::chrono::nanoseconds(kPatience).count() / 2)
        continue;
      if (!isLost)
        readAllowed();
      isLost = true;
      if (hasCoreForEach() && CPU_ISSET(core, &allowed))
        put(w, own);
    }
    return isLost;
  }

  void waitForWorkers() {
    using std::chrono::steady_clock;
    auto patience = kPatience;
    steady_clock::time_point next{};
    for (int i = 1; unfinished.load(std::memory_order_acquire) != 0; ++i) {
      relax();
      if (i % 64)
        continue;
      auto now = steady_clock::now();
      if (next == steady_clock::time_point{})
        next = now + patience;
      if (now < next)
        continue;
      next = now + (patience *= 2);
      if (!lendCore())
        continue;
      ownerSleeps.store(1, std::memory_order_seq_cst);
      while (unfinished.load(std::memory_order_seq_cst) != 0 && ownerSleeps.load())
        futexWait(ownerSleeps, 1);
      ownerSleeps.store(0, std::memory_order_relaxed);
      avoidedCore = -1;
      keepOffCallersCore();
    }
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
  readAllowed();
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
    if (!start || pthread_create(&workers[running].thread, nullptr, main, start) != 0) {
      delete start;
      threads = running + 1; // go on with what the system gives
      break;
    }
    pthread_setname_np(workers[running].thread, "xtensor");
    pthread_getcpuclockid(workers[running].thread, &workers[running].clock);
    workers[running].ran = 0;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  for (int i = 0; i < running; ++i)
    put(workers[i], allowed);
  avoidedCore = -1;
  keepOffCallersCore();
}

void Pool::stopWorkers() {
  int keep = threads.load() - 1;
  epoch.fetch_add(1, std::memory_order_seq_cst);
  futexWake(epoch, kMaxThreads);
  for (; running > keep; --running)
    pthread_join(workers[running - 1].thread, nullptr);
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
  body = newBody, ctx = newCtx;
  kernel = xtensor::isProfiling() ? xtensor::profile::currentKernel() : -1;
  unfinished.store(count, std::memory_order_relaxed);
  unclaimed.fill(count);
  epoch.fetch_add(1, std::memory_order_seq_cst);
  asleep = parked.load(std::memory_order_seq_cst);
  int64_t wanted = std::min<int64_t>(count - 1 - (running - asleep), asleep);
  if (wanted > 0) {
    keepOffCallersCore();
    futexWake(epoch, static_cast<int>(wanted));
  }
  work(0);
  waitForWorkers();
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
