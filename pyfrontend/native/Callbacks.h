// Python functions that compiled code calls.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace xtensor {

bool initCallbacks(PyObject *module);

} // namespace xtensor
