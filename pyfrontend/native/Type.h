// ArrayType: dtype, dims and sizes of an array. Equal types are one object, so comparing types is
// comparing pointers.
#pragma once

#include "Dtype.h"
#include "Ref.h"

namespace xtensor {

constexpr int kMaxRank = 64; // NumPy's

struct Type {
  PyObject_HEAD Dtype dtype;
  bool weak; // the dtype gives way, as that of a Python number does; without dims alone
  int rank;
  int64_t size; // elements
  int64_t nbytes;
  PyObject *dims;  // tuple of interned strings; equal tuples are one object (internDims)
  PyObject *shape; // tuple of ints
  Py_hash_t hash;
  int64_t *sizes;   // [rank], and after them
  int64_t *strides; // [rank], in bytes, row-major
};

extern PyTypeObject *typeClass; // xtensor._native.ArrayType

inline bool isType(PyObject *object) { return Py_TYPE(object) == typeClass; }
/// The one tuple for these dims: new reference. TypeError / ValueError if they are not distinct
/// strings.
PyObject *internDims(PyObject *dims);
/// New reference; `dims` must come from internDims. Null with an exception set.
Type *internType(Dtype dtype, PyObject *dims, const int64_t *sizes, bool weak = false);
bool initType(PyObject *module);

} // namespace xtensor
