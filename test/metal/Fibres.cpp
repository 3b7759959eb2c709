#include "Fibres.h"

#include <csetjmp>
#include <memory>
#include <ucontext.h>
#include <vector>

namespace {

constexpr size_t kStack = size_t(256) << 10;

struct Fibre {
  jmp_buf place;
  std::unique_ptr<char[]> stack{new char[kStack]};
  bool done = false;
};

jmp_buf scheduler;
std::vector<std::unique_ptr<Fibre>> fibres;
uint32_t current;
const std::function<void(uint32_t)> *work;

/// Begun once, and then given one piece of work after another: contexts are slow to make.
void live() {
  Fibre &self = *fibres[current];
  for (;;) {
    (*work)(current);
    self.done = true;
    if (_setjmp(self.place) == 0)
      _longjmp(scheduler, 1);
  }
}

void start(Fibre &fibre) {
  ucontext_t context;
  getcontext(&context);
  context.uc_stack.ss_sp = fibre.stack.get();
  context.uc_stack.ss_size = kStack;
  context.uc_link = nullptr;
  makecontext(&context, live, 0);
  setcontext(&context);
}

/// Runs one as far as it goes. `fresh`: it was never run.
void resume(uint32_t i, bool fresh) {
  current = i;
  if (_setjmp(scheduler) != 0)
    return;
  if (fresh)
    start(*fibres[i]);
  _longjmp(fibres[i]->place, 1);
}

} // namespace

void shim::barrier() {
  Fibre &self = *fibres[current];
  if (_setjmp(self.place) == 0)
    _longjmp(scheduler, 1);
}

bool shim::runTogether(uint32_t count, const std::function<void(uint32_t)> &body) {
  work = &body;
  for (uint32_t i = 0; i < count && i < fibres.size(); ++i)
    fibres[i]->done = false;
  for (uint32_t i = 0; i < count; ++i) {
    bool fresh = i == fibres.size();
    if (fresh)
      fibres.push_back(std::make_unique<Fibre>());
    resume(i, fresh);
  }
  for (bool backwards = true;; backwards = !backwards) {
    uint32_t ended = 0;
    for (uint32_t i = 0; i < count; ++i)
      ended += fibres[i]->done;
    if (ended > 0) {
      if (ended == count)
        return true;
      fibres.clear(); // those that wait are never run again
      return false;
    }
    for (uint32_t k = 0; k < count; ++k)
      resume(backwards ? count - 1 - k : k, false);
  }
}
