#include "Routines.h"

#include "llvm/ADT/StringMap.h"

using namespace xtensor;

const Routine *xtensor::routineNamed(llvm::StringRef name) {
  static const llvm::StringMap<Routine> routines = {
#define XT_ROUTINE(name, reports, work) {#name, {#name, reports != 0, RoutineWork::work}},
#include "Routines.def"
  };
  auto found = routines.find(name);
  return found == routines.end() ? nullptr : &found->second;
}
