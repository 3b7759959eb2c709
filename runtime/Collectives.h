// What the collectives of a program share: the MPI library, and the communicators that it was told.
#pragma once

#include "runtime.h"

#include <cstddef>

namespace xtensor {

/// No library's MPI_Status is as large.
struct alignas(16) MpiStatus {
  char bytes[256];
};

struct Communicator {
  intptr_t handle;
  int64_t index, processes; ///< this process's place, and how many there are

  /// The processes at a distance, in a ring.
  int64_t after(int64_t distance) const { return (index + distance) % processes; }
  int64_t before(int64_t distance) const { return (index + processes - distance) % processes; }
};

/// The one of this number.
Communicator communicator(int64_t number);
const xt_mpi &mpiLibrary();

/// What compiled code puts before the options of a collective: a number that differs by the place
/// in the user's program, and this place as text.
struct Site {
  int64_t number;
  char text[120];
};
inline const Site &siteOf(const int64_t *options) {
  return reinterpret_cast<const Site *>(options)[-1];
}

/// A collective of a call, for messages. kind: of an all_reduce, else -1.
struct Step {
  const char *op;
  int64_t kind;
  const Site *site;
};

inline const char *nameOf(const Step &step) {
  static constexpr const char *names[] = {"all_reduce sum", "all_reduce prod", "all_reduce max",
                                          "all_reduce min", "all_reduce any",  "all_reduce all"};
  return step.kind < 0 ? step.op : names[step.kind];
}

/// Before a collective of a call: whether all processes make this call, as far as that is checked.
bool isMet();
/// Counts a collective that begins: the processes compare later what each of them has done.
void noteStep(const Step &step);
/// Waits for a request of the step. False: it will never end, for a reason that xt_told tells.
bool isAwaited(intptr_t *request, const Step &step);

} // namespace xtensor
