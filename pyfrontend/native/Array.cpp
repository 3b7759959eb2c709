// The Array class: creation, attributes, and views of the same memory under another type.
#include "Array.h"
#include "Devices.h"
#include "Donation.h"
#include "Pending.h"

#include <algorithm>
#include <cstring>

using namespace xtensor;

PyTypeObject *xtensor::arrayBase;
PyTypeObject *xtensor::arrayClass;

namespace {

Array *self(PyObject *o) { return reinterpret_cast<Array *>(o); }

Array *allocateObject() {
  auto *a = static_cast<Array *>(PyObject_Malloc(sizeof(Array)));
  if (!a) {
    PyErr_NoMemory();
    return nullptr;
  }
  PyObject_Init(reinterpret_cast<PyObject *>(a), arrayClass);
  a->meta = nullptr, a->device = nullptr, a->pending = nullptr, a->shares = 0;
  return a;
}

/// Drivers have no arrays without bytes.
size_t deviceBytes(Type *type) { return type->nbytes ? type->nbytes : 4; }

__attribute__((noinline)) void dropBase(PyObject *base) {
  if (isArray(base))
    --self(base)->shares;
  Py_DECREF(base);
}

__attribute__((noinline)) void dropDeviceMemory(Array *a) {
  if (a->base)
    dropBase(a->base);
  else
    xt_device_free(a->device, a->data, deviceBytes(a->type));
  release(a->pending);
}

void dealloc(PyObject *o) {
  Array *a = self(o);
  if (__builtin_expect(a->device != nullptr, 0))
    dropDeviceMemory(a);
  else if (a->base)
    dropBase(a->base);
  else
    xt_free(a->data, a->type->nbytes);
  Py_XDECREF(a->meta);
  Py_DECREF(a->type);
  PyTypeObject *cls = Py_TYPE(o);
  PyObject_Free(o);
  Py_DECREF(cls);
}

PyObject *construct(PyTypeObject *cls, PyObject *, PyObject *) {
  PyErr_Format(PyExc_TypeError,
               "%s is not made by calling its class: use xtensor.array(data, dims=...)",
               cls->tp_name);
  return nullptr;
}

PyObject *getType(PyObject *o, void *) { return Py_NewRef((PyObject *)self(o)->type); }
PyObject *getDtype(PyObject *o, void *) { return nameOf(self(o)->type->dtype); }
PyObject *getDims(PyObject *o, void *) { return Py_NewRef(self(o)->type->dims); }
PyObject *getShape(PyObject *o, void *) { return Py_NewRef(self(o)->type->shape); }
PyObject *getNdim(PyObject *o, void *) { return PyLong_FromLong(self(o)->type->rank); }
PyObject *getSize(PyObject *o, void *) { return PyLong_FromLongLong(self(o)->type->size); }
PyObject *getNbytes(PyObject *o, void *) { return PyLong_FromLongLong(self(o)->type->nbytes); }
PyObject *getPointer(PyObject *o, void *) { return PyLong_FromVoidPtr(self(o)->data); }
PyObject *getDevice(PyObject *o, void *) { return Py_NewRef(nameOf(self(o)->device)); }
PyObject *getDeviceObject(PyObject *o, void *) { return objectOf(self(o)->device); }
PyObject *getBase(PyObject *o, void *) {
  Array *a = self(o);
  return Py_NewRef(a->base && !isDonated(a) ? a->base : Py_None);
}
PyObject *getDonation(PyObject *o, void *) { return donationOf(self(o)); }
PyObject *getMeta(PyObject *o, void *) {
  return Py_NewRef(self(o)->meta ? self(o)->meta : Py_None);
}
PyObject *getSizes(PyObject *o, void *) {
  Type *t = self(o)->type;
  auto result = steal(PyDict_New());
  for (int i = 0; result && i < t->rank; ++i)
    if (PyDict_SetItem(result.get(), PyTuple_GET_ITEM(t->dims, i), PyTuple_GET_ITEM(t->shape, i)) <
        0)
      return nullptr;
  return result.release();
}

PyGetSetDef getters[] = {
    {"type", getType, nullptr, "The ArrayType.", nullptr},
    {"dtype", getDtype, nullptr, "Name of the dtype, as in NumPy.", nullptr},
    {"dims", getDims, nullptr, "Names of the dims in storage order.", nullptr},
    {"shape", getShape, nullptr, "Sizes of the dims.", nullptr},
    {"sizes", getSizes, nullptr, "Sizes by dim.", nullptr},
    {"ndim", getNdim, nullptr, "Number of dims.", nullptr},
    {"size", getSize, nullptr, "Number of elements.", nullptr},
    {"nbytes", getNbytes, nullptr, "Bytes of the data.", nullptr},
    {"meta", getMeta, nullptr, "What is attached, or None.", nullptr},
    {"device", getDevice, nullptr, "Where the values are: \"cpu\", \"vulkan\", \"vulkan:1\".",
     nullptr},
    {"_device", getDeviceObject, nullptr, "The Device; None: the CPU.", nullptr},
    {"_pointer", getPointer, nullptr, "Address of the data.", nullptr},
    {"_base", getBase, nullptr, "The object that owns the data; None: this array does.", nullptr},
    {"_donation", getDonation, nullptr,
     "(function, file, line) of the call that took the array over; None: none did.", nullptr},
    {}};

PyObject *item(PyObject *o, PyObject *) {
  Array *a = self(o);
  if (a->type->size == 1) {
    auto host = steal(onHost(a));
    return host ? toPython(a->type->dtype, host->data) : nullptr;
  }
  PyErr_Format(PyExc_ValueError,
               "item() wants an array of one element; this one has dims %R and sizes %R",
               a->type->dims, a->type->shape);
  return nullptr;
}

PyObject *view(PyObject *o, PyObject *arg) {
  Array *a = self(o);
  if (!isType(arg))
    return PyErr_Format(PyExc_TypeError, "_view() wants an ArrayType, not %s",
                        Py_TYPE(arg)->tp_name);
  auto *type = reinterpret_cast<Type *>(arg);
  if (type->nbytes != a->type->nbytes ||
      info(type->dtype).itemsize != info(a->type->dtype).itemsize)
    return PyErr_Format(PyExc_ValueError, "%R cannot be viewed as %R: they differ in bytes",
                        a->type, type);
  return reinterpret_cast<PyObject *>(viewOf(a, type));
}

PyObject *part(PyObject *o, PyObject *args) {
  Array *a = self(o);
  PyObject *arg;
  Py_ssize_t offset;
  if (!PyArg_ParseTuple(args, "On:_part", &arg, &offset))
    return nullptr;
  auto *type = reinterpret_cast<Type *>(arg);
  if (!isType(arg) || offset < 0 || offset + type->nbytes > a->type->nbytes)
    return PyErr_Format(PyExc_ValueError, "%R at byte %zd does not lie in %R", arg, offset,
                        a->type);
  if (isDonated(a)) {
    raiseDonated(a);
    return nullptr;
  }
  char *from = static_cast<char *>(a->data) + offset;
  if (!a->device) {
    Array *result = viewOf(a, type);
    if (result)
      result->data = from;
    return reinterpret_cast<PyObject *>(result);
  }
  // A copy: what programs are given begins where the device's memory may be bound.
  auto result = steal(newArray(type, a->device));
  if (!result)
    return nullptr;
  auto kept = steal(viewOf(a, a->type)); // no call takes over the memory meanwhile
  if (!kept)
    return nullptr;
  int32_t failed;
  // The device may be in a call that waits for the interpreter (xt.callback).
  Py_BEGIN_ALLOW_THREADS;
  failed = xt_device_copy(a->device, result->data, from, type->nbytes);
  Py_END_ALLOW_THREADS;
  if (failed) {
    raiseDeviceError("an array cannot be copied");
    return nullptr;
  }
  result->pending = retain(a->pending);
  return result.releaseObject();
}

PyObject *withMeta(PyObject *o, PyObject *meta) {
  Array *a = self(o), *result = viewOf(a, a->type);
  if (result && meta != Py_None)
    result->meta = Py_NewRef(meta);
  return reinterpret_cast<PyObject *>(result);
}

PyMethodDef methods[] = {
    {"item", item, METH_NOARGS, "item()\n--\n\nThe only element as a Python number."},
    {"_view", view, METH_O,
     "_view(type)\n--\n\nThe same memory under another ArrayType of as many bytes; no meta."},
    {"_part", part, METH_VARARGS,
     "_part(type, offset)\n--\n\nWhat lies from a byte on as an array of another ArrayType: the "
     "same memory, or a copy on a device."},
    {"_with_meta", withMeta, METH_O,
     "_with_meta(meta)\n--\n\nThe same array with `meta` attached (None: nothing)."},
    {"__array__", (PyCFunction)(void *)arrayDunder, METH_VARARGS | METH_KEYWORDS,
     "__array__(dtype=None, *, copy=None)\n--\n\nA read-only NumPy array over the same memory "
     "where possible."},
    {"__dlpack__", (PyCFunction)(void *)dlpackDunder, METH_VARARGS | METH_KEYWORDS,
     "__dlpack__(*, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\nA DLPack "
     "capsule."},
    {"__dlpack_device__", dlpackDevice, METH_NOARGS,
     "__dlpack_device__()\n--\n\n(1, 0): the CPU; (7, n): Vulkan."},
    {}};

PyType_Slot slots[] = {
    {Py_tp_doc,
     const_cast<char *>("A block of memory with a dtype and named dims. Never changes.")},
    {Py_tp_new, reinterpret_cast<void *>(construct)},
    {Py_tp_dealloc, reinterpret_cast<void *>(dealloc)},
    {Py_tp_getset, getters},
    {Py_tp_methods, methods},
    {Py_bf_getbuffer, reinterpret_cast<void *>(getBuffer)},
    {0, nullptr}};
PyType_Spec spec = {"xtensor._native.Array", sizeof(Array), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

PyObject *setArrayClass(PyObject *, PyObject *cls) {
  if (!PyType_Check(cls) || !PyType_IsSubtype((PyTypeObject *)cls, arrayBase))
    return PyErr_Format(PyExc_TypeError,
                        "set_array_class wants a subclass of _native.Array, not %R", cls);
  auto *type = reinterpret_cast<PyTypeObject *>(cls);
  // CPython itself may keep __dict__ and weak references in front of an object, where tp_basicsize
  // does not count them. Only the offsets tell.
  if (type->tp_basicsize != (Py_ssize_t)sizeof(Array) || type->tp_dictoffset ||
      type->tp_weaklistoffset || type->tp_finalize || type->tp_del)
    return PyErr_Format(PyExc_TypeError, "%s must have __slots__ = () in its body, and no __del__",
                        type->tp_name);
  // Python makes every class of its own garbage-collected. Arrays are not (16 bytes and 20 ns
  // each): their metadata must not refer back to them. No instance exists yet, as only newArray
  // makes them.
  type->tp_flags &= ~Py_TPFLAGS_HAVE_GC;
  type->tp_traverse = nullptr, type->tp_clear = nullptr;
  type->tp_free = PyObject_Free, type->tp_dealloc = dealloc;
  PyType_Modified(type);
  Py_INCREF(cls);
  Py_XSETREF(arrayClass, type);
  Py_RETURN_NONE;
}

PyObject *empty(PyObject *, PyObject *args) {
  PyObject *type, *where = Py_None;
  xt_device *device;
  if (!PyArg_ParseTuple(args, "O|O:empty", &type, &where) || !parseDevice(where, device))
    return nullptr;
  if (!isType(type))
    return PyErr_Format(PyExc_TypeError, "empty() wants an ArrayType, not %s",
                        Py_TYPE(type)->tp_name);
  return reinterpret_cast<PyObject *>(newArray(reinterpret_cast<Type *>(type), device));
}

PyObject *fromScalar(PyObject *, PyObject *args) {
  PyObject *number, *dtypeArg;
  Dtype dtype;
  if (!PyArg_ParseTuple(args, "OO:from_scalar", &number, &dtypeArg) || !parseDtype(dtypeArg, dtype))
    return nullptr;
  auto noDims = steal(PyTuple_New(0));
  auto dims = steal(noDims ? internDims(noDims.get()) : nullptr);
  auto type = steal(dims ? internType(dtype, dims.get(), nullptr) : nullptr);
  auto a = steal(type ? newArray(type.get()) : nullptr);
  if (!a || !fromPython(dtype, number, a->data))
    return nullptr;
  return a.releaseObject();
}

/// Of larger arrays, the time to fill them matters more than that of the call.
constexpr int64_t kMostFilled = 1 << 16; // bytes

/// A name that a dim may have; false for one that needs a closer look, too.
bool isName(PyObject *o) {
  return PyUnicode_CheckExact(o) && PyUnicode_IS_ASCII(o) && PyUnicode_GET_LENGTH(o) > 0 &&
         PyUnicode_FindChar(o, '~', 0, PyUnicode_GET_LENGTH(o), 1) == -1;
}

/// The type of a small array with these sizes by dim; null, maybe with an exception set, for
/// anything else.
Ref<Type> smallType(PyObject *sizes, Dtype dtype) {
  int64_t found[kMaxRank], bytes = info(dtype).itemsize;
  if (!PyDict_CheckExact(sizes) || PyDict_GET_SIZE(sizes) > kMaxRank)
    return nullptr;
  auto names = steal(PyTuple_New(PyDict_GET_SIZE(sizes)));
  PyObject *name, *size;
  Py_ssize_t at = 0;
  for (int d = 0; names && PyDict_Next(sizes, &at, &name, &size); ++d) {
    int overflow = 0;
    if (!isName(name) || !PyLong_CheckExact(size))
      return nullptr;
    found[d] = PyLong_AsLongLongAndOverflow(size, &overflow);
    if (overflow || found[d] < 0 || found[d] > kMostFilled)
      return nullptr;
    bytes *= std::max<int64_t>(found[d], 1);
    if (bytes > kMostFilled)
      return nullptr;
    PyTuple_SET_ITEM(names.get(), d, Py_NewRef(name));
  }
  auto dims = steal(names ? internDims(names.get()) : nullptr);
  return steal(dims ? internType(dtype, dims.get(), found) : nullptr);
}

PyObject *filled(PyObject *, PyObject *const *args, Py_ssize_t n) {
  Dtype dtype;
  char element[16]; // the largest is a complex number
  bool isOne = n == 3 && parseDtype(args[2], dtype) && fromPython(dtype, args[1], element);
  auto type = isOne ? smallType(args[0], dtype) : nullptr;
  auto made = steal(type ? newArray(type.get()) : nullptr);
  if (!made) {
    PyErr_Clear();
    Py_RETURN_NONE;
  }
  auto *data = static_cast<char *>(made->data);
  int64_t itemsize = info(dtype).itemsize, bytes = type->nbytes;
  for (int64_t offset = 0; offset < bytes; offset += itemsize)
    std::memcpy(data + offset, element, itemsize);
  return made.releaseObject();
}

PyMethodDef functions[] = {
    {"set_array_class", setArrayClass, METH_O,
     "set_array_class(cls)\n--\n\nMakes new arrays instances of `cls`, a subclass of Array with "
     "empty __slots__."},
    {"empty", empty, METH_VARARGS,
     "empty(type, device=None)\n--\n\nAn array of this ArrayType whose memory is not initialised, "
     "on the CPU or a Device."},
    {"from_scalar", fromScalar, METH_VARARGS,
     "from_scalar(number, dtype)\n--\n\nA Python number as an array without dims."},
    {"filled", (PyCFunction)(void *)filled, METH_FASTCALL,
     "filled(sizes, number, dtype)\n--\n\nA small array of the CPU with sizes by dim and one "
     "number everywhere. None for anything else, and where something is wrong."},
    {"as_numpy", asNumpy, METH_O,
     "as_numpy(array)\n--\n\nA read-only NumPy array over the same memory."},
    {"from_buffer", (PyCFunction)(void *)fromBuffer, METH_VARARGS | METH_KEYWORDS,
     "from_buffer(obj, dims, dtype=None, copy=None)\n--\n\nAn array from anything NumPy "
     "understands, without a "
     "copy where the memory is row-major, aligned and of the dtype. copy=True always copies."},
    {"read_parts", (PyCFunction)(void *)readParts, METH_FASTCALL,
     "read_parts(array, indexers)\n--\n\nWhat a dict of ints and slices by dim reads of an Array "
     "of the CPU without meta: the same memory where the elements lie together, else a copy. None "
     "for anything else, and where something is wrong."},
    {"from_dlpack", (PyCFunction)(void *)fromDlpackObject, METH_VARARGS | METH_KEYWORDS,
     "from_dlpack(obj, dims)\n--\n\nAn array from an object with __dlpack__ on the CPU, without a "
     "copy where "
     "the memory is row-major and aligned."},
    {}};

} // namespace

Array *xtensor::exportOf(Array *a) {
  if (!isDonated(a))
    return newView(a->type, a->data, reinterpret_cast<PyObject *>(a));
  raiseDonated(a);
  return nullptr;
}

__attribute__((noinline)) static Array *newDeviceArray(Type *type, xt_device *device) {
  void *data = xt_device_alloc(device, deviceBytes(type));
  if (!data) {
    raiseMemoryError("an array of " + std::to_string(type->nbytes) + " bytes", device);
    return nullptr;
  }
  Array *a = allocateObject();
  if (!a) {
    xt_device_free(device, data, deviceBytes(type));
    return nullptr;
  }
  Py_INCREF(type);
  a->type = type, a->data = data, a->base = nullptr, a->device = device;
  return a;
}

Array *xtensor::newArray(Type *type, xt_device *device) {
  if (__builtin_expect(device != nullptr, 0))
    return newDeviceArray(type, device);
  void *data = xt_alloc(type->nbytes);
  if (!data) {
    raiseMemoryError("an array of " + std::to_string(type->nbytes) + " bytes", nullptr);
    return nullptr;
  }
  Array *a = allocateObject();
  if (!a) {
    xt_free(data, type->nbytes);
    return nullptr;
  }
  Py_INCREF(type);
  a->type = type, a->data = data, a->base = nullptr;
  return a;
}

Array *xtensor::newShell(Type *type) {
  Array *a = allocateObject();
  if (!a)
    return nullptr;
  Py_INCREF(type);
  a->type = type, a->data = nullptr, a->base = nullptr;
  return a;
}

Array *xtensor::newView(Type *type, void *data, PyObject *base) {
  static char nothing; // what an array of no elements may lack
  Array *a = newShell(type);
  if (!a)
    return nullptr;
  a->data = data ? data : &nothing, a->base = Py_NewRef(base);
  if (isArray(base))
    ++self(base)->shares;
  return a;
}

Array *xtensor::viewOf(Array *a, Type *type) {
  if (isDonated(a)) {
    raiseDonated(a);
    return nullptr;
  }
  Array *result = newView(type, a->data, a->base ? a->base : reinterpret_cast<PyObject *>(a));
  if (result && a->device)
    result->device = a->device, result->pending = retain(a->pending);
  return result;
}

bool xtensor::initArray(PyObject *module) {
  arrayBase = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&spec));
  if (!arrayBase)
    return false;
  arrayClass = reinterpret_cast<PyTypeObject *>(Py_NewRef((PyObject *)arrayBase));
  return PyModule_AddObjectRef(module, "Array", (PyObject *)arrayBase) == 0 &&
         PyModule_AddFunctions(module, functions) == 0;
}
