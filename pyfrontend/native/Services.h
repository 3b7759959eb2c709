// What code compiled ahead of time is given by a Python process: the runtime that jitted code calls
// by name.
#pragma once

#include "call.h"

namespace xtensor {

extern const xt_services runtimeServices;

} // namespace xtensor
