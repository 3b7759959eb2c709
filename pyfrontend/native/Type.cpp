// Interning of array types, and their Python class.
#include "Type.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <structmember.h>
#include <unordered_map>

using namespace xtensor;

PyTypeObject *xtensor::typeClass;

namespace {

// Types by hash, not owned: a type leaves the table when its last array does. Guarded by the GIL.
std::unordered_multimap<Py_hash_t, Type *> &table() {
  static auto *t = new std::unordered_multimap<Py_hash_t, Type *>;
  return *t;
}
PyObject *dimsTable; // dims tuple -> itself; owned, as a program has few of them

Py_hash_t hashOf(Dtype dtype, PyObject *dims, int rank, const int64_t *sizes, bool weak) {
  uint64_t h =
      reinterpret_cast<uintptr_t>(dims) >> 4 ^ uint64_t(dtype) << 56 ^ uint64_t(weak) << 55;
  for (int i = 0; i < rank; ++i)
    h = (h ^ static_cast<uint64_t>(sizes[i])) * 0x9e3779b97f4a7c15ull, h ^= h >> 29;
  return h == uint64_t(-1) ? 1 : static_cast<Py_hash_t>(h);
}

Type *makeType(Dtype dtype, PyObject *dims, int rank, const int64_t *sizes, bool weak,
               Py_hash_t hash) {
  int64_t size = 1, nbytes = info(dtype).itemsize;
  bool fits = true, empty = false;
  for (int i = 0; i < rank; ++i) {
    if (sizes[i] < 0) {
      PyErr_Format(PyExc_ValueError, "dim '%U' has size %lld; sizes are not negative",
                   PyTuple_GET_ITEM(dims, i), (long long)sizes[i]);
      return nullptr;
    }
    empty |= sizes[i] == 0;
    // Strides of an empty array are never used, but must not overflow either.
    int64_t factor = sizes[i] ? sizes[i] : 1;
    fits = fits && !__builtin_mul_overflow(size, factor, &size) &&
           !__builtin_mul_overflow(nbytes, factor, &nbytes);
  }
  if (!fits || nbytes > PY_SSIZE_T_MAX / 2) {
    PyErr_SetString(PyExc_ValueError, "an array of these sizes is larger than the address space");
    return nullptr;
  }
  auto shape = steal(PyTuple_New(rank));
  for (int i = 0; shape && i < rank; ++i) {
    PyObject *n = PyLong_FromLongLong(sizes[i]);
    if (!n)
      return nullptr;
    PyTuple_SET_ITEM(shape.get(), i, n);
  }
  auto *numbers = static_cast<int64_t *>(PyMem_Malloc(sizeof(int64_t) * (2 * rank + 1)));
  Type *t = shape && numbers ? PyObject_New(Type, typeClass) : nullptr;
  if (!t) {
    PyMem_Free(numbers);
    PyErr_NoMemory();
    return nullptr;
  }
  t->dtype = dtype, t->weak = weak, t->rank = rank, t->hash = hash;
  t->dims = Py_NewRef(dims), t->shape = shape.release();
  t->size = empty ? 0 : size, t->nbytes = empty ? 0 : nbytes;
  t->sizes = numbers, t->strides = numbers + rank;
  int64_t stride = info(dtype).itemsize;
  for (int i = rank - 1; i >= 0; --i) {
    t->sizes[i] = sizes[i], t->strides[i] = stride;
    stride *= sizes[i] ? sizes[i] : 1;
  }
  table().emplace(hash, t);
  return t;
}

void dealloc(PyObject *self) {
  auto *t = reinterpret_cast<Type *>(self);
  auto [from, to] = table().equal_range(t->hash);
  for (; from != to; ++from)
    if (from->second == t) {
      table().erase(from);
      break;
    }
  Py_DECREF(t->dims);
  Py_DECREF(t->shape);
  PyMem_Free(t->sizes);
  PyTypeObject *cls = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(cls);
}

PyObject *construct(PyTypeObject *, PyObject *args, PyObject *kwargs) {
  static const char *keywords[] = {"dtype", "dims", "sizes", "weak", nullptr};
  PyObject *dtypeArg, *dimsArg, *sizesArg;
  int weak = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO|p:ArrayType", const_cast<char **>(keywords),
                                   &dtypeArg, &dimsArg, &sizesArg, &weak))
    return nullptr;
  Dtype dtype;
  if (!parseDtype(dtypeArg, dtype))
    return nullptr;
  auto dims = steal(internDims(dimsArg));
  auto list = steal(dims ? PySequence_Fast(sizesArg, "sizes must be a sequence of ints") : nullptr);
  if (!list)
    return nullptr;
  Py_ssize_t rank = PyTuple_GET_SIZE(dims.get());
  if (PySequence_Fast_GET_SIZE(list.get()) != rank)
    return PyErr_Format(PyExc_ValueError, "%zd dims %R, but %zd sizes %R", rank, dims.get(),
                        PySequence_Fast_GET_SIZE(list.get()), sizesArg);
  int64_t sizes[kMaxRank];
  for (Py_ssize_t i = 0; i < rank && !PyErr_Occurred(); ++i)
    sizes[i] = PyNumber_AsSsize_t(PySequence_Fast_GET_ITEM(list.get(), i), PyExc_OverflowError);
  if (PyErr_Occurred())
    return nullptr;
  return reinterpret_cast<PyObject *>(internType(dtype, dims.get(), sizes, weak));
}

Type *self(PyObject *o) { return reinterpret_cast<Type *>(o); }
PyObject *getDtype(PyObject *o, void *) { return nameOf(self(o)->dtype); }
PyObject *getDims(PyObject *o, void *) { return Py_NewRef(self(o)->dims); }
PyObject *getShape(PyObject *o, void *) { return Py_NewRef(self(o)->shape); }
PyObject *getNdim(PyObject *o, void *) { return PyLong_FromLong(self(o)->rank); }
PyObject *getSize(PyObject *o, void *) { return PyLong_FromLongLong(self(o)->size); }
PyObject *getNbytes(PyObject *o, void *) { return PyLong_FromLongLong(self(o)->nbytes); }
PyObject *getItemsize(PyObject *o, void *) {
  return PyLong_FromLong(info(self(o)->dtype).itemsize);
}

PyObject *getWeak(PyObject *o, void *) { return PyBool_FromLong(self(o)->weak); }

PyGetSetDef getters[] = {
    {"dtype", getDtype, nullptr, "Name of the dtype, as in NumPy.", nullptr},
    {"dims", getDims, nullptr, "Names of the dims in storage order.", nullptr},
    {"shape", getShape, nullptr, "Sizes of the dims.", nullptr},
    {"ndim", getNdim, nullptr, "Number of dims.", nullptr},
    {"size", getSize, nullptr, "Number of elements.", nullptr},
    {"nbytes", getNbytes, nullptr, "Bytes of the data.", nullptr},
    {"weak", getWeak, nullptr, "Whether the dtype gives way, as that of a Python number.", nullptr},
    {"itemsize", getItemsize, nullptr, "Bytes of one element.", nullptr},
    {}};

PyObject *repr(PyObject *o) {
  Type *t = self(o);
  return PyUnicode_FromFormat("ArrayType('%s', %R, %R%s)", info(t->dtype).name, t->dims, t->shape,
                              t->weak ? ", weak=True" : "");
}

Py_hash_t hash(PyObject *o) { return self(o)->hash; }

PyObject *reduce(PyObject *o, PyObject *) {
  Type *t = self(o);
  return Py_BuildValue("(O(sOOO))", typeClass, info(t->dtype).name, t->dims, t->shape,
                       t->weak ? Py_True : Py_False);
}

PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr}, {}};

PyType_Slot slots[] = {
    {Py_tp_doc,
     const_cast<char *>("ArrayType(dtype, dims, sizes, weak=False)\n--\n\nThe type of an array. "
                        "Equal types are the same object. weak: without dims alone.")},
    {Py_tp_new, reinterpret_cast<void *>(construct)},
    {Py_tp_dealloc, reinterpret_cast<void *>(dealloc)},
    {Py_tp_repr, reinterpret_cast<void *>(repr)},
    {Py_tp_hash, reinterpret_cast<void *>(hash)},
    {Py_tp_getset, getters},
    {Py_tp_methods, methods},
    {0, nullptr}};
PyType_Spec spec = {"xtensor._native.ArrayType", sizeof(Type), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, slots};

} // namespace

PyObject *xtensor::internDims(PyObject *dims) {
  if (PyTuple_CheckExact(dims))
    if (PyObject *known = PyDict_GetItemWithError(dimsTable, dims))
      return Py_NewRef(known);
  if (PyErr_Occurred())
    return nullptr; // an unhashable dim
  if (PyUnicode_Check(dims)) {
    PyErr_Format(PyExc_TypeError, "dims must be a tuple of names, not the string %R", dims);
    return nullptr;
  }
  auto tuple = steal(PySequence_Tuple(dims));
  if (!tuple)
    return nullptr;
  Py_ssize_t rank = PyTuple_GET_SIZE(tuple.get());
  if (rank > kMaxRank)
    return PyErr_Format(PyExc_ValueError, "%zd dims; at most %d are possible", rank, kMaxRank);
  auto result = steal(PyTuple_New(rank));
  for (Py_ssize_t i = 0; result && i < rank; ++i) {
    PyObject *name = PyTuple_GET_ITEM(tuple.get(), i);
    if (!PyUnicode_Check(name))
      return PyErr_Format(PyExc_TypeError, "the name of a dim is a string, not %R", name);
    Py_INCREF(name);
    if (PyUnicode_CheckExact(name))
      PyUnicode_InternInPlace(&name);
    PyTuple_SET_ITEM(result.get(), i, name);
    for (Py_ssize_t j = 0; j < i; ++j)
      if (PyUnicode_Compare(PyTuple_GET_ITEM(result.get(), j), name) == 0)
        return PyErr_Format(PyExc_ValueError, "dim '%U' appears twice in %R", name, tuple.get());
  }
  if (!result)
    return nullptr;
  return Py_XNewRef(PyDict_SetDefault(dimsTable, result.get(), result.get()));
}

Type *xtensor::internType(Dtype dtype, PyObject *dims, const int64_t *sizes, bool weak) {
  int rank = static_cast<int>(PyTuple_GET_SIZE(dims));
  if (weak && rank) {
    PyErr_SetString(PyExc_ValueError, "an array with dims is not weak");
    return nullptr;
  }
  Py_hash_t hash = hashOf(dtype, dims, rank, sizes, weak);
  auto [from, to] = table().equal_range(hash);
  for (; from != to; ++from) {
    Type *t = from->second;
    if (t->dtype == dtype && t->dims == dims && t->weak == weak &&
        std::equal(sizes, sizes + rank, t->sizes))
      return reinterpret_cast<Type *>(Py_NewRef(reinterpret_cast<PyObject *>(t)));
  }
  return makeType(dtype, dims, rank, sizes, weak, hash);
}

bool xtensor::initType(PyObject *module) {
  if (!dimsTable && !(dimsTable = PyDict_New()))
    return false;
  typeClass = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&spec));
  return typeClass && PyModule_AddObjectRef(module, "ArrayType", (PyObject *)typeClass) == 0;
}
