// The runtime functions that a Python process provides to code compiled ahead of time. Compiled
// code of this process calls the same functions by name.
#pragma once

#include "call.h"

namespace xtensor {

extern const xt_services runtimeServices;

} // namespace xtensor
