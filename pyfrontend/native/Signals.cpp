// Python runs signal handlers only on its main thread, which may run compiled code for a long
// time. So loops poll (xt_poll), and this file asks Python for pending signals.
#include "Signals.h"
#include "Donation.h"

#include <algorithm>
#include <pthread.h>
#include <time.h>
#include <utility>

using namespace xtensor;

__thread bool xtensor::handlerRaised __attribute__((tls_model("initial-exec"))) = false;

namespace {

constexpr int64_t kCheckEvery = 50'000'000; // nanoseconds

unsigned long mainThread;
// Of the call that this thread is in while others have the interpreter; null: none, or one that no
// signal ends.
thread_local PyThreadState *away;
thread_local int64_t nextCheck; // nanoseconds; 0: the next poll says

int64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return time.tv_sec * int64_t(1'000'000'000) + time.tv_nsec;
}

/// What long loops ask: whether a handler raised. Taking the interpreter back may take as long as
/// another thread keeps it, so that is done every 50 ms, and more rarely where it takes long.
int32_t checkSignals() {
  if (!away)
    return 0;
  int64_t begin = now();
  if (begin < nextCheck)
    return 0;
  if (!nextCheck) {
    nextCheck = begin + kCheckEvery;
    return 0;
  }
  PyEval_RestoreThread(std::exchange(away, nullptr)); // a handler may call compiled code
  bool raised = PyErr_CheckSignals() < 0;
  handlerRaised |= raised;
  away = PyEval_SaveThread();
  int64_t end = now();
  nextCheck = end + std::max(kCheckEvery, 50 * (end - begin));
  return raised;
}

void afterFork() { mainThread = PyThread_get_thread_ident(); }

} // namespace

void xtensor::enterAway(xt_entry entry, void **buffers, size_t count, const int64_t *sizes,
                        xt_status &status) {
  Running running(buffers, count);
  PyThreadState *state = PyEval_SaveThread();
  away = PyThread_get_thread_ident() == mainThread ? state : nullptr;
  nextCheck = 0;
  entry(buffers, sizes, &status);
  away = nullptr;
  PyEval_RestoreThread(state);
}

static bool isUsable() {
#if PY_VERSION_HEX >= 0x030d0000
  return Py_IsInitialized() && !Py_IsFinalizing();
#else
  return Py_IsInitialized() && !_Py_IsFinalizing();
#endif
}

xtensor::Interpreter::Interpreter() : there(isUsable()), before(std::exchange(away, nullptr)) {
  if (!there) // the wait would not end
    return;
  isForeign = !PyGILState_GetThisThreadState();
  state = PyGILState_Ensure();
}

xtensor::Interpreter::~Interpreter() {
  if (there)
    PyGILState_Release(state);
  away = before;
}

bool xtensor::initSignals() {
  auto threading = steal(PyImport_ImportModule("threading"));
  auto thread =
      steal(threading ? PyObject_CallMethod(threading.get(), "main_thread", nullptr) : nullptr);
  auto ident = steal(thread ? PyObject_GetAttrString(thread.get(), "ident") : nullptr);
  mainThread = ident ? PyLong_AsUnsignedLong(ident.get()) : 0;
  if (PyErr_Occurred())
    return false;
  pthread_atfork(nullptr, nullptr, afterFork);
  xt_set_check(checkSignals);
  return true;
}
