// Arrays from and to NumPy and the buffer protocol, without copies where the memory allows.
#include "Array.h"
#include "Devices.h"
#include "Donation.h"
#include "NumPy.h"

using namespace xtensor;

namespace {

PyArrayObject *numpyOver(Dtype dtype, int rank, int64_t *sizes, int64_t *strides, void *data,
                         int flags) {
  int number = numpyType(dtype);
  PyArray_Descr *descr = number < 0 ? nullptr : PyArray_DescrFromType(number);
  if (!descr)
    return nullptr;
  // sizes and strides are int64_t, and npy_intp is as wide on every platform that we build for.
  static_assert(sizeof(npy_intp) == sizeof(int64_t), "64-bit platforms only");
  return reinterpret_cast<PyArrayObject *>(
      PyArray_NewFromDescr(&PyArray_Type, descr, rank, reinterpret_cast<npy_intp *>(sizes),
                           reinterpret_cast<npy_intp *>(strides), data, flags, nullptr));
}

PyArrayObject *numpyOver(Array *a, int flags) {
  Type *type = a->type;
  return numpyOver(type->dtype, type->rank, type->sizes, type->strides, a->data, flags);
}

/// 1 true, 0 false, -1 None, -2 error.
int parseCopy(PyObject *copy) {
  if (copy == Py_None)
    return -1;
  int truth = PyObject_IsTrue(copy);
  return truth < 0 ? -2 : truth;
}

bool usableAsIs(PyArrayObject *a) {
  return PyArray_CHKFLAGS(a, NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED) && PyArray_ISNOTSWAPPED(a);
}

Array *copyOf(PyArrayObject *source, Type *type) {
  auto result = steal(newArray(type));
  auto target = steal(result ? numpyOver(result.get(), NPY_ARRAY_CARRAY) : nullptr);
  if (!target || PyArray_CopyInto(target.get(), source) < 0)
    return nullptr;
  return result.release();
}

Array *fromNumpy(PyArrayObject *source, PyObject *dims, PyObject *dtypeArg, int copy) {
  int rank = PyArray_NDIM(source);
  if (PyTuple_GET_SIZE(dims) != rank) {
    auto shape = steal(PyObject_GetAttrString(reinterpret_cast<PyObject *>(source), "shape"));
    PyErr_Format(PyExc_ValueError, "%zd dims %R for data with %d axes of sizes %R",
                 PyTuple_GET_SIZE(dims), dims, rank, shape ? shape.get() : Py_None);
    return nullptr;
  }
  Dtype own, wanted;
  if (!parseDtype(reinterpret_cast<PyObject *>(PyArray_DESCR(source)), own))
    return nullptr;
  wanted = own;
  if (dtypeArg != Py_None && !parseDtype(dtypeArg, wanted))
    return nullptr;
  auto type = steal(internType(wanted, dims, reinterpret_cast<int64_t *>(PyArray_DIMS(source))));
  if (!type)
    return nullptr;
  bool shared = own == wanted && usableAsIs(source);
  if (shared && copy != 1)
    return newView(type.get(), PyArray_DATA(source), reinterpret_cast<PyObject *>(source));
  if (copy != 0)
    return copyOf(source, type.get());
  PyErr_SetString(PyExc_ValueError, "copy=False, but this memory needs a copy: it must be "
                                    "row-major, aligned, in native byte order and of the dtype");
  return nullptr;
}

/// What is read of a dim: `size` elements, the first one at `start`. An int reads one, and no dim
/// is left.
struct Part {
  Py_ssize_t start = 0, step = 1, size = 0;
  bool isKept = true;
};

/// None, or an int of 64 bits.
bool isBound(PyObject *o) {
  int overflow = 0;
  if (PyLong_CheckExact(o))
    PyLong_AsLongLongAndOverflow(o, &overflow);
  return o == Py_None || (PyLong_CheckExact(o) && !overflow);
}

/// False, without an exception, for anything but an int that is inside, or a slice of ints.
bool parsePart(PyObject *index, Py_ssize_t size, Part &part) {
  if (PyLong_CheckExact(index)) {
    int overflow;
    long long at = PyLong_AsLongLongAndOverflow(index, &overflow);
    if (overflow || at < -size || at >= size)
      return false;
    part = {static_cast<Py_ssize_t>(at < 0 ? at + size : at), 1, 1, false};
    return true;
  }
  if (!PySlice_Check(index))
    return false;
  auto *slice = reinterpret_cast<PySliceObject *>(index);
  Py_ssize_t stop;
  if (!isBound(slice->start) || !isBound(slice->stop) || !isBound(slice->step) ||
      PySlice_Unpack(index, &part.start, &stop, &part.step) < 0) {
    PyErr_Clear(); // a step of 0
    return false;
  }
  part.size = PySlice_AdjustIndices(size, &part.start, &stop, part.step);
  return true;
}

/// The parts of the dims of `type` that `indexers` reads. False, without an exception, where one of
/// them is not known, or there is no such dim.
bool parseParts(Type *type, PyObject *indexers, Part *parts) {
  for (int d = 0; d < type->rank; ++d)
    parts[d].size = type->sizes[d];
  PyObject *name, *index;
  for (Py_ssize_t at = 0; PyDict_Next(indexers, &at, &name, &index);) {
    int d = 0;
    while (d < type->rank && PyTuple_GET_ITEM(type->dims, d) != name &&
           !(PyUnicode_Check(name) && // np.str_ as well
             PyUnicode_Compare(PyTuple_GET_ITEM(type->dims, d), name) == 0))
      ++d;
    if (d == type->rank || !parsePart(index, type->sizes[d], parts[d]))
      return false;
  }
  return true;
}

} // namespace

PyObject *xtensor::readParts(PyObject *, PyObject *const *args, Py_ssize_t n) {
  if (n != 2 || Py_TYPE(args[0]) != arrayClass || !PyDict_CheckExact(args[1]))
    Py_RETURN_NONE;
  auto *a = reinterpret_cast<Array *>(args[0]);
  Type *type = a->type;
  Part parts[kMaxRank];
  if (a->device || a->meta || !parseParts(type, args[1], parts))
    Py_RETURN_NONE;
  if (isDonated(a)) {
    raiseDonated(a);
    return nullptr;
  }
  int rank = 0;
  int64_t sizes[kMaxRank], strides[kMaxRank], offset = 0;
  PyObject *names[kMaxRank];
  for (int d = 0; d < type->rank; ++d) {
    offset += parts[d].start * type->strides[d];
    if (!parts[d].isKept)
      continue;
    names[rank] = PyTuple_GET_ITEM(type->dims, d);
    strides[rank] = parts[d].step * type->strides[d];
    sizes[rank++] = parts[d].size;
  }
  auto dims = steal(PyTuple_New(rank));
  for (int d = 0; dims && d < rank; ++d)
    PyTuple_SET_ITEM(dims.get(), d, Py_NewRef(names[d]));
  auto interned = steal(dims ? internDims(dims.get()) : nullptr);
  auto found =
      steal(interned ? internType(type->dtype, interned.get(), sizes, type->weak) : nullptr);
  if (!found)
    return nullptr;
  // Together are elements whose strides are those of an array of their own.
  bool together = true;
  for (int d = 0; d < rank; ++d)
    together &= sizes[d] == 1 || strides[d] == found->strides[d];
  if (found->size == 0)
    return reinterpret_cast<PyObject *>(newArray(found.get()));
  char *first = static_cast<char *>(a->data) + offset;
  if (together) {
    Array *result = viewOf(a, found.get());
    if (result)
      result->data = first;
    return reinterpret_cast<PyObject *>(result);
  }
  auto source = steal(numpyOver(type->dtype, rank, sizes, strides, first, /*flags=*/0));
  auto kept = steal(exportOf(a)); // no call takes over the memory meanwhile
  return source && kept ? reinterpret_cast<PyObject *>(copyOf(source.get(), found.get())) : nullptr;
}

PyObject *xtensor::asNumpy(PyObject *, PyObject *o) {
  if (!isArray(o))
    return PyErr_Format(PyExc_TypeError, "as_numpy() wants an Array, not %s", Py_TYPE(o)->tp_name);
  auto host = steal(heldOnHost(reinterpret_cast<Array *>(o)));
  auto result =
      steal(host ? numpyOver(host.get(), NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED) : nullptr);
  if (result && PyArray_SetBaseObject(result.get(), host.releaseObject()) < 0)
    return nullptr;
  return result.releaseObject();
}

PyObject *xtensor::arrayDunder(PyObject *self, PyObject *args, PyObject *kwargs) {
  static const char *keywords[] = {"dtype", "copy", nullptr};
  PyObject *dtypeArg = Py_None, *copyArg = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O$O:__array__", const_cast<char **>(keywords),
                                   &dtypeArg, &copyArg))
    return nullptr;
  int copy = parseCopy(copyArg);
  if (xt_device *device = reinterpret_cast<Array *>(self)->device; device && copy == 0)
    return PyErr_Format(PyExc_ValueError, "copy=False, but the array is on %U: NumPy needs a copy",
                        nameOf(device));
  auto view = steal(copy == -2 ? nullptr : asNumpy(nullptr, self));
  if (!view)
    return nullptr;
  auto *array = reinterpret_cast<PyArrayObject *>(view.get());
  PyArray_Descr *found = nullptr;
  if (dtypeArg != Py_None && !PyArray_DescrConverter(dtypeArg, &found))
    return nullptr;
  auto descr = steal(found);
  if (!descr || PyArray_EquivTypes(descr.get(), PyArray_DESCR(array)))
    return copy == 1 ? PyArray_NewCopy(array, NPY_CORDER) : view.release();
  if (copy != 0)
    return PyArray_CastToType(array, descr.release(), 0);
  PyErr_SetString(PyExc_ValueError, "copy=False, but another dtype needs a copy");
  return nullptr;
}

PyObject *xtensor::fromBuffer(PyObject *, PyObject *args, PyObject *kwargs) {
  static const char *keywords[] = {"obj", "dims", "dtype", "copy", nullptr};
  PyObject *obj, *dimsArg, *dtypeArg = Py_None, *copyArg = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OO:from_buffer", const_cast<char **>(keywords),
                                   &obj, &dimsArg, &dtypeArg, &copyArg))
    return nullptr;
  int copy = parseCopy(copyArg);
  auto dims = steal(copy == -2 ? nullptr : internDims(dimsArg));
  if (!dims)
    return nullptr;
  auto source = steal(PyArray_Check(obj) ? Py_NewRef(obj)
                      : isArray(obj)     ? asNumpy(nullptr, obj)
                                         : PyArray_FromAny(obj, nullptr, 0, 0, 0, nullptr));
  if (!source)
    return nullptr;
  return reinterpret_cast<PyObject *>(
      fromNumpy(reinterpret_cast<PyArrayObject *>(source.get()), dims.get(), dtypeArg, copy));
}

int xtensor::getBuffer(PyObject *self, Py_buffer *view, int flags) {
  Array *a = reinterpret_cast<Array *>(self);
  Type *t = a->type;
  view->obj = nullptr;
  if (flags & PyBUF_WRITABLE) {
    PyErr_SetString(PyExc_BufferError, "arrays never change: ask for a read-only buffer");
    return -1;
  }
  const DtypeInfo &dtype = info(t->dtype);
  if (!dtype.format) {
    PyErr_Format(PyExc_BufferError, "the buffer protocol has no %s", dtype.name);
    return -1;
  }
  // Whoever asks for bytes alone reads them as a dtype of its own: torch.asarray as float32.
  if (!(flags & PyBUF_FORMAT)) {
    PyErr_Format(PyExc_BufferError,
                 "a buffer without a format hides that its bytes are %s: pass x.values, "
                 "memoryview(x) or torch.from_dlpack(x)",
                 dtype.name);
    return -1;
  }
  if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && t->rank > 1) {
    PyErr_SetString(PyExc_BufferError, "arrays are row-major");
    return -1;
  }
  Array *host = heldOnHost(a);
  if (!host)
    return -1;
  t = host->type;
  view->obj = reinterpret_cast<PyObject *>(host);
  view->buf = host->data;
  view->len = t->nbytes;
  view->itemsize = dtype.itemsize;
  view->readonly = 1;
  view->ndim = t->rank;
  view->format = const_cast<char *>(dtype.format);
  view->shape = flags & PyBUF_ND ? reinterpret_cast<Py_ssize_t *>(t->sizes) : nullptr;
  bool strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
  view->strides = strides ? reinterpret_cast<Py_ssize_t *>(t->strides) : nullptr;
  view->suboffsets = nullptr;
  view->internal = nullptr;
  return 0;
}
