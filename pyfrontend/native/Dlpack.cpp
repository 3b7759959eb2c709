// DLPack in both directions, with and without versions. Layout:
// https://dmlc.github.io/dlpack/latest/c_api.html
#include "Array.h"
#include "Devices.h"
#include "Donation.h"
#include "NumPy.h"

#include <cstring>
#include <string_view>

using namespace xtensor;

namespace {

struct Device {
  int32_t type, id;
};
struct Tensor {
  void *data;
  Device device;
  int32_t ndim;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } dtype;
  int64_t *shape, *strides; // in elements; null strides: row-major
  uint64_t byteOffset;
};
struct Legacy {
  Tensor tensor;
  void *context;
  void (*deleter)(Legacy *);
};
struct Versioned {
  struct {
    uint32_t major, minor;
  } version;
  void *context;
  void (*deleter)(Versioned *);
  uint64_t flags;
  Tensor tensor;
};

constexpr int kCPU = 1;
constexpr uint64_t kReadOnly = 1, kCopied = 2;
constexpr const char *kLegacyName = "dltensor", *kVersionedName = "dltensor_versioned";

/// Consumers may call the deleter from any thread, at any time.
template <typename Managed>
void release(Managed *managed) {
  PyGILState_STATE state = PyGILState_Ensure();
  steal(static_cast<PyObject *>(managed->context));
  delete[] managed->tensor.strides;
  delete managed;
  PyGILState_Release(state);
}

template <typename Managed>
void freeCapsule(PyObject *capsule, const char *name) {
  if (!PyCapsule_IsValid(capsule, name)) // used: its memory belongs to the consumer
    return;
  auto *managed = static_cast<Managed *>(PyCapsule_GetPointer(capsule, name));
  managed->deleter(managed);
}

template <typename Managed>
Managed *manage(Array *a) {
  Type *t = a->type;
  auto *m = new Managed{};
  Tensor &tensor = m->tensor;
  tensor.data = a->data;
  tensor.device = {kCPU, 0};
  tensor.ndim = t->rank;
  tensor.dtype = {info(t->dtype).dlpackCode, static_cast<uint8_t>(info(t->dtype).itemsize * 8), 1};
  tensor.shape = t->sizes; // lives as long as the array
  tensor.strides = new int64_t[t->rank + 1];
  for (int i = 0; i < t->rank; ++i)
    tensor.strides[i] = t->strides[i] / info(t->dtype).itemsize;
  m->context = reinterpret_cast<PyObject *>(a);
  m->deleter = release<Managed>;
  return m;
}

PyObject *exportArray(Array *shown, bool versioned, bool copied) {
  PyObject *capsule;
  Array *a = exportOf(shown); // the consumer's
  if (!a)
    return nullptr;
  if (!versioned) {
    auto *m = manage<Legacy>(a);
    capsule =
        PyCapsule_New(m, kLegacyName, [](PyObject *c) { freeCapsule<Legacy>(c, kLegacyName); });
    if (!capsule)
      m->deleter(m);
    return capsule;
  }
  auto *m = manage<Versioned>(a);
  m->version = {1, 0};
  m->flags = copied ? kCopied : kReadOnly;
  capsule = PyCapsule_New(m, kVersionedName,
                          [](PyObject *c) { freeCapsule<Versioned>(c, kVersionedName); });
  if (!capsule)
    m->deleter(m);
  return capsule;
}

/// What keeps imported memory alive: a capsule that calls the producer's deleter.
template <typename Managed>
PyObject *keeperOf(Managed *managed) {
  return PyCapsule_New(managed, "xtensor.dlpack", [](PyObject *capsule) {
    auto *m = static_cast<Managed *>(PyCapsule_GetPointer(capsule, "xtensor.dlpack"));
    if (m && m->deleter)
      m->deleter(m);
  });
}

bool isRowMajor(const Tensor &t) {
  if (!t.strides)
    return true;
  int64_t expected = 1;
  for (int i = t.ndim - 1; i >= 0; --i) {
    if (t.shape[i] == 0)
      return true;
    if (t.shape[i] != 1 && t.strides[i] != expected)
      return false;
    expected *= t.shape[i];
  }
  return true;
}

void copyStrided(char *&target, const char *source, const Tensor &t, int axis, size_t itemsize) {
  if (axis == t.ndim) {
    memcpy(target, source, itemsize);
    target += itemsize;
    return;
  }
  for (int64_t i = 0; i < t.shape[axis]; ++i)
    copyStrided(target, source + i * t.strides[axis] * static_cast<int64_t>(itemsize), t, axis + 1,
                itemsize);
}

Array *arrayOver(const Tensor &t, PyObject *dims, PyObject *keeper) {
  Dtype dtype;
  if (t.device.type != kCPU) {
    PyErr_Format(PyExc_BufferError,
                 "the data is on device type %d; only CPU memory (1) can be shared", t.device.type);
    return nullptr;
  }
  if (t.dtype.lanes != 1 || !fromDlpack(t.dtype.code, t.dtype.bits, dtype)) {
    PyErr_Format(PyExc_TypeError,
                 "an array cannot hold the DLPack type (code %d, %d bits, %d lanes)", t.dtype.code,
                 t.dtype.bits, t.dtype.lanes);
    return nullptr;
  }
  if (t.ndim != PyTuple_GET_SIZE(dims)) {
    PyErr_Format(PyExc_ValueError, "%zd dims %R for data with %d axes", PyTuple_GET_SIZE(dims),
                 dims, t.ndim);
    return nullptr;
  }
  auto type = steal(internType(dtype, dims, t.shape));
  if (!type)
    return nullptr;
  char *data = static_cast<char *>(t.data) + t.byteOffset;
  size_t itemsize = info(dtype).itemsize;
  if (isRowMajor(t) && reinterpret_cast<uintptr_t>(data) % itemsize == 0)
    return newView(type.get(), data, keeper);
  Array *result = newArray(type.get());
  if (!result)
    return nullptr;
  char *target = static_cast<char *>(result->data);
  if (isRowMajor(t))
    memcpy(target, data, type->nbytes);
  else
    copyStrided(target, data, t, 0, itemsize);
  return result;
}

template <typename Managed>
Array *import(PyObject *capsule, const char *name, const char *usedName, PyObject *dims) {
  auto *managed = static_cast<Managed *>(PyCapsule_GetPointer(capsule, name));
  auto keeper = steal(managed ? keeperOf(managed) : nullptr);
  if (!keeper)
    return nullptr;
  if (PyCapsule_SetName(capsule, usedName) < 0 || PyCapsule_SetDestructor(capsule, nullptr) < 0) {
    PyCapsule_SetDestructor(keeper.get(), nullptr);
    return nullptr;
  }
  return arrayOver(managed->tensor, dims, keeper.get());
}

Ref<> askForCapsule(PyObject *obj) {
  auto method = steal(PyObject_GetAttrString(obj, "__dlpack__"));
  if (!method)
    return nullptr;
  auto kwargs = steal(Py_BuildValue("{s(ii)}", "max_version", 1, 1)), none = steal(PyTuple_New(0));
  auto capsule =
      steal(kwargs && none ? PyObject_Call(method.get(), none.get(), kwargs.get()) : nullptr);
  if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) { // a producer without versions
    PyErr_Clear();
    capsule = steal(PyObject_CallNoArgs(method.get()));
  }
  return capsule;
}

uint32_t majorVersion(PyObject *capsule) {
  return static_cast<Versioned *>(PyCapsule_GetPointer(capsule, kVersionedName))->version.major;
}

/// 1: a pair naming the CPU or None, 0: another device, -1: error.
int wantsCpu(PyObject *device) {
  if (device == Py_None)
    return 1;
  int type, id;
  if (!PyTuple_Check(device) || !PyArg_ParseTuple(device, "ii", &type, &id)) {
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError, "dl_device must be a pair of ints, not %R", device);
    return -1;
  }
  return type == kCPU;
}

} // namespace

PyObject *xtensor::dlpackDunder(PyObject *self, PyObject *args, PyObject *kwargs) {
  static const char *keywords[] = {"stream", "max_version", "dl_device", "copy", nullptr};
  PyObject *stream = Py_None, *maxVersion = Py_None, *device = Py_None, *copy = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOO:__dlpack__", const_cast<char **>(keywords),
                                   &stream, &maxVersion, &device, &copy))
    return nullptr;
  if (stream != Py_None)
    return PyErr_Format(PyExc_ValueError, "CPU memory has no streams: stream must be None, not %R",
                        stream);
  int cpu = wantsCpu(device);
  if (cpu < 0)
    return nullptr;
  Array *a = reinterpret_cast<Array *>(self);
  if (a->device && (!cpu || device == Py_None))
    return PyErr_Format(PyExc_BufferError,
                        "the array is on %U, whose memory other libraries cannot read: give them "
                        "x.to(\"cpu\"), or ask for device=\"cpu\" (dl_device=(1, 0))",
                        nameOf(a->device));
  if (!cpu)
    return PyErr_Format(PyExc_BufferError, "the array is on the CPU, (1, 0); it cannot go to %R",
                        device);
  long major = 0;
  if (maxVersion != Py_None) {
    auto first = steal(PySequence_GetItem(maxVersion, 0));
    major = first ? PyLong_AsLong(first.get()) : -1;
    if (PyErr_Occurred())
      return nullptr;
  }
  int copied = PyObject_IsTrue(copy);
  if (copied < 0)
    return nullptr;
  if (a->device && copy != Py_None && !copied)
    return PyErr_Format(PyExc_BufferError, "copy=False, but the array is on %U: it is copied",
                        nameOf(a->device));
  if (!copied && !a->device)
    return exportArray(a, major >= 1, false);
  if (isDonated(a)) {
    raiseDonated(a);
    return nullptr;
  }
  auto fresh = steal(a->device ? moved(a, nullptr) : newArray(a->type));
  if (!fresh)
    return nullptr;
  if (!a->device)
    memcpy(fresh->data, a->data, a->type->nbytes);
  return exportArray(fresh.get(), major >= 1, true);
}

PyObject *xtensor::dlpackDevice(PyObject *self, PyObject *) {
  int kind = kCPU, index = 0;
  if (xt_device *device = reinterpret_cast<Array *>(self)->device) {
    std::string_view backend = xt_device_get_info(device)->backend;
    kind = backend == "cuda" ? 2 : backend == "vulkan" ? 7 : backend == "metal" ? 8 : 12;
    index = indexOf(device);
  }
  return Py_BuildValue("(ii)", kind, index);
}

PyObject *xtensor::fromDlpackObject(PyObject *, PyObject *args, PyObject *kwargs) {
  static const char *keywords[] = {"obj", "dims", nullptr};
  PyObject *obj, *dimsArg;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO:from_dlpack", const_cast<char **>(keywords),
                                   &obj, &dimsArg))
    return nullptr;
  auto dims = steal(internDims(dimsArg));
  if (!dims)
    return nullptr;
  auto owned = PyCapsule_CheckExact(obj) ? borrow(obj) : askForCapsule(obj);
  PyObject *capsule = owned.get();
  Array *result = nullptr;
  if (!capsule)
    ;
  else if (PyCapsule_IsValid(capsule, kVersionedName) && majorVersion(capsule) != 1)
    PyErr_Format(PyExc_BufferError, "DLPack version %u is not supported; version 1 is",
                 majorVersion(capsule));
  else if (PyCapsule_IsValid(capsule, kVersionedName))
    result = import<Versioned>(capsule, kVersionedName, "used_dltensor_versioned", dims.get());
  else if (PyCapsule_IsValid(capsule, kLegacyName))
    result = import<Legacy>(capsule, kLegacyName, "used_dltensor", dims.get());
  else
    PyErr_SetString(PyExc_TypeError, "__dlpack__ did not return an unused DLPack capsule");
  return reinterpret_cast<PyObject *>(result);
}
