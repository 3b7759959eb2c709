// NumPy's C API, imported once for all files of the extension (Module.cpp defines
// XTENSOR_IMPORT_NUMPY).
#pragma once

#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL xtensor_native_numpy
#if !defined(XTENSOR_IMPORT_NUMPY)
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>
