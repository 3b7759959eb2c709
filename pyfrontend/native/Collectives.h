// What Python tells the runtime about the processes that run a program together.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace xtensor {

bool initCollectives(PyObject *module);

} // namespace xtensor
