// What a process knows of the others with which it makes calls.
#pragma once

#include "Collectives.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace xtensor {

using Clock = std::chrono::steady_clock;

/// A message beside collectives. Processes that have waited for long send it.
struct Note {
  enum Kind : int64_t { Waits, Moved, Heard, Ask, Still, Verdict };
  int64_t kind, from;
  int64_t wait; ///< the number of the wait in the process that it is about
  int64_t what; ///< equal in all processes that wait in the same
  char text[XT_TOLD];
};

/// Calls of the meshes of one communicator. One thread at a time makes them.
struct Path {
  int64_t number; ///< of the communicator
  Communicator with;

  std::mutex lock; ///< of what other threads ask
  std::vector<std::string> names;
  std::atomic<bool> isOver{false}, isRaised{false};
  int32_t why = 0;
  std::vector<char> texts; ///< XT_TOLD bytes for each process, or for all
  bool isEnding = false;
  std::atomic<std::thread::id> caller{};

  // What the processes compare: two numbers, and the largest of each.
  int64_t said[2] = {}, heard[2] = {};
  intptr_t comparison = 0; ///< a request
  bool isPrepared = false; ///< the request can be started again

  // What the call, or the one before, did.
  int64_t hash = 0, steps = 0;
  char call[256] = {}, last[160] = {};
  Clock::time_point met = Clock::now();

  // Of long waits.
  int64_t waits = 0;
  std::unordered_map<int64_t, Note> waiting; ///< of process 0: which others do
  std::unordered_map<int64_t, bool> still;   ///< those that have answered since it asked
  bool isHeard = false;                      ///< by process 0

  /// From now on all calls fail.
  void end(int32_t why, std::vector<char> texts);
  /// `process 1 (data=1; pid 7 on host)`
  std::string name(int64_t process);
};

Path &pathOf(int64_t communicator);
/// Of the communicator whose calls a thread makes; null: the processes do not compare calls.
Path *currentPath();
/// Makes the reason for which calls fail that of this thread, which xt_told gives.
void tellOver(Path &path);

/// How a process waits for one request: it says so when it has waited for long, and ends when all
/// processes wait for each other.
class LongWait {
public:
  LongWait(Path &path, const xt_together &what, const Step *step)
      : path(path), what(what), step(step), since(Clock::now()), wait(++path.waits) {}
  ~LongWait();
  /// Between two tests of the request; false: it will never end.
  bool goesOn();

private:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - since).count(); }
  std::string told() const;
  int64_t same() const;
  void announce();
  void listen();
  void hear(const Note &note);
  void send(int64_t to, Note::Kind kind, int64_t of, const std::string &text = "");
  void roll();
  bool judge();

  Path &path;
  const xt_together &what;
  const Step *step; ///< null: of xt_agree
  Clock::time_point since, listened{}, asked{};
  int64_t wait;
  bool isTold = false, isListed = false, isStuck = false;
};

/// Waits for a request of calls of `path`, by testing it.
bool testUntilDone(intptr_t *request, Path *path, const xt_together *what, const Step *step);

} // namespace xtensor
