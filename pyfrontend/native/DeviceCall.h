// Calls of compiled functions on devices: they return before their kernels have run, and a device
// keeps what it made of a program as long as an executable calls the program.
#pragma once

#include "Executable.h"

namespace xtensor {

/// Runs the code on a device, and leaves with the results what they depend on. Others may run
/// Python meanwhile: the first call makes kernels, and every call talks to a driver. False with an
/// exception set.
bool enterDevice(Executable *e, void **buffers, const int64_t *sizes, Dependences &before,
                 PyObject **results, size_t count);
/// Devices give back what they made of the code, if this was the last to call it.
void leaveProgram(Executable *e);
bool initDeviceCall(PyObject *module);

} // namespace xtensor
