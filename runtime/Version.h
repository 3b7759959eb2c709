// The version of xtensor.
#pragma once

#include "runtime.h"

extern "C" {

/// Which setuptools-scm found when CMake ran (cmake/XTensorVersion.cmake).
XT_API const char *xt_version(void);
}
