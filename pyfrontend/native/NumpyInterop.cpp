// Arrays from and to NumPy and the buffer protocol, without copies where the memory allows.
#include "Array.h"
#include "Devices.h"
#include "NumPy.h"

using namespace xtensor;

namespace {

PyArrayObject *numpyOver(Array *a, int flags) {
  int number = numpyType(a->type->dtype);
  PyArray_Descr *descr = number < 0 ? nullptr : PyArray_DescrFromType(number);
  if (!descr)
    return nullptr;
  // sizes and strides are int64_t, and npy_intp is as wide on every platform that we build for.
  static_assert(sizeof(npy_intp) == sizeof(int64_t), "64-bit platforms only");
  return reinterpret_cast<PyArrayObject *>(PyArray_NewFromDescr(
      &PyArray_Type, descr, a->type->rank, reinterpret_cast<npy_intp *>(a->type->sizes),
      reinterpret_cast<npy_intp *>(a->type->strides), a->data, flags, nullptr));
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
  Array *result = newArray(type);
  if (!result)
    return nullptr;
  PyArrayObject *target = numpyOver(result, NPY_ARRAY_CARRAY);
  if (!target || PyArray_CopyInto(target, source) < 0)
    Py_CLEAR(result);
  Py_XDECREF(target);
  return result;
}

Array *fromNumpy(PyArrayObject *source, PyObject *dims, PyObject *dtypeArg, int copy) {
  int rank = PyArray_NDIM(source);
  if (PyTuple_GET_SIZE(dims) != rank) {
    PyObject *shape = PyObject_GetAttrString(reinterpret_cast<PyObject *>(source), "shape");
    PyErr_Format(PyExc_ValueError, "%zd dims %R for data with %d axes of sizes %R",
                 PyTuple_GET_SIZE(dims), dims, rank, shape ? shape : Py_None);
    Py_XDECREF(shape);
    return nullptr;
  }
  Dtype own, wanted;
  if (!parseDtype(reinterpret_cast<PyObject *>(PyArray_DESCR(source)), own))
    return nullptr;
  wanted = own;
  if (dtypeArg != Py_None && !parseDtype(dtypeArg, wanted))
    return nullptr;
  Type *type = internType(wanted, dims, reinterpret_cast<int64_t *>(PyArray_DIMS(source)));
  if (!type)
    return nullptr;
  Array *result = nullptr;
  bool shared = own == wanted && usableAsIs(source);
  if (shared && copy != 1)
    result = newView(type, PyArray_DATA(source), reinterpret_cast<PyObject *>(source));
  else if (copy == 0)
    PyErr_SetString(PyExc_ValueError, "copy=False, but this memory needs a copy: it must be "
                                      "row-major, aligned, in native byte order and of the dtype");
  else
    result = copyOf(source, type);
  Py_DECREF(type);
  return result;
}

} // namespace

PyObject *xtensor::asNumpy(PyObject *, PyObject *o) {
  if (!isArray(o))
    return PyErr_Format(PyExc_TypeError, "as_numpy() wants an Array, not %s", Py_TYPE(o)->tp_name);
  Array *host = heldOnHost(reinterpret_cast<Array *>(o));
  PyArrayObject *result =
      host ? numpyOver(host, NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED) : nullptr;
  if (result && PyArray_SetBaseObject(result, Py_NewRef((PyObject *)host)) < 0)
    Py_CLEAR(result);
  Py_XDECREF(host);
  return reinterpret_cast<PyObject *>(result);
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
  PyObject *view = copy == -2 ? nullptr : asNumpy(nullptr, self);
  if (!view)
    return nullptr;
  auto *array = reinterpret_cast<PyArrayObject *>(view);
  PyObject *result = nullptr;
  PyArray_Descr *descr = nullptr;
  if (dtypeArg != Py_None && !PyArray_DescrConverter(dtypeArg, &descr)) {
    Py_DECREF(view);
    return nullptr;
  }
  if (descr && !PyArray_EquivTypes(descr, PyArray_DESCR(array))) {
    if (copy == 0)
      PyErr_SetString(PyExc_ValueError, "copy=False, but another dtype needs a copy");
    else
      result = PyArray_CastToType(
          array, reinterpret_cast<PyArray_Descr *>(Py_NewRef((PyObject *)descr)), 0);
  } else if (copy == 1) {
    result = PyArray_NewCopy(array, NPY_CORDER);
  } else {
    result = Py_NewRef(view);
  }
  Py_XDECREF(descr);
  Py_DECREF(view);
  return result;
}

PyObject *xtensor::fromBuffer(PyObject *, PyObject *args, PyObject *kwargs) {
  static const char *keywords[] = {"obj", "dims", "dtype", "copy", nullptr};
  PyObject *obj, *dimsArg, *dtypeArg = Py_None, *copyArg = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OO:from_buffer", const_cast<char **>(keywords),
                                   &obj, &dimsArg, &dtypeArg, &copyArg))
    return nullptr;
  int copy = parseCopy(copyArg);
  PyObject *dims = copy == -2 ? nullptr : internDims(dimsArg);
  if (!dims)
    return nullptr;
  PyObject *source = PyArray_Check(obj) ? Py_NewRef(obj)
                     : isArray(obj)     ? asNumpy(nullptr, obj)
                                        : PyArray_FromAny(obj, nullptr, 0, 0, 0, nullptr);
  Array *result = nullptr;
  if (source)
    result = fromNumpy(reinterpret_cast<PyArrayObject *>(source), dims, dtypeArg, copy);
  Py_XDECREF(source);
  Py_DECREF(dims);
  return reinterpret_cast<PyObject *>(result);
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
  view->format = flags & PyBUF_FORMAT ? const_cast<char *>(dtype.format) : nullptr;
  view->shape = flags & PyBUF_ND ? reinterpret_cast<Py_ssize_t *>(t->sizes) : nullptr;
  bool strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
  view->strides = strides ? reinterpret_cast<Py_ssize_t *>(t->strides) : nullptr;
  view->suboffsets = nullptr;
  view->internal = nullptr;
  return 0;
}
