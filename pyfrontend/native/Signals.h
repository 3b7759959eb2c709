// Calls that release the interpreter to other threads, and that a signal can end.
#pragma once

#include "Python.h"
#include "runtime.h"

namespace xtensor {

/// Calls the code while others may run Python. `count`: of the buffers. With a status of code 7 the
/// exception is set that a signal's handler raised.
void enterAway(xt_entry entry, void **buffers, size_t count, const int64_t *sizes,
               xt_status &status);
/// Whether a signal's handler ended a call of this thread by an exception. Who asks sets it back.
extern __thread bool handlerRaised __attribute__((tls_model("initial-exec")));
/// While it lives, compiled code that this thread is in holds the interpreter again, and may run
/// any Python. From any thread. `there`: Python is not ending.
class Interpreter {
public:
  Interpreter();
  ~Interpreter();
  Interpreter(const Interpreter &) = delete;
  const bool there;
  /// Whether no Python runs on this thread but for this object, so that exceptions go with it.
  bool isForeign = false;

private:
  PyThreadState *before;
  PyGILState_STATE state;
};

/// False with an exception set.
bool initSignals();

} // namespace xtensor
