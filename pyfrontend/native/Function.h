// Function: a Python callable with one executable per signature.
#pragma once

#include <Python.h>

namespace xtensor {

bool initFunction(PyObject *module);

} // namespace xtensor
