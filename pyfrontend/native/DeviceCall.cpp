#include "DeviceCall.h"

#include <cstdlib>
#include <cstring>
#include <unordered_map>
#include <utility>

using namespace xtensor;

namespace {

PyObject *atCall; // called with the sites of a call that returns before it can fail
bool waits;       // whether calls that check indices wait for the answer

/// Who calls the programs of devices. Guarded by the GIL.
struct Programs {
  // How many executables call a program: one that was compiled twice is there once.
  std::unordered_map<xt_program *, size_t> callers;
  // First calls that are running. Which program they call is known when they return, so until then
  // each program may be theirs.
  size_t firstCalls = 0;
  // Those that lost their last caller meanwhile, and what keeps their code (may be null).
  std::unordered_map<xt_program *, Ref<>> left;

  void leave(xt_program *program, PyObject *keepalive) {
    if (--callers[program] > 0)
      return;
    callers.erase(program);
    if (!firstCalls)
      xt_program_forget(program);
    else
      left.try_emplace(program, borrow(keepalive));
  }
  void enterFirst() { ++firstCalls; }
  void exitFirst() {
    if (--firstCalls > 0)
      return;
    auto gone = std::exchange(left, {}); // what it holds goes at its end, which may run any code
    for (auto &[program, keepalive] : gone)
      if (!callers.count(program))
        xt_program_forget(program);
  }
};

Programs &programs() {
  static auto *made = new Programs;
  return *made;
}

PyObject *setWaiting(PyObject *, PyObject *flag) {
  int truth = PyObject_IsTrue(flag);
  if (truth < 0)
    return nullptr;
  return PyBool_FromLong(std::exchange(waits, truth));
}

PyObject *setAtCall(PyObject *, PyObject *callable) { return replaceCallable(atCall, callable); }

PyMethodDef functions[] = {{"set_waiting", setWaiting, METH_O,
                            "set_waiting(flag)\n--\n\nWhether a call on a device that checks "
                            "indices waits for the answer ($XTENSOR_WAIT=1). Returns what it was."},
                           {"set_at_call", setAtCall, METH_O,
                            "set_at_call(callable)\n--\n\nWhat is called with the sites of a call "
                            "on a device that may yet fail; it returns those to tell about, with "
                            "the caller's line. Returns what it was before."},
                           {}};

} // namespace

void xtensor::leaveProgram(Executable *e) {
  if (xt_program *program = std::exchange(e->program, nullptr))
    programs().leave(program, e->keepalive);
}

bool xtensor::enterDevice(Executable *e, void **buffers, const int64_t *sizes, Dependences &before,
                          PyObject **results, size_t count) {
  xt_status status = {0, 0, 0, 0};
  xt_ticket *ticket = nullptr;
  bool isFirst = !e->program;
  if (isFirst)
    programs().enterFirst();
  PyThreadState *state = e->releaseGil ? PyEval_SaveThread() : nullptr;
  xt_device_use(e->device);
  e->entry(buffers, sizes, &status);
  if (!status.code)
    ticket = xt_call_ticket();
  xt_program *program = xt_call_program();
  if (state)
    PyEval_RestoreThread(state);
  if (!e->program && program) {
    e->program = program;
    ++programs().callers[program];
  }
  if (isFirst)
    programs().exitFirst();
  if (status.code) {
    raiseStatus(e->sites, status, e->device);
    return false;
  }
  auto sites = ticket && atCall ? steal(PyObject_CallOneArg(atCall, e->sites)) : borrow(e->sites);
  if (!sites) {
    xt_ticket_release(ticket);
    return false;
  }
  Pending *pending = before.with(ticket, sites.get());
  for (size_t i = 0; pending && i < count; ++i)
    reinterpret_cast<Array *>(results[i])->pending = retain(pending);
  bool ok = !waits || !ticket || !pending || settle(pending);
  release(pending);
  return ok;
}

bool xtensor::initDeviceCall(PyObject *module) {
  const char *wait = getenv("XTENSOR_WAIT");
  waits = wait && !strcmp(wait, "1");
  return PyModule_AddFunctions(module, functions) == 0;
}
