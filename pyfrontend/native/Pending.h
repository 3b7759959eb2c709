// Errors that programs on a device may still report. Such a call returns before its kernels have
// run, so an index out of range is known only when a thread waits. Until then, the arrays that
// depend on the call carry its ticket. When their values are read, the ticket is checked, and the
// error is raised that the CPU would raise at the call.
#pragma once

#include "Device.h"
#include "Type.h"

#include <string>
#include <vector>

namespace xtensor {

/// One call that checks indices. It is reference-counted, and the GIL protects it.
struct Ticket {
  int references = 1;
  uint64_t number;   // calls are numbered as they are made: the first report is the one to raise
  xt_ticket *handle; // null: the answer is in `status`
  Ref<> sites;       // what to tell about an index, by xt_status.site
  xt_status status = {0, 0, 0, 0};
};

/// The calls that an array's values depend on, each once, in the order of the calls. Never changes
/// but for the tickets' answers.
struct Pending {
  int references = 1;
  std::vector<Ticket *> tickets;
};

inline Pending *retain(Pending *p) {
  if (p)
    ++p->references;
  return p;
}
void release(Pending *p); // null is fine

/// Waits for the answers. False, with the first report as an exception, where there is one.
bool settle(Pending *p);

/// Puts together what the results of a call depend on: its arguments' calls and itself. As long as
/// there is nothing, this costs nothing.
class Dependences {
public:
  Dependences() = default;
  Dependences(const Dependences &) = delete;
  ~Dependences() {
    for (Pending *p : found)
      release(p);
  }
  void add(Pending *p) {
    if (p)
      found.push_back(retain(p)); // the array may lose it while others run
  }
  /// What the results depend on: a new reference, or null for nothing. Takes `own` over (null:
  /// the call checks nothing). Waits for old calls where there are very many.
  Pending *with(xt_ticket *own, PyObject *sites);

private:
  std::vector<Pending *> found; // each with a reference
};

/// Raises for a status that compiled code left.
void raiseStatus(PyObject *sites, const xt_status &status, xt_device *device = nullptr);
/// Raises xtensor.DeviceError with the text of xt_device_error: "WHAT: TEXT".
void raiseDeviceError(const std::string &what);
/// Raises xtensor.DeviceError with this text.
void raiseDeviceLimit(const std::string &what);
/// Raises xtensor.MemoryError, of a device xtensor.DeviceMemoryError: "no memory for WHAT ...".
void raiseMemoryError(std::string what, xt_device *device);

} // namespace xtensor
