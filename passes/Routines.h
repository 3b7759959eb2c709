// What passes know of the runtime's routines: the facts that runtime/Routines.def states.
#ifndef XTENSOR_ROUTINES_H
#define XTENSOR_ROUTINES_H

#include "llvm/ADT/StringRef.h"

namespace xtensor {

/// How the time of a routine grows with its operands.
enum class RoutineWork {
  Elements, // about 16 operations per element
  Side,     // per element, about as many operations as the side of a matrix
  Waits     // for other processes, or for Python
};

struct Routine {
  llvm::StringRef name;
  /// Whether it may report to the call's status, for example that the memory is exhausted.
  bool reports;
  RoutineWork work;
};

/// Null if the runtime has no such routine.
const Routine *routineNamed(llvm::StringRef name);

} // namespace xtensor

#endif // XTENSOR_ROUTINES_H
