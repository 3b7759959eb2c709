// Output buffers. Fresh pages cost more than the work on them, so freed blocks are kept by size
// class, up to a limit. Each thread keeps small blocks without a lock. One store holds large
// blocks, in pages of 2 MB if the kernel has them.
#include "BlockSizes.h"
#include "DebugMemory.h"
#include "runtime.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define XT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define XT_ASAN 1
#endif
#endif
#if defined(XT_ASAN)
#include <sanitizer/asan_interface.h>
#define XT_POISON(p, n) ASAN_POISON_MEMORY_REGION(p, n)
#define XT_UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
#define XT_POISON(p, n)
#define XT_UNPOISON(p, n)
#endif

namespace {

constexpr size_t kHuge = size_t(2) << 20;
constexpr size_t kMapped = 2 * kHuge; // blocks from here on are mapped, below they come from malloc
constexpr int kClasses = 4 * 58;
constexpr int kSmallClasses = 4 * 10 + 1; // up to 64 KB
constexpr int kSmallKept = 32;            // per class and thread
constexpr int64_t kIdle = 100;            // milliseconds after which a free block counts as idle

using Sizes = xtensor::BlockSizes<6>;

int classOf(size_t bytes) { return Sizes::classOf(bytes); }

size_t bytesOf(int cls) {
  size_t bytes = Sizes::bytesOf(cls);
  return bytes >= kMapped ? xtensor::roundUp(bytes, kHuge) : bytes;
}

struct Block {
  Block *next;
  int64_t freed; // when, in milliseconds; blocks of one thread do not say
};

int64_t milliseconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return int64_t(t.tv_sec) * 1000 + t.tv_nsec / 1000000;
}

size_t keptBound() {
  if (const char *text = getenv("XTENSOR_CACHE_BYTES"))
    return strtoull(text, nullptr, 10);
  size_t ram = size_t(sysconf(_SC_PHYS_PAGES)) * size_t(sysconf(_SC_PAGESIZE));
  return std::min(ram / 4, size_t(4) << 30);
}

void giveBack(void *p, int cls) {
  size_t bytes = bytesOf(cls);
  XT_UNPOISON(p, bytes);
  if (bytes < kMapped)
    free(p);
  else
    munmap(p, bytes);
}

/// Blocks kept for every thread.
struct Store {
  std::atomic<bool> locked{false};
  size_t kept = 0, bound = keptBound();
  int nextVictim = 0;
  Block *lists[kClasses] = {};

  void lock() {
    for (int i = 1; locked.exchange(true, std::memory_order_acquire); ++i)
      if (i % 64 == 0)
        sched_yield();
  }
  void unlock() { locked.store(false, std::memory_order_release); }

  Block *take(int cls) {
    lock();
    Block *b = lists[cls];
    if (b) {
      XT_UNPOISON(b, bytesOf(cls));
      lists[cls] = b->next;
      kept -= bytesOf(cls);
    }
    unlock();
    return b;
  }

  void put(void *p, int cls) {
    size_t bytes = bytesOf(cls);
    if (bytes > bound)
      return giveBack(p, cls);
    lock();
    if (kept + bytes > bound)
      return replace(p, cls);
    push(p, cls);
    unlock();
  }

  void push(void *p, int cls) {
    auto *b = static_cast<Block *>(p);
    b->next = lists[cls];
    b->freed = milliseconds();
    lists[cls] = b;
    kept += bytesOf(cls);
    XT_POISON(p, bytesOf(cls));
  }

  /// Mapped blocks of no more than `bytes` together that were freed long ago, the largest ones
  /// first.
  void takeIdle(size_t bytes, Block *(&taken)[kClasses]) {
    int64_t before = milliseconds() - kIdle;
    lock();
    for (int cls = classOf(bytes); bytesOf(cls) >= kMapped; --cls)
      while (lists[cls] && bytesOf(cls) <= bytes) {
        Block *b = lists[cls];
        XT_UNPOISON(b, bytesOf(cls));
        if (b->freed > before) { // the ones behind it may be older: they wait for another time
          XT_POISON(b, bytesOf(cls));
          break;
        }
        lists[cls] = b->next;
        kept -= bytesOf(cls);
        bytes -= bytesOf(cls);
        b->next = taken[cls];
        taken[cls] = b;
      }
    unlock();
  }

  /// Blocks of sizes that are no longer used are freed for sizes that are used.
  void replace(void *p, int cls) {
    Block *dropped[kClasses] = {};
    for (; kept + bytesOf(cls) > bound; nextVictim = (nextVictim + 1) % kClasses)
      while (lists[nextVictim] && kept + bytesOf(cls) > bound) {
        Block *b = lists[nextVictim];
        XT_UNPOISON(b, sizeof(Block));
        lists[nextVictim] = b->next;
        kept -= bytesOf(nextVictim);
        b->next = dropped[nextVictim];
        dropped[nextVictim] = b;
      }
    push(p, cls);
    unlock();
    drop(dropped);
  }

  void clear() {
    lock();
    Block *dropped[kClasses];
    std::copy_n(lists, kClasses, dropped);
    std::fill_n(lists, kClasses, nullptr);
    kept = 0;
    unlock();
    drop(dropped);
  }

  static void drop(Block *(&lists)[kClasses]) {
    for (int cls = 0; cls < kClasses; ++cls)
      while (Block *b = lists[cls]) {
        XT_UNPOISON(b, sizeof(Block));
        lists[cls] = b->next;
        giveBack(b, cls);
      }
  }
};

// Never destroyed: arrays are freed while the process exits, too.
Store &store() {
  static Store *s = [] {
    auto *made = new Store;
    // A forked child must not inherit a lock that no thread of it can release.
    pthread_atfork([] { store().lock(); }, [] { store().unlock(); }, [] { store().unlock(); });
    return made;
  }();
  return *s;
}

/// Puts the pages of blocks that lie idle where a fresh block begins: the system would take those
/// of a program that ended long ago for used, and make new ones, which costs more than the work
/// done on them. False, with nothing mapped, where the system fails.
bool moveIdlePages(char *p, size_t bytes) {
  Block *idle[kClasses] = {};
  store().takeIdle(bytes, idle);
  char *to = p;
  for (int cls = kClasses - 1; cls >= 0; --cls)
    while (Block *b = idle[cls]) {
      size_t size = bytesOf(cls);
      idle[cls] = b->next;
      if (mremap(b, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to) != MAP_FAILED) {
        to += size;
        continue;
      }
      // A block of moved pages is several mappings, which do not move at once. What was at `to` may
      // be gone by now.
      munmap(b, size);
      if (mmap(to, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
          MAP_FAILED) {
        Store::drop(idle);
        munmap(p, bytes);
        return false;
      }
      madvise(to, size, MADV_HUGEPAGE);
    }
  return true;
}

void *fresh(int cls) {
  size_t bytes = bytesOf(cls);
  if (bytes < kMapped)
    return aligned_alloc(64, bytes);
  // Map one huge page more than needed and cut the block out at a huge page's boundary.
  void *raw =
      mmap(nullptr, bytes + kHuge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED)
    return nullptr;
  auto start = reinterpret_cast<uintptr_t>(raw), aligned = (start + kHuge - 1) & ~(kHuge - 1);
  if (aligned != start)
    munmap(raw, aligned - start);
  if (size_t rest = start + kHuge - aligned)
    munmap(reinterpret_cast<void *>(aligned + bytes), rest);
  auto *p = reinterpret_cast<void *>(aligned);
  madvise(p, bytes, MADV_HUGEPAGE);
  return moveIdlePages(static_cast<char *>(p), bytes) ? p : nullptr;
}

/// Small blocks of one thread.
struct ThreadCache {
  Block *lists[kSmallClasses] = {};
  uint8_t count[kSmallClasses] = {};

  void clear() {
    for (int cls = 0; cls < kSmallClasses; ++cls)
      while (Block *b = lists[cls]) {
        XT_UNPOISON(b, bytesOf(cls));
        lists[cls] = b->next;
        store().put(b, cls);
      }
    std::fill_n(count, kSmallClasses, 0);
  }
};

thread_local ThreadCache *mine __attribute__((tls_model("initial-exec"))) = nullptr;
thread_local bool ended __attribute__((tls_model("initial-exec"))) = false;

ThreadCache *makeThreadCache() {
  if (ended)
    return nullptr;
  static pthread_key_t key = [] {
    pthread_key_t k;
    pthread_key_create(&k, [](void *cache) {
      mine = nullptr;
      ended = true;
      static_cast<ThreadCache *>(cache)->clear();
      delete static_cast<ThreadCache *>(cache);
    });
    return k;
  }();
  mine = new ThreadCache;
  pthread_setspecific(key, mine);
  return mine;
}

void *take(size_t bytes) {
  int cls = classOf(bytes);
  if (cls < kSmallClasses) {
    if (ThreadCache *cache = mine)
      if (Block *b = cache->lists[cls]) {
        XT_UNPOISON(b, bytesOf(cls));
        cache->lists[cls] = b->next;
        --cache->count[cls];
        return b;
      }
  }
  if (Block *b = store().take(cls))
    return b;
  void *p = fresh(cls);
  if (p)
    return p;
  xt_trim(); // kept blocks of other sizes may be what is missing
  return fresh(cls);
}

void give(void *p, size_t bytes) {
  int cls = classOf(bytes);
  if (cls >= kSmallClasses)
    return store().put(p, cls);
  ThreadCache *cache = mine ? mine : makeThreadCache();
  if (!cache || cache->count[cls] >= kSmallKept)
    return store().put(p, cls);
  auto *b = static_cast<Block *>(p);
  b->next = cache->lists[cls];
  cache->lists[cls] = b;
  ++cache->count[cls];
  XT_POISON(p, bytesOf(cls));
}

/// Large blocks begin with a huge page, so nothing lies before them.
size_t frontGuard(size_t bytes) { return bytes < kMapped ? xtensor::kGuard : 0; }

__attribute__((noinline)) void *takeGuarded(size_t bytes) {
  size_t front = frontGuard(bytes);
  auto *block = static_cast<char *>(take(front + bytes + xtensor::kGuard));
  if (!block)
    return nullptr;
  xtensor::fillUnwritten(block + front, bytes);
  xtensor::writeGuards(block + front, bytes, front);
  return block + front;
}

__attribute__((noinline)) void giveGuarded(void *p, size_t bytes) {
  ptrdiff_t offset;
  if (xt_damaged(p, bytes, &offset)) {
    fprintf(stderr, "xtensor: byte %td of a block of %zu bytes was written: the process ends\n",
            offset, bytes);
    abort();
  }
  size_t front = frontGuard(bytes);
  give(static_cast<char *>(p) - front, front + bytes + xtensor::kGuard);
}

} // namespace

void *xt_alloc(size_t bytes) {
  if (bytes > size_t(1) << 56)
    return nullptr;
  return __builtin_expect(xtensor::debugMemory, 0) ? takeGuarded(bytes) : take(bytes);
}

void xt_free(void *p, size_t bytes) {
  if (!p)
    return;
  if (__builtin_expect(xtensor::debugMemory, 0))
    return giveGuarded(p, bytes);
  give(p, bytes);
}

int32_t xt_debug_memory(void) { return xtensor::debugMemory; }

int32_t xt_damaged(void *p, size_t bytes, ptrdiff_t *offset) {
  if (!xtensor::debugMemory || !p || !xtensor::findDamage(p, bytes, frontGuard(bytes), *offset))
    return 0;
  xtensor::writeGuards(p, bytes, frontGuard(bytes)); // told once
  return 1;
}

size_t xt_cached_bytes(void) {
  Store &s = store();
  s.lock();
  size_t kept = s.kept;
  s.unlock();
  if (mine)
    for (int cls = 0; cls < kSmallClasses; ++cls)
      kept += mine->count[cls] * bytesOf(cls);
  return kept;
}

void xt_trim(void) {
  if (mine)
    mine->clear();
  store().clear();
}
