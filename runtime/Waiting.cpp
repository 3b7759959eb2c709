// Waiting for other processes. A process that has waited for longer than its patience says so, and
// tells process 0 in what it waits. If all processes wait, but not in the same, they would do so
// for ever: a condition that differs by process leads there. Then all of them learn what each of
// them waits in.
#include "Agreement.h"

#include <cstdio>
#include <cstring>
#include <map>
#include <set>

using namespace xtensor;

namespace {

constexpr int kTag = 7;
/// Tests before a thread lets others run: about 100 microseconds.
constexpr int kSpins = 1000;
constexpr std::chrono::milliseconds kBetween{20};
/// A wait that has lasted for so long leaves the core to others.
constexpr double kShort = 0.2;

/// Messages that MPI has not sent yet, and what they say.
struct Outgoing {
  intptr_t request;
  Note note;
};

} // namespace

bool xtensor::testUntilDone(intptr_t *request, Path *path, const xt_together *what,
                            const Step *step) {
  auto *test = mpiLibrary().test;
  MpiStatus status;
  int isDone = 0;
  for (int i = 0; i < kSpins; ++i)
    if (test(request, &isDone, &status), isDone)
      return true;
  if (!path) {
    mpiLibrary().wait(request, &status);
    return true;
  }
  if (path->isOver.load(std::memory_order_acquire))
    return false;
  LongWait wait(*path, *what, step);
  for (;;) {
    for (int i = 0; i < 16; ++i)
      if (test(request, &isDone, &status), isDone)
        return true;
    if (!wait.goesOn())
      return false;
  }
}

LongWait::~LongWait() {
  if (isTold && !path.isOver && path.with.index != 0)
    send(0, Note::Moved, wait);
}

bool LongWait::goesOn() {
  if (path.isOver.load(std::memory_order_acquire))
    return false;
  double now = seconds();
  if (now < kShort)
    std::this_thread::yield();
  else
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  if (what.patience <= 0 || now < what.patience)
    return true;
  if (Clock::now() - listened < kBetween)
    return true;
  listened = Clock::now();
  if (!isTold)
    announce();
  listen();
  if (!isListed && now > what.patience + 1)
    roll();
  if (path.with.index == 0 && judge())
    isStuck = true;
  return !isStuck;
}

std::string LongWait::told() const {
  if (!step)
    return what.program ? std::string("to call ") + what.text : "to end";
  std::string text = std::string("in ") + nameOf(*step);
  if (step->site->text[0])
    text += std::string(" (") + step->site->text + ")";
  return text + " of a call of " + what.text;
}

int64_t LongWait::same() const { return step ? path.hash + 2 * step->site->number : 1; }

void LongWait::announce() {
  isTold = true, path.isHeard = false;
  std::string text = told();
  std::fprintf(stderr, "xtensor: process %lld of %lld has waited %.0f s for the others %s\n",
               static_cast<long long>(path.with.index), static_cast<long long>(path.with.processes),
               seconds(), text.c_str());
  std::fflush(stderr);
  if (path.with.index != 0)
    send(0, Note::Waits, wait, text);
}

void LongWait::send(int64_t to, Note::Kind kind, int64_t of, const std::string &text) {
  auto *out = new Outgoing{}; // small enough that MPI has it at once; else it stays
  out->note.kind = kind, out->note.from = path.with.index, out->note.wait = of;
  out->note.what = same();
  std::strncpy(out->note.text, text.c_str(), XT_TOLD - 1);
  const xt_mpi &mpi = mpiLibrary();
  mpi.send(&out->note, sizeof(Note), mpi.types[XT_I8], static_cast<int>(to), kTag, path.with.handle,
           &out->request);
  MpiStatus status;
  int isDone = 0;
  if (mpi.test(&out->request, &isDone, &status); isDone)
    delete out;
}

void LongWait::listen() {
  const xt_mpi &mpi = mpiLibrary();
  MpiStatus status;
  int isThere = 0;
  while (mpi.probe(mpi.anything, kTag, path.with.handle, &isThere, &status), isThere) {
    Note note;
    intptr_t request;
    mpi.receive(&note, sizeof note, mpi.types[XT_I8], mpi.anything, kTag, path.with.handle,
                &request);
    mpi.wait(&request, &status);
    hear(note);
  }
}

void LongWait::hear(const Note &note) {
  switch (note.kind) {
  case Note::Waits:
    path.waiting[note.from] = note;
    path.still.clear(), asked = {};
    send(note.from, Note::Heard, note.wait);
    return;
  case Note::Moved:
    path.waiting.erase(note.from);
    path.still.clear(), asked = {};
    return;
  case Note::Heard:
    path.isHeard = path.isHeard || note.wait == wait;
    return;
  case Note::Ask:
    if (note.wait == wait)
      send(0, Note::Still, wait);
    return;
  case Note::Still: {
    auto it = path.waiting.find(note.from);
    if (it != path.waiting.end() && it->second.wait == note.wait)
      path.still[note.from] = true;
    return;
  }
  case Note::Verdict: {
    std::vector<char> text(note.text, note.text + XT_TOLD);
    path.end(XT_STUCK, text);
    isStuck = true;
    return;
  }
  }
}

/// Says who does not wait with this process.
void LongWait::roll() {
  isListed = true;
  std::string absent;
  if (path.with.index == 0) {
    int64_t count = 0;
    for (int64_t i = 1; i < path.with.processes; ++i)
      if (!path.waiting.count(i) && ++count <= 8)
        absent += (absent.empty() ? "" : ", ") + path.name(i);
    if (count > 8)
      absent += " and " + std::to_string(count - 8) + " more";
  } else if (path.with.index == 1 && !path.isHeard) {
    absent = path.name(0);
  }
  if (absent.empty())
    return;
  double ago = std::chrono::duration<double>(Clock::now() - path.met).count();
  std::fprintf(stderr, "xtensor: not waiting with the others: %s. All were there %.0f s ago\n",
               absent.c_str(), ago);
  std::fflush(stderr);
}

/// Of process 0: whether all processes wait, but not in the same. It asks all of them whether they
/// do so still.
bool LongWait::judge() {
  int64_t others = path.with.processes - 1;
  if (static_cast<int64_t>(path.waiting.size()) < others)
    return false;
  bool differs = false;
  for (auto &[process, note] : path.waiting)
    differs |= note.what != same();
  if (!differs)
    return false;
  if (asked == Clock::time_point()) {
    asked = Clock::now();
    path.still.clear();
    for (auto &[process, note] : path.waiting)
      send(process, Note::Ask, note.wait);
    return false;
  }
  if (static_cast<int64_t>(path.still.size()) < others ||
      Clock::now() - asked < std::chrono::milliseconds(300))
    return false;
  std::map<std::string, std::set<int64_t>> groups;
  groups[told()].insert(0);
  for (auto &[process, note] : path.waiting)
    groups[note.text].insert(process);
  std::string text;
  for (auto &[where, processes] : groups) {
    text += text.empty() ? "" : "; ";
    int64_t count = 0;
    for (int64_t process : processes)
      if (++count <= 4)
        text += (count > 1 ? ", " : "") + path.name(process);
    if (count > 4)
      text += " and " + std::to_string(count - 4) + " more";
    text += (processes.size() > 1 ? " wait " : " waits ") + where;
  }
  for (auto &[process, note] : path.waiting)
    send(process, Note::Verdict, note.wait, text);
  text.resize(XT_TOLD - 1);
  text.push_back(0);
  path.end(XT_STUCK, std::vector<char>(text.begin(), text.end()));
  return true;
}
