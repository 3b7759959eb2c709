// Whether all processes do the same next. Without it, processes that make different calls wait for
// ever, or take each other's numbers.
#include "Agreement.h"
#include "Status.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

using namespace xtensor;

namespace {

thread_local xt_meeting *meeting = nullptr;
thread_local std::vector<char> told; // texts of XT_TOLD bytes
thread_local int32_t why = 0;

/// What the processes tell each other when they differ.
struct Details {
  int64_t program, values, path;
  char call[XT_TOLD / 2 - 64], did[XT_TOLD / 4];
};

int64_t mixed(int64_t hash, int64_t next) {
  uint64_t x = (static_cast<uint64_t>(hash) ^ static_cast<uint64_t>(next)) * 0x9E3779B97F4A7C15u;
  return static_cast<int64_t>(x ^ (x >> 29));
}

void copyText(char *to, size_t bytes, const char *from) {
  std::strncpy(to, from, bytes - 1);
  to[bytes - 1] = 0;
}

/// No thread makes two calls of one mesh at a time; a callback may make another within.
bool takes(Path &path) {
  std::thread::id none, self = std::this_thread::get_id();
  return path.caller.load() == self || path.caller.compare_exchange_strong(none, self);
}

bool refuseThread(Path &path) {
  told.assign(XT_TOLD, 0);
  copyText(told.data(), XT_TOLD, path.call);
  why = XT_THREADS;
  return false;
}

/// All processes learn what each of them does.
void tellAll(Path &path, const xt_together &what, const xt_meeting *call) {
  Details here{};
  here.program = what.program, here.values = call ? call->values : 0, here.path = path.hash;
  copyText(here.call, sizeof here.call, what.text);
  if (call && call->describe) {
    size_t used = std::strlen(here.call);
    call->describe(call, here.call + used, sizeof here.call - used);
  }
  std::snprintf(here.did, sizeof here.did, "has run %lld collective op%s in it%s%s",
                static_cast<long long>(path.steps), path.steps == 1 ? "" : "s",
                path.steps ? ", the last " : "", path.last);
  int64_t count = path.with.processes;
  std::vector<Details> all(count);
  const xt_mpi &mpi = mpiLibrary();
  mpi.all_gather(&here, sizeof here, mpi.types[XT_I8], all.data(), sizeof here, mpi.types[XT_I8],
                 path.with.handle);
  auto differ = [&](int64_t Details::*field) {
    return std::any_of(all.begin(), all.end(),
                       [&](const Details &one) { return one.*field != all[0].*field; });
  };
  bool hasEnded = std::any_of(all.begin(), all.end(), [](const Details &d) { return !d.program; });
  why = differ(&Details::path)      ? XT_PATHS
        : hasEnded                  ? XT_ENDED
        : differ(&Details::program) ? XT_PROGRAMS
                                    : XT_VALUES;
  told.assign(XT_TOLD * (count + 1), 0);
  for (int64_t i = 0; i < count; ++i)
    copyText(told.data() + i * XT_TOLD, XT_TOLD, why == XT_PATHS ? all[i].did : all[i].call);
  copyText(told.data() + count * XT_TOLD, XT_TOLD, path.call);
  if (why != XT_PATHS)
    told.resize(XT_TOLD * count);
  if (hasEnded || why == XT_PATHS)
    path.end(why, told);
  // Nobody takes one that ends now for one that has died.
  int64_t zero = 0, sum;
  mpi.all_reduce(&zero, &sum, 1, mpi.types[XT_I64], mpi.ops[0], path.with.handle);
}

/// A request that is prepared takes half of the time of a new one.
void startComparison(Path &path) {
  const xt_mpi &mpi = mpiLibrary();
  intptr_t type = mpi.types[XT_I64], max = mpi.ops[2];
  if (!mpi.prepare_all_reduce) {
    mpi.start_all_reduce(path.said, path.heard, 2, type, max, path.with.handle, &path.comparison);
    return;
  }
  if (!path.isPrepared)
    mpi.prepare_all_reduce(path.said, path.heard, 2, type, max, path.with.handle, mpi.no_info,
                           &path.comparison);
  path.isPrepared = true;
  mpi.start(&path.comparison);
}

bool agree(const xt_together &what, const xt_meeting *call) {
  Path &path = pathOf(what.communicator);
  if (path.isOver.load(std::memory_order_acquire))
    return tellOver(path), false;
  int64_t program = mixed(mixed(what.program, call ? call->values : 0), path.hash);
  // The largest and the smallest of all.
  path.said[0] = program, path.said[1] = ~program;
  startComparison(path);
  if (!testUntilDone(&path.comparison, &path, &what, nullptr))
    return tellOver(path), false;
  if (path.heard[0] != ~path.heard[1])
    return tellAll(path, what, call), false;
  path.met = Clock::now();
  path.hash = path.steps = 0, path.last[0] = 0;
  copyText(path.call, sizeof path.call, what.text);
  return true;
}

} // namespace

Path &xtensor::pathOf(int64_t number) {
  struct All {
    std::mutex lock;
    std::unordered_map<int64_t, std::unique_ptr<Path>> paths;
  };
  static auto *all = new All; // as `registry` of Collectives.cpp
  std::lock_guard<std::mutex> guard(all->lock);
  std::unique_ptr<Path> &path = all->paths[number];
  if (!path) {
    path = std::make_unique<Path>();
    path->number = number, path->with = communicator(number);
    path->names.resize(path->with.processes);
  }
  return *path;
}

Path *xtensor::currentPath() { return meeting ? static_cast<Path *>(meeting->path) : nullptr; }

void Path::end(int32_t reason, std::vector<char> all) {
  std::lock_guard<std::mutex> guard(lock);
  if (isOver)
    return;
  why = reason, texts = std::move(all);
  isOver.store(true, std::memory_order_release);
}

std::string Path::name(int64_t process) {
  std::lock_guard<std::mutex> guard(lock);
  std::string found = "process " + std::to_string(process);
  return names[process].empty() ? found : found + " (" + names[process] + ")";
}

void xtensor::tellOver(Path &path) {
  std::lock_guard<std::mutex> guard(path.lock);
  told = path.texts, why = path.why, path.isRaised = true;
}

int32_t xt_agree(const xt_together *what) {
  Path &path = pathOf(what->communicator);
  bool isNested = path.caller.load() == std::this_thread::get_id();
  if (!takes(path))
    return refuseThread(path), 1;
  bool agrees = agree(*what, nullptr);
  if (!isNested)
    path.caller = std::thread::id();
  return !agrees;
}

const char *xt_told(int64_t process) {
  bool isThere = process >= 0 && process < static_cast<int64_t>(told.size() / XT_TOLD);
  return isThere ? told.data() + process * XT_TOLD : nullptr;
}

int32_t xt_told_why() { return why; }

xt_meeting *xt_meet(xt_meeting *now) { return std::exchange(meeting, now); }

void xt_leave(xt_meeting *before) {
  xt_meeting *ended = std::exchange(meeting, before);
  if (ended->path && !(before && before->path == ended->path))
    static_cast<Path *>(ended->path)->caller = std::thread::id();
}

bool xtensor::isMet() {
  if (!meeting)
    return true;
  if (!meeting->path && meeting->state != XT_DIFFERS) {
    Path &path = pathOf(meeting->what->communicator);
    bool isFirst = meeting->state == XT_UNMET;
    if (!takes(path))
      meeting->state = XT_DIFFERS, refuseThread(path);
    else if (meeting->path = &path; path.isOver.load(std::memory_order_acquire))
      meeting->state = XT_DIFFERS, tellOver(path);
    else if (isFirst)
      meeting->state = agree(*meeting->what, meeting) ? XT_AGREED : XT_DIFFERS;
    else
      copyText(path.call, sizeof path.call, meeting->what->text);
    if (meeting->state == XT_DIFFERS)
      reportDisagreement(); // loops end
  }
  return meeting->state == XT_AGREED;
}

void xtensor::noteStep(const Step &step) {
  Path *path = currentPath();
  if (!path)
    return;
  int64_t op = 0;
  std::memcpy(&op, step.op, std::min(sizeof op, std::strlen(step.op)));
  path->hash = mixed(mixed(path->hash + 1, op + step.kind), step.site->number);
  ++path->steps;
  std::snprintf(path->last, sizeof path->last, "%s%s%s%s", nameOf(step),
                step.site->text[0] ? " (" : "", step.site->text, step.site->text[0] ? ")" : "");
}

bool xtensor::isAwaited(intptr_t *request, const Step &step) {
  Path *path = currentPath();
  if (testUntilDone(request, path, meeting ? meeting->what : nullptr, &step))
    return true;
  if (meeting->state != XT_DIFFERS) {
    meeting->state = XT_DIFFERS;
    tellOver(*path);
    reportDisagreement(); // loops end
  }
  return false;
}
