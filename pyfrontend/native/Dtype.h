// The element types: their names and sizes, and their names in Python, NumPy, the buffer protocol
// and DLPack.
#pragma once

#include <Python.h>

#include <cstdint>

namespace xtensor {

enum class Dtype : uint8_t {
  Bool,
  Int8,
  Int16,
  Int32,
  Int64,
  UInt8,
  UInt16,
  UInt32,
  UInt64,
  Float16,
  BFloat16,
  Float32,
  Float64,
  Complex64,
  Complex128,
};

struct DtypeInfo {
  const char *name; // as in NumPy
  uint8_t itemsize;
  uint8_t dlpackCode; // DLDataTypeCode
  const char *format; // of the buffer protocol; null: it has none
};

const DtypeInfo &info(Dtype dtype);

/// Sets up the interned names; once per process.
bool initDtypes();
/// A new reference to the dtype's name.
PyObject *nameOf(Dtype dtype);
/// A name, or anything numpy.dtype() takes. False with an exception set for what arrays cannot
/// hold.
bool parseDtype(PyObject *object, Dtype &dtype);
/// The NumPy type number; -1 with an exception set (bfloat16 needs ml_dtypes).
int numpyType(Dtype dtype);
/// False, without an exception, for types that arrays cannot hold.
bool fromNumpyType(int type, Dtype &dtype);
/// The DLPack (code, bits); false for types that arrays cannot hold.
bool fromDlpack(int code, int bits, Dtype &dtype);
/// One element as a Python number.
PyObject *toPython(Dtype dtype, const void *element);
/// Converts a Python number into one element; false with an exception set.
bool fromPython(Dtype dtype, PyObject *number, void *element);

} // namespace xtensor
