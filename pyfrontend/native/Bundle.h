// Bundles (docs/aot.md) for Python: the members of a file, and code loaded from one of them.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace xtensor {

bool initBundle(PyObject *module);

} // namespace xtensor
