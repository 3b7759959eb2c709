// Devices: the list of them, their properties, and copies of arrays to and from them.
#include "Devices.h"
#include "Donation.h"
#include "Pending.h"

#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

using namespace xtensor;

namespace {

PyTypeObject *deviceClass;
// xtensor's classes of these errors; null until Python sets them.
PyObject *deviceError, *memoryError, *deviceMemoryError;
PyObject *cpuName;

/// Made once per device and never freed.
struct Device {
  PyObject_HEAD xt_device *handle;
  const xt_device_info *info;
  PyObject *name;
  int index;
};

std::vector<Device *> devices;

Device *self(PyObject *o) { return reinterpret_cast<Device *>(o); }

struct Feature {
  uint32_t bit;
  const char *name;      // for people
  const char *inProfile; // null: not told to the compiler this way
};
// In the order of the profile.
constexpr Feature kFeatures[] = {
    {XT_DEVICE_F64, "float64", "f64"},
    {XT_DEVICE_I64, "int64", "i64"},
    {XT_DEVICE_F16, "float16", "f16"},
    {XT_DEVICE_I16, "int16", "i16"},
    {XT_DEVICE_I8, "int8", "i8"},
    {XT_DEVICE_STORAGE_16, "16-bit storage", "s16"},
    {XT_DEVICE_STORAGE_8, "8-bit storage", "s8"},
    {XT_DEVICE_ATOMIC_ADD_F32, "float32 atomics", "atomic_f32"},
    {XT_DEVICE_ATOMIC_ADD_F64, "float64 atomics", "atomic_f64"},
    {XT_DEVICE_ATOMIC_I64, "int64 atomics", "atomic_i64"},
    {XT_DEVICE_EXACT_SPECIALS_F16, "infinities and NaNs in float16", "specials16"},
    {XT_DEVICE_EXACT_SPECIALS_F32, "infinities and NaNs in float32", "specials32"},
    {XT_DEVICE_EXACT_SPECIALS_F64, "infinities and NaNs in float64", "specials64"},
    {XT_DEVICE_SUBNORMALS_F16, "subnormal numbers in float16", "subnormals16"},
    {XT_DEVICE_SUBNORMALS_F32, "subnormal numbers in float32", "subnormals32"},
    {XT_DEVICE_SUBNORMALS_F64, "subnormal numbers in float64", "subnormals64"},
    {XT_DEVICE_SUBGROUP_SHUFFLE, "subgroup shuffles", "shuffle"},
    {XT_DEVICE_SUBGROUP_ARITHMETIC, "subgroup arithmetic", nullptr},
    {XT_DEVICE_UNIFIED_MEMORY, "unified memory", nullptr},
};

/// What the compiler is told about a device: its backend, its maker, what it has, and numbers,
/// always in this order. A subgroup of 1 is one that does no arithmetic.
std::string profileOf(const xt_device_info &info) {
  std::string text = info.backend;
  if (info.vendor && *info.vendor)
    text += std::string(",") + info.vendor;
  for (const Feature &f : kFeatures)
    if (f.inProfile && info.features & f.bit)
      text += std::string(",") + f.inProfile;
  bool subgroups = info.features & XT_DEVICE_SUBGROUP_ARITHMETIC;
  std::string unit;
  if (info.unit[0])
    for (int i = 0; i < 3; ++i)
      unit += std::string(",unit_") + "mnk"[i] + "=" + std::to_string(info.unit[i]);
  return text + ",subgroup=" + std::to_string(subgroups ? info.subgroup_size : 1) +
         ",workgroup_bytes=" + std::to_string(info.workgroup_bytes) +
         ",max_threads=" + std::to_string(info.max_workgroup_threads) +
         (info.architecture ? ",sm=" + std::to_string(info.architecture) : "") + unit;
}

PyObject *text(const char *s) { return PyUnicode_DecodeUTF8(s, strlen(s), "replace"); }

PyObject *getName(PyObject *o, void *) { return Py_NewRef(self(o)->name); }
PyObject *getBackend(PyObject *o, void *) { return text(self(o)->info->backend); }
PyObject *getIndex(PyObject *o, void *) { return PyLong_FromLong(self(o)->index); }
PyObject *getDescription(PyObject *o, void *) { return text(self(o)->info->name); }
PyObject *getDriver(PyObject *o, void *) { return text(self(o)->info->driver); }
PyObject *getFeatures(PyObject *o, void *) {
  auto list = steal(PyList_New(0));
  for (const Feature &f : kFeatures) {
    if (!list || !(self(o)->info->features & f.bit))
      continue;
    auto name = steal(PyUnicode_FromString(f.name));
    if (!name || PyList_Append(list.get(), name.get()) < 0)
      return nullptr;
  }
  return list ? PyList_AsTuple(list.get()) : nullptr;
}
PyObject *getSubgroup(PyObject *o, void *) { return PyLong_FromLong(self(o)->info->subgroup_size); }
PyObject *getMemory(PyObject *o, void *) {
  return PyLong_FromLongLong(self(o)->info->memory_bytes);
}
PyObject *getMaxBuffer(PyObject *o, void *) {
  return PyLong_FromLongLong(self(o)->info->max_buffer_bytes);
}
PyObject *getProfile(PyObject *o, void *) {
  return PyUnicode_FromString(profileOf(*self(o)->info).c_str());
}
PyObject *getCached(PyObject *o, void *) {
  return PyLong_FromSize_t(xt_device_cached_bytes(self(o)->handle));
}

PyObject *getMessages(PyObject *o, void *) {
  return PyLong_FromLongLong(xt_device_messages(self(o)->handle));
}
PyObject *getCounters(PyObject *o, void *) {
  xt_device_counters c = xt_device_get_counters(self(o)->handle);
  return Py_BuildValue("{sLsLsLsLsLsLsLsLsL}", "submissions", (long long)c.submissions, "records",
                       (long long)c.records, "replays", (long long)c.replays, "waits",
                       (long long)c.waits, "kernels", (long long)c.kernels, "cached_kernels",
                       (long long)c.cached_kernels, "barriers", (long long)c.barriers,
                       "driver_bytes", (long long)c.driver_bytes, "kernels_held",
                       (long long)c.kernels_held);
}

PyObject *trim(PyObject *o, PyObject *) {
  Py_BEGIN_ALLOW_THREADS;
  xt_device_trim(self(o)->handle);
  Py_END_ALLOW_THREADS;
  Py_RETURN_NONE;
}

PyObject *synchronize(PyObject *o, PyObject *) {
  int32_t failed;
  Py_BEGIN_ALLOW_THREADS;
  failed = xt_device_synchronize(self(o)->handle);
  Py_END_ALLOW_THREADS;
  if (!failed)
    Py_RETURN_NONE;
  raiseDeviceError("the device failed");
  return nullptr;
}

PyObject *repr(PyObject *o) {
  return PyUnicode_FromFormat("<xtensor device %U: %s>", self(o)->name, self(o)->info->name);
}

PyGetSetDef getters[] = {
    {"name", getName, nullptr, "As in x.to(name): \"vulkan\", \"vulkan:1\".", nullptr},
    {"backend", getBackend, nullptr, "\"vulkan\", \"metal\" or \"cuda\".", nullptr},
    {"index", getIndex, nullptr, "Which one of its backend.", nullptr},
    {"description", getDescription, nullptr, "What its driver calls it.", nullptr},
    {"driver", getDriver, nullptr, "The driver and its version.", nullptr},
    {"features", getFeatures, nullptr, "What it has, in words.", nullptr},
    {"subgroup_size", getSubgroup, nullptr, "Threads that go together.", nullptr},
    {"memory_bytes", getMemory, nullptr, "Its memory.", nullptr},
    {"max_buffer_bytes", getMaxBuffer, nullptr, "The largest array.", nullptr},
    {"profile", getProfile, nullptr, "What the compiler is told about it.", nullptr},
    {"cached_bytes", getCached, nullptr, "Bytes of freed arrays kept for reuse.", nullptr},
    {"messages", getMessages, nullptr, "Complaints of validation layers ($XTENSOR_VALIDATE=1).",
     nullptr},
    {"counters", getCounters, nullptr, "What it did since it was opened.", nullptr},
    {}};
PyMethodDef methods[] = {
    {"trim", trim, METH_NOARGS, "trim()\n--\n\nGives the freed memory back to the driver."},
    {"synchronize", synchronize, METH_NOARGS,
     "synchronize()\n--\n\nWaits for everything that was asked for so far."},
    {}};
PyType_Slot slots[] = {{Py_tp_doc, const_cast<char *>("A device that is not the CPU.")},
                       {Py_tp_repr, reinterpret_cast<void *>(repr)},
                       {Py_tp_getset, getters},
                       {Py_tp_methods, methods},
                       {0, nullptr}};
PyType_Spec spec = {"xtensor._native.Device", sizeof(Device), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

PyObject *open(PyObject *, PyObject *args) {
  const char *backend;
  int index;
  if (!PyArg_ParseTuple(args, "si:open_device", &backend, &index))
    return nullptr;
  // A name without a number keeps its meaning for every caller.
  const char *preferred = getenv("XTENSOR_DEVICE");
  int plain = preferred && *preferred ? atoi(preferred) : 0;
  if (index < 0)
    index = plain;
  xt_device *handle;
  Py_BEGIN_ALLOW_THREADS;
  handle = xt_device_open(backend, index);
  Py_END_ALLOW_THREADS;
  if (!handle) {
    std::string number = index == plain ? "" : ":" + std::to_string(index);
    std::string chosen = preferred && *preferred && index == plain
                             ? std::string(" (number ") + preferred + " by $XTENSOR_DEVICE)"
                             : "";
    std::string what =
        std::string("device '") + backend + number + "'" + chosen + " cannot be used";
    raiseDeviceError(what.c_str());
    return nullptr;
  }
  for (Device *d : devices)
    if (d->handle == handle)
      return Py_NewRef(reinterpret_cast<PyObject *>(d));
  auto *d = PyObject_New(Device, deviceClass);
  if (!d)
    return nullptr;
  d->handle = handle, d->info = xt_device_get_info(handle), d->index = index;
  d->name = index == plain ? PyUnicode_FromString(backend)
                           : PyUnicode_FromFormat("%s:%d", backend, index);
  if (!d->name) {
    PyObject_Free(d);
    return nullptr;
  }
  PyUnicode_InternInPlace(&d->name);
  devices.push_back(d);
  return Py_NewRef(reinterpret_cast<PyObject *>(d));
}

PyObject *count(PyObject *, PyObject *arg) {
  const char *backend = PyUnicode_AsUTF8(arg);
  return backend ? PyLong_FromLong(xt_device_count(backend)) : nullptr;
}

PyObject *lastError(PyObject *, PyObject *) {
  const char *found = xt_device_error();
  return text(found ? found : "");
}

PyObject *toDevice(PyObject *, PyObject *args) {
  PyObject *array, *where;
  xt_device *device;
  if (!PyArg_ParseTuple(args, "OO:to_device", &array, &where) || !parseDevice(where, device))
    return nullptr;
  if (!isArray(array))
    return PyErr_Format(PyExc_TypeError, "to_device() wants an Array, not %s",
                        Py_TYPE(array)->tp_name);
  return reinterpret_cast<PyObject *>(moved(reinterpret_cast<Array *>(array), device));
}

PyObject *setErrors(PyObject *, PyObject *args) {
  PyObject *device, *memory, *deviceMemory;
  if (!PyArg_ParseTuple(args, "OOO:set_errors", &device, &memory, &deviceMemory))
    return nullptr;
  Py_XSETREF(deviceError, Py_NewRef(device));
  Py_XSETREF(memoryError, Py_NewRef(memory));
  Py_XSETREF(deviceMemoryError, Py_NewRef(deviceMemory));
  Py_RETURN_NONE;
}

/// Raises `cls`, or `otherwise` as long as `cls` is not set. The object is made now: it looks for
/// the user's line.
void raise(PyObject *cls, PyObject *otherwise, const std::string &what) {
  if (!cls)
    cls = otherwise;
  auto message = steal(text(what.c_str()));
  auto error = steal(message ? PyObject_CallOneArg(cls, message.get()) : nullptr);
  if (error)
    PyErr_SetObject(cls, error.get());
}

PyMethodDef functions[] = {
    {"open_device", open, METH_VARARGS,
     "open_device(backend, index)\n--\n\nThe Device (-1: $XTENSOR_DEVICE, or the best); "
     "DeviceError "
     "says why there is none."},
    {"device_count", count, METH_O,
     "device_count(backend)\n--\n\nDevices of a backend; 0: device_error() says why."},
    {"device_error", lastError, METH_NOARGS,
     "device_error()\n--\n\nWhy the last call about devices failed, in words."},
    {"to_device", toDevice, METH_VARARGS,
     "to_device(array, device)\n--\n\nThe array on a Device (None: the CPU), itself if it is "
     "there."},
    {"set_errors", setErrors, METH_VARARGS,
     "set_errors(device, memory, device_memory)\n--\n\nWhat is raised when a device fails, and "
     "where there is no memory on the CPU and on a device."},
    {}};

} // namespace

bool xtensor::parseDevice(PyObject *o, xt_device *&device) {
  device = nullptr;
  if (o == Py_None)
    return true;
  if (Py_TYPE(o) != deviceClass) {
    PyErr_Format(PyExc_TypeError, "a Device or None is wanted, not %R", o);
    return false;
  }
  device = self(o)->handle;
  return true;
}

PyObject *xtensor::nameOf(xt_device *device) {
  for (Device *d : devices)
    if (d->handle == device)
      return d->name;
  return cpuName;
}

int xtensor::indexOf(xt_device *device) {
  for (Device *d : devices)
    if (d->handle == device)
      return d->index;
  return 0;
}

PyObject *xtensor::objectOf(xt_device *device) {
  for (Device *d : devices)
    if (d->handle == device)
      return Py_NewRef(reinterpret_cast<PyObject *>(d));
  Py_RETURN_NONE;
}

void xtensor::raiseDeviceLimit(const std::string &what) {
  raise(deviceError, PyExc_RuntimeError, what);
}

void xtensor::raiseDeviceError(const std::string &what) {
  const char *found = xt_device_error();
  raise(deviceError, PyExc_RuntimeError, what + ": " + (found ? found : "no reason given"));
}

void xtensor::raiseMemoryError(std::string what, xt_device *device) {
  const char *advice =
      "Let go of arrays that are not needed (del x), or take fewer elements at a time";
  if (!device)
    return raise(memoryError, PyExc_MemoryError, "no memory for " + what + ". " + advice);
  PyObject *name = nameOf(device);
  const char *text = PyUnicode_AsUTF8(name);
  what += std::string(" on ") + (text ? text : "a device");
  if (!xt_device_usable())
    return raiseDeviceError("no memory for " + what);
  const char *found = xt_device_error();
  if (found && strstr(found, "over its limit"))
    advice = "Take fewer elements at a time, or run it with device=\"cpu\"";
  raise(deviceMemoryError, PyExc_MemoryError,
        "no memory for " + what + ": " + (found ? found : "no reason given") + ". " + advice);
}

/// The values of an array of a device as an array of the CPU.
static Ref<Array> readBack(Array *a) {
  if (a->pending) {
    if (!settle(a->pending))
      return nullptr;
    release(std::exchange(a->pending, nullptr));
  }
  auto result = steal(newArray(a->type));
  auto held = steal(result ? viewOf(a, a->type) : nullptr);
  if (!held)
    return nullptr;
  int32_t failed;
  Py_BEGIN_ALLOW_THREADS;
  failed = xt_device_read(held->device, result->data, held->data, held->type->nbytes);
  Py_END_ALLOW_THREADS;
  if (failed) {
    raiseDeviceError("the values of an array cannot be read");
    return nullptr;
  }
  return result;
}

static Ref<Array> writeTo(xt_device *device, Array *host) {
  auto result = steal(newArray(host->type, device));
  size_t bytes = host->type->nbytes;
  auto held = steal(result ? exportOf(host) : nullptr);
  if (!held)
    return nullptr;
  int32_t failed;
  // However few they are: the device may be in a call that waits for the interpreter (xt.callback).
  Py_BEGIN_ALLOW_THREADS;
  failed = xt_device_write(device, result->data, held->data, bytes);
  Py_END_ALLOW_THREADS;
  if (failed) {
    raiseDeviceError("an array cannot be moved");
    return nullptr;
  }
  return result;
}

Array *xtensor::moved(Array *a, xt_device *device) {
  if (isDonated(a)) {
    raiseDonated(a);
    return nullptr;
  }
  if (a->device == device)
    return reinterpret_cast<Array *>(Py_NewRef(reinterpret_cast<PyObject *>(a)));
  Ref<Array> result = a->device ? readBack(a) : borrow(a);
  if (result && device)
    result = writeTo(device, result.get());
  if (result)
    result->meta = Py_XNewRef(a->meta);
  return result.release();
}

static bool addWords(PyObject *module, const char *name,
                     std::initializer_list<const char *> words) {
  auto tuple = steal(PyTuple_New(words.size()));
  Py_ssize_t i = 0;
  for (const char *word : words)
    if (tuple)
      PyTuple_SET_ITEM(tuple.get(), i++, PyUnicode_FromString(word));
  return tuple && PyModule_AddObjectRef(module, name, tuple.get()) == 0;
}

/// What a profile may say beside its backend, as the compiler's tables have it.
static bool addProfiles(PyObject *module) {
  std::initializer_list<const char *> makers = {
#define DEVICE(VENDOR, ...) #VENDOR,
#define TILE(...)
#include "GPU/library/devices.def"
#undef DEVICE
#undef TILE
  };
  std::initializer_list<const char *> features = {
#define FEATURE(WORD) #WORD,
#define NUMBER(WORD)
#include "GPU/library/profile.def"
#undef FEATURE
#undef NUMBER
  };
  std::initializer_list<const char *> numbers = {
#define FEATURE(WORD)
#define NUMBER(WORD) #WORD,
#include "GPU/library/profile.def"
#undef FEATURE
#undef NUMBER
  };
  return addWords(module, "profile_makers", makers) &&
         addWords(module, "profile_features", features) &&
         addWords(module, "profile_numbers", numbers);
}

bool xtensor::initDevices(PyObject *module) {
  cpuName = PyUnicode_InternFromString("cpu");
  deviceClass = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&spec));
  // After the last of Python, and before what drivers take apart.
  return Py_AtExit(xt_device_leave) == 0 && cpuName && deviceClass &&
         PyModule_AddObjectRef(module, "Device", (PyObject *)deviceClass) == 0 &&
         addProfiles(module) && PyModule_AddFunctions(module, functions) == 0;
}
