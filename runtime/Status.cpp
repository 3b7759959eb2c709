// The status through which compiled code reports why it stops: that of the call on which the
// thread works.
#include "Status.h"
#include "runtime.h"

#include <atomic>

static thread_local xt_status *current = nullptr;

/// Threads of one parallel loop may report at once: the first one is told.
static void report(int32_t code, int32_t site, int64_t index, int64_t size) {
  int32_t done = 0;
  if (current && __atomic_compare_exchange_n(&current->code, &done, code, false, __ATOMIC_RELAXED,
                                             __ATOMIC_RELAXED)) {
    current->site = site;
    current->index = index;
    current->size = size;
  }
}

void xt_begin_call(xt_status *status) { current = status; }

xt_status *xtensor::currentCall() { return current; }

void xt_report_index(int32_t site, int64_t index, int64_t size) { report(1, site, index, size); }

static std::atomic<int32_t (*)()> checkUser{nullptr};

void xt_set_check(int32_t (*check)()) { checkUser.store(check, std::memory_order_relaxed); }

int32_t xt_poll() {
  xt_status *call = current;
  if (!call)
    return 0;
  auto *check = checkUser.load(std::memory_order_relaxed);
  if (!__atomic_load_n(&call->code, __ATOMIC_RELAXED) && check) {
    bool ends = check() != 0;
    current = call; // other code may have run
    if (ends)
      xtensor::reportEnd();
  }
  return __atomic_load_n(&call->code, __ATOMIC_RELAXED) != 0;
}

void xtensor::reportEnd() { report(7, 0, 0, 0); }

void xtensor::reportNoMemory(int64_t bytes) { report(2, 0, 0, bytes); }

void xtensor::reportDamage(int64_t offset, int64_t bytes) { report(5, 0, offset, bytes); }

void xtensor::reportDisagreement() { report(8, 0, 0, 0); }
