// Devices for Python, and copies of arrays between their memory and that of the CPU.
#pragma once

#include "Array.h"
#include "Device.h"

namespace xtensor {

/// Whether `o` is None (null: the CPU) or a Device. False with TypeError set.
bool parseDevice(PyObject *o, xt_device *&device);
/// "cpu", "vulkan", "vulkan:1": borrowed, lives forever.
PyObject *nameOf(xt_device *device);
/// Which one of its backend.
int indexOf(xt_device *device);
/// The Device, or None for the CPU: a new reference.
PyObject *objectOf(xt_device *device);

/// The array on a device (null: the CPU), itself if it is there already: a new reference, with what
/// is attached to it. Values come to the CPU when they are there and no call before them has
/// reported an index. Null with an exception set.
Array *moved(Array *a, xt_device *device);
/// What code on the CPU may read: moved(a, nullptr).
inline Array *onHost(Array *a) { return moved(a, nullptr); }
/// The same for code that keeps it: while the result is there, no call takes the memory over.
inline Array *heldOnHost(Array *a) { return a->device ? moved(a, nullptr) : exportOf(a); }

bool initDevices(PyObject *module);

} // namespace xtensor
