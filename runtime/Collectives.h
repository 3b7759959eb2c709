// What the collectives of a program share: the MPI library, and the communicators that it was told.
#pragma once

#include "runtime.h"

namespace xtensor {

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
/// Before a collective of a call: whether all processes make this call, as far as that is checked.
bool isMet();

} // namespace xtensor
