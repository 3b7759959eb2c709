// Device resources of compiled code that was freed. Release does not block: resources are queued,
// and freed once the device no longer uses them.
#pragma once

#include "Reports.h"

#include <deque>

namespace xtensor {

class Discards {
public:
  explicit Discards(Timeline &timeline) : timeline(timeline) {}

  /// From any thread, whatever locks it has. Of the device: its lock, and whether it is in a call,
  /// under that lock.
  void add(Made *made, std::recursive_mutex &device, const bool &inCall) {
    {
      std::lock_guard<std::mutex> guard(lock);
      fresh.push_back(made);
      any.store(true, std::memory_order_relaxed);
    }
    std::unique_lock<std::recursive_mutex> own(device, std::try_to_lock);
    // Else the next call sees to it.
    if (own && !inCall)
      sweep();
  }

  /// Called by the thread that has locked the device, between calls.
  void sweep() {
    if (!any.load(std::memory_order_relaxed))
      return;
    std::vector<Made *> added;
    {
      std::lock_guard<std::mutex> guard(lock);
      added.swap(fresh);
    }
    // Nothing that is sent from now on names it.
    for (Made *made : added)
      waiting.push_back({timeline.last(), made});
    for (; !waiting.empty() && timeline.done(waiting.front().number); waiting.pop_front())
      delete waiting.front().made;
    std::lock_guard<std::mutex> guard(lock);
    any.store(!fresh.empty() || !waiting.empty(), std::memory_order_relaxed);
  }

private:
  struct Waiting {
    uint64_t number; // of the last submission that may name it
    Made *made;
  };

  Timeline &timeline;
  std::mutex lock; // held briefly: a thread that releases code may hold Python's lock
  std::vector<Made *> fresh;
  std::atomic<bool> any{false};
  std::deque<Waiting> waiting;
};

} // namespace xtensor
