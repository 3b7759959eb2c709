// Bundles (docs/aot.md) as Python reads them: the members of a file, and code out of one of them.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace xtensor {

bool initBundle(PyObject *module);

} // namespace xtensor
