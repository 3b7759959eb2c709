// Compiled functions as custom calls of XLA, by its foreign function interface.
#pragma once

#include "Python.h"

namespace xtensor {

/// False with an exception set.
bool initJaxCall(PyObject *module);

} // namespace xtensor
