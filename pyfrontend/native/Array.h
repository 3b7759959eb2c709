// Array: a typed, row-major, immutable block of memory, of the CPU or of a device.
// xtensor.values.array.Array is its only subclass.
#pragma once

#include "Type.h"

struct xt_device; // Device.h

namespace xtensor {

struct Pending; // Pending.h

struct Array {
  PyObject_HEAD Type *type; // owned
  void *data; // an address of the device's, if there is one: not to be followed (Devices.h); null:
              // a call took the array over (Donation.h)
  xt_device *device; // null: the CPU
  PyObject *meta;    // what the front end attaches (coordinates, name, attributes); may be null
  PyObject *base;   // keeps foreign memory alive; null: data comes from xt_alloc or xt_device_alloc
  Pending *pending; // counted: what calls may yet report that made the values; null: nothing
  size_t shares;    // views of this array: others, and those that NumPy and DLPack hold
};

extern PyTypeObject *arrayBase;  // xtensor._native.Array
extern PyTypeObject *arrayClass; // what new arrays are: the registered subclass

inline bool isArray(PyObject *o) {
  return Py_TYPE(o) == arrayClass || PyObject_TypeCheck(o, arrayBase);
}
/// An array with memory of its own, not initialised. Null with MemoryError set.
Array *newArray(Type *type, xt_device *device = nullptr);
/// An array that has no memory yet: `data` is set before anybody sees it. Null with MemoryError
/// set.
Array *newShell(Type *type);
/// The same memory under another type, for as long as the result lives. Null with an exception set:
/// a call took the array over.
Array *viewOf(Array *a, Type *type);
/// The same array for code that keeps its memory: while the result lives, no call takes it over.
Array *exportOf(Array *a);
/// An array over memory of the CPU that `base` keeps alive (a reference is taken).
Array *newView(Type *type, void *data, PyObject *base);
bool initArray(PyObject *module);

// NumpyInterop.cpp
PyObject *asNumpy(PyObject *module, PyObject *array);
PyObject *arrayDunder(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *fromBuffer(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *readParts(PyObject *module, PyObject *const *args, Py_ssize_t n);
int getBuffer(PyObject *self, Py_buffer *view, int flags);

// Dlpack.cpp
PyObject *dlpackDunder(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *dlpackDevice(PyObject *self, PyObject *);
PyObject *fromDlpackObject(PyObject *module, PyObject *args, PyObject *kwargs);

} // namespace xtensor
