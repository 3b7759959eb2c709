// Function: a Python callable with one executable per signature.
#pragma once

#include <Python.h>

namespace xtensor {

bool initFunction(PyObject *module);
/// Whether code belongs to the package, as opposed to a user's.
bool isPackageCode(PyCodeObject *code);

} // namespace xtensor
