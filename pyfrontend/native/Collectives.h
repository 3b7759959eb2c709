// What Python tells the runtime about the processes that run a program together.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime.h"

#include <string>
#include <vector>

namespace xtensor {

/// What all processes that run a program together call.
struct Together {
  std::string text;
  xt_together what;
  bool checks; ///< each call
  /// Inputs whose values must be equal in all processes, as far as calls compare them.
  struct Equal {
    Py_ssize_t input;
    std::string name;
    std::string dtype;
    int64_t bytes;
  };
  std::vector<Equal> equal;
};

/// Of (communicator, program, text, patience, checks, ((input, name, dtype, bytes), ..)). Null with
/// an exception set.
Together *parseTogether(PyObject *tuple);
/// Tells what each process calls, by an exception.
void raiseDisagreement(const Together &here);

/// A call of a program that all processes run, if `together` is not null.
class Meeting {
public:
  Meeting(const Together *together, void *const *inputs) : together(together), inputs(inputs) {
    if (!together)
      return;
    now.what = &together->what;
    now.state = together->checks ? XT_UNMET : XT_AGREED;
    if (!together->equal.empty())
      now.values = hashed(), now.describe = describe;
    before = xt_meet(&now);
  }
  Meeting(const Meeting &) = delete;
  /// Ends the call; whether the processes made different ones.
  bool differs() {
    if (!together)
      return false;
    xt_leave(before);
    return now.state == XT_DIFFERS;
  }

private:
  int64_t hashed() const;
  static void describe(const xt_meeting *meeting, char *text, size_t bytes);

  xt_meeting now{nullptr, XT_UNMET, 0, nullptr, nullptr};
  const Together *together;
  void *const *inputs;
  xt_meeting *before = nullptr;
};

bool initCollectives(PyObject *module);

} // namespace xtensor
