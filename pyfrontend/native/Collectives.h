// What Python tells the runtime about the processes that run a program together.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime.h"

#include <string>

namespace xtensor {

/// What all processes that run a program together call.
struct Together {
  std::string text;
  xt_together what;
};

/// Of (communicator, program, text, patience). Null with an exception set.
Together *parseTogether(PyObject *tuple);
/// Tells what each process calls, by an exception.
void raiseDisagreement(const Together &here);

/// A call of a program that all processes run, if `together` is not null.
class Meeting {
public:
  explicit Meeting(const Together *together) : together(together) {
    if (!together)
      return;
    now.what = &together->what;
    before = xt_meet(&now);
  }
  Meeting(const Meeting &) = delete;
  /// Ends the call; whether the processes made different ones.
  bool differs() {
    if (!together)
      return false;
    xt_meet(before);
    return now.state == XT_DIFFERS;
  }

private:
  const Together *together;
  xt_meeting now{nullptr, XT_UNMET};
  xt_meeting *before = nullptr;
};

bool initCollectives(PyObject *module);

} // namespace xtensor
