// Whether all processes do the same next. Without it, processes that make different calls wait for
// ever, or take each other's numbers.
#include "Collectives.h"
#include "Status.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

using namespace xtensor;
using Clock = std::chrono::steady_clock;

namespace {

thread_local xt_meeting *meeting = nullptr;
thread_local std::vector<char> told; // texts of XT_TOLD bytes, one of each process

/// What the processes of a communicator told when one of them ended: it does not answer any more.
struct Ends {
  std::mutex lock;
  std::unordered_map<int64_t, std::vector<char>> told;
};
std::atomic<bool> hasEnded{false};

Ends &ends() {
  static Ends made;
  return made;
}

struct Wait {
  const xt_together *what;
  Communicator with;
  Clock::time_point since;
  bool isTold;
};

/// Says on stderr which process waits for which call. It is never destroyed: its thread goes on
/// until the process ends.
class Watch {
public:
  void add(Wait &wait) {
    std::lock_guard<std::mutex> guard(lock);
    waits.insert(&wait);
    if (isRunning)
      return;
    isRunning = true;
    std::thread([this] { run(); }).detach();
  }
  void remove(Wait &wait) {
    std::lock_guard<std::mutex> guard(lock);
    waits.erase(&wait);
  }

private:
  void run() {
    for (;;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      std::lock_guard<std::mutex> guard(lock);
      for (Wait *wait : waits)
        tell(*wait);
    }
  }

  static void tell(Wait &wait) {
    double seconds = std::chrono::duration<double>(Clock::now() - wait.since).count();
    if (wait.isTold || seconds < wait.what->patience)
      return;
    wait.isTold = true;
    bool ends = !wait.what->program;
    std::fprintf(stderr, "xtensor: process %lld of %lld has waited %.0f s for the others %s%s\n",
                 static_cast<long long>(wait.with.index),
                 static_cast<long long>(wait.with.processes), seconds, ends ? "to end" : "to call ",
                 ends ? "" : wait.what->text);
    std::fflush(stderr);
  }

  std::mutex lock;
  bool isRunning = false;
  std::unordered_set<Wait *> waits;
};

Watch &watch() {
  static auto *made = new Watch;
  return *made;
}

class Waiting {
public:
  Waiting(const xt_together &what, Communicator with) : wait{&what, with, Clock::now(), false} {
    if (what.patience > 0)
      watch().add(wait);
  }
  ~Waiting() {
    if (wait.what->patience > 0)
      watch().remove(wait);
  }

private:
  Wait wait;
};

void tellAll(const xt_together &what, Communicator with) {
  char here[XT_TOLD] = {};
  std::strncpy(here, what.text, XT_TOLD - 1);
  told.assign(XT_TOLD * with.processes, 0);
  intptr_t byte = mpiLibrary().types[XT_I8];
  mpiLibrary().all_gather(here, XT_TOLD, byte, told.data(), XT_TOLD, byte, with.handle);
  for (int64_t process = 0; process < with.processes; ++process) {
    if (told[process * XT_TOLD])
      continue;
    std::lock_guard<std::mutex> guard(ends().lock);
    ends().told[what.communicator] = told;
    hasEnded = true;
  }
}

/// Whether a process of the communicator has ended, so that nobody must wait for it.
bool isOver(int64_t number) {
  if (!hasEnded.load(std::memory_order_relaxed))
    return false;
  std::lock_guard<std::mutex> guard(ends().lock);
  auto it = ends().told.find(number);
  if (it == ends().told.end())
    return false;
  told = it->second;
  return true;
}

} // namespace

int32_t xt_agree(const xt_together *what) {
  if (isOver(what->communicator))
    return 1;
  Communicator with = communicator(what->communicator);
  Waiting waiting(*what, with);
  // The largest and the smallest of all.
  int64_t here[2] = {what->program, ~what->program}, all[2];
  const xt_mpi &mpi = mpiLibrary();
  mpi.all_reduce(here, all, 2, mpi.types[XT_I64], mpi.ops[2], with.handle);
  if (all[0] == ~all[1])
    return 0;
  tellAll(*what, with);
  return 1;
}

const char *xt_told(int64_t process) {
  bool isThere = process >= 0 && process < static_cast<int64_t>(told.size() / XT_TOLD);
  return isThere ? told.data() + process * XT_TOLD : nullptr;
}

xt_meeting *xt_meet(xt_meeting *now) { return std::exchange(meeting, now); }

bool xtensor::isMet() {
  if (!meeting)
    return true;
  if (meeting->state == XT_UNMET) {
    meeting->state = xt_agree(meeting->what) ? XT_DIFFERS : XT_AGREED;
    if (meeting->state == XT_DIFFERS)
      reportDisagreement(); // loops end
  }
  return meeting->state == XT_AGREED;
}
