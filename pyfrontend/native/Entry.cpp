#include "Entry.h"
#include "Devices.h"
#include "Donation.h"

#include <algorithm>

using namespace xtensor;

namespace {

PyObject *labelOption;    // owned; may be null
PyObject *dataArrayClass; // owned; null until xarray is there
PyObject *valuesOf;       // owned; null with it

bool isDataArray(PyObject *arg) {
  // Arrays and Python's own numbers are most of what is asked.
  PyTypeObject *cls = Py_TYPE(arg);
  return dataArrayClass && cls != arrayClass && cls != &PyFloat_Type && cls != &PyLong_Type &&
         PyType_IsSubtype(cls, reinterpret_cast<PyTypeObject *>(dataArrayClass));
}

/// Arguments with something attached are left to `labelsOf`.
bool mayHaveMeta(const Entry &entry, const Array *a) { return !a->meta || entry.labels; }

PyObject *metaOf(PyObject *arg) {
  auto *a = Py_TYPE(arg) == arrayClass ? reinterpret_cast<Array *>(arg) : nullptr;
  return a && a->meta ? a->meta : Py_None;
}

/// The item of `entry.labels` for what is attached to these arguments; borrowed, or null.
PyObject *labelsOf(const Entry &entry, PyObject *const *args, size_t n) {
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(entry.labels); ++i) {
    PyObject *item = PyList_GET_ITEM(entry.labels, i), *metas = PyTuple_GET_ITEM(item, 0);
    size_t j = 0;
    while (j < n && PyTuple_GET_ITEM(metas, j) == metaOf(args[j]))
      ++j;
    if (j == n)
      return item;
  }
  return nullptr;
}

/// Whether the option that labels depend on is as it was for them. May run any code; never leaves
/// an exception.
bool optionHolds(PyObject *item) {
  PyObject *wanted = PyTuple_GET_ITEM(item, 2);
  if (wanted == Py_None)
    return true;
  PyObject *now = labelOption ? PyObject_CallNoArgs(labelOption) : nullptr;
  if (!now)
    PyErr_Clear();
  Py_XDECREF(now);
  return now == wanted;
}

/// Attaches to fresh results what is theirs.
void attach(PyObject *results, PyObject *labels) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(labels); ++i) {
    PyObject *label = PyTuple_GET_ITEM(labels, i);
    auto *a =
        reinterpret_cast<Array *>(PyTuple_Check(results) ? PyTuple_GET_ITEM(results, i) : results);
    if (label != Py_None)
      a->meta = Py_NewRef(label);
  }
}

/// What the entry makes of results (owned) of a call with DataArrays. Null with an exception set.
PyObject *relabelled(const Entry &entry, PyObject *results, PyObject *const *given, size_t n) {
  PyObject *args = PyTuple_New(n);
  PyObject *all = args && entry.unwrap ? PyTuple_Pack(1, results) : Py_XNewRef(results);
  for (size_t i = 0; args && i < n; ++i)
    PyTuple_SET_ITEM(args, i, Py_NewRef(given[i]));
  PyObject *made =
      args && all ? PyObject_CallFunctionObjArgs(entry.relabel, all, args, nullptr) : nullptr;
  if (made && entry.unwrap)
    Py_SETREF(made, PySequence_GetItem(made, 0));
  Py_XDECREF(all);
  Py_XDECREF(args);
  Py_DECREF(results);
  return made;
}

bool numberFits(const Filter &f, PyObject *arg, uint64_t &bits) {
  if (Py_TYPE(arg) != f.number)
    return false;
  if (!fromPython(f.dtype, arg, &bits)) {
    PyErr_Clear(); // an int too large: Python decides
    return false;
  }
  auto value = static_cast<int64_t>(bits);
  return value >= f.least && value <= f.most;
}

bool filtersMatch(const Entry &entry, PyObject *const *args, void **buffers, uint64_t *numbers) {
  size_t i = 0;
  xt_device *device = entry.executable->device;
  for (const Filter &f : entry.filters) {
    PyObject *arg = args[i];
    if (Py_TYPE(arg) == arrayClass) {
      auto *a = reinterpret_cast<Array *>(arg);
      // A number's type is null.
      if (a->type != f.type || a->device != device || !mayHaveMeta(entry, a) || isDonated(a))
        return false;
      buffers[i] = a->data;
    } else {
      if (!numberFits(f, arg, numbers[i])) // an array's class is null
        return false;
      buffers[i] = &numbers[i];
    }
    ++i;
  }
  return true;
}

/// Whether the program was traced for an input whose dtype gives way.
bool isWeak(const Entry &entry, size_t i) {
  Type *type = entry.executable->signature->inputs[i].fixed;
  return type && type->weak;
}

bool patternsMatch(const Entry &entry, PyObject *const *args, size_t n, void **buffers,
                   uint64_t *numbers, int64_t *sizes, int64_t &bytes) {
  size_t total = n + entry.capturedCount();
  CallBuffer<PyObject *, 48> all(total);
  for (size_t i = 0; i < n; ++i) {
    if (!entry.filters.empty() && entry.filters[i].number) {
      if (!numberFits(entry.filters[i], args[i], numbers[i]))
        return false;
      buffers[i] = &numbers[i];
      all[i] = nullptr;
      continue;
    }
    auto *a = reinterpret_cast<Array *>(args[i]);
    if (Py_TYPE(args[i]) != arrayClass || !mayHaveMeta(entry, a) ||
        a->type->weak != isWeak(entry, i))
      return false;
    all[i] = args[i];
  }
  for (size_t i = n; i < total; ++i)
    all[i] = PyTuple_GET_ITEM(entry.captured, i - n);
  return matches(entry.executable, all, false, buffers, sizes, bytes);
}

/// The number as an array of the device: a new reference. Null with an exception set.
Array *numberOnDevice(Moved &latest, Type *type, xt_device *device, PyObject *number) {
  uint64_t bits = 0;
  if (!fromPython(type->dtype, number, &bits))
    return nullptr;
  if (!latest.array || latest.bits != bits) {
    Array *fresh = newArray(type, device);
    // The device may be in a call that waits for the interpreter (xt.callback).
    int32_t failed = 0;
    if (fresh) {
      Py_BEGIN_ALLOW_THREADS;
      failed = xt_device_write(device, fresh->data, &bits, type->nbytes);
      Py_END_ALLOW_THREADS;
    }
    if (failed) {
      raiseDeviceError("a number cannot be moved");
      Py_CLEAR(fresh);
    }
    if (!fresh)
      return nullptr;
    Py_XSETREF(latest.array, fresh);
    latest.bits = bits;
  }
  return reinterpret_cast<Array *>(Py_NewRef(reinterpret_cast<PyObject *>(latest.array)));
}

/// A call on a device, with arguments that fit: numbers become arrays of it, and the results depend
/// on whatever the arguments depend on.
__attribute__((noinline)) PyObject *callOnDevice(Entry &entry, PyObject *const *args, size_t n,
                                                 void **buffers, const int64_t *sizes,
                                                 int64_t bytes) {
  Executable *e = entry.executable;
  Dependences before;
  CallBuffer<Array *, 48> held(n); // numbers; another thread's call may replace the entry's
  size_t count = 0;
  bool ok = true;
  entry.latest.resize(n);
  for (size_t i = 0; ok && i < n; ++i) {
    if (entry.filters.empty() || !entry.filters[i].number) {
      before.add(reinterpret_cast<Array *>(args[i])->pending);
      continue;
    }
    Array *a = numberOnDevice(entry.latest[i], e->signature->inputs[i].fixed, e->device, args[i]);
    ok = a;
    if (a)
      held[count++] = a, buffers[i] = a->data;
  }
  for (size_t i = 0; i < entry.capturedCount(); ++i) {
    auto *a = reinterpret_cast<Array *>(PyTuple_GET_ITEM(entry.captured, i));
    buffers[n + i] = a->data;
    before.add(a->pending);
  }
  PyObject *result =
      ok ? execute(e, buffers, entry.filtered ? entry.sizes.data() : sizes,
                   entry.filtered ? &entry.outputs : nullptr, bytes, entry.unwrap, args, n, &before)
         : nullptr;
  for (size_t i = 0; i < count; ++i)
    Py_DECREF(held[i]);
  return result;
}

bool isNumberClass(PyObject *item) {
  return item == (PyObject *)&PyFloat_Type || item == (PyObject *)&PyLong_Type ||
         item == (PyObject *)&PyBool_Type;
}

/// What is known of the arguments; `entry.filtered`: all of their types.
bool parseFilters(PyObject *types, Entry &entry) {
  Signature &s = *entry.executable->signature;
  PyObject *list = PySequence_Fast(
      types, "in_types must be a sequence of ArrayType, int, float, bool or None, or None");
  if (!list)
    return false;
  size_t n = PySequence_Fast_GET_SIZE(list);
  bool ok = n + entry.capturedCount() == s.inputs.size();
  if (!ok)
    PyErr_Format(PyExc_ValueError,
                 "%zu types and %zu captured arrays for an executable of %zu inputs", n,
                 entry.capturedCount(), s.inputs.size());
  PyObject **items = PySequence_Fast_ITEMS(list);
  entry.filtered = std::find(items, items + n, Py_None) == items + n;
  if (entry.filtered)
    entry.sizes.resize(s.dynamicDims.size());
  std::fill(entry.sizes.begin(), entry.sizes.end(), -1);
  for (size_t i = 0; ok && i < (entry.filtered ? s.inputs.size() : n); ++i) {
    PyObject *item = i < n ? PySequence_Fast_GET_ITEM(list, i) : nullptr;
    Type *type = item ? reinterpret_cast<Type *>(item)
                      : reinterpret_cast<Array *>(PyTuple_GET_ITEM(entry.captured, i - n))->type;
    const TypePattern &p = s.inputs[i];
    if (item == Py_None) {
      entry.filters.push_back({});
    } else if (item && isNumberClass(item)) {
      // A number is at most as large as its slot (`numbers`).
      ok = p.fixed && p.fixed->rank == 0 && info(p.dtype).itemsize <= sizeof(uint64_t);
      if (ok)
        entry.filters.push_back({nullptr, reinterpret_cast<PyTypeObject *>(item), p.dtype});
      entry.inputBytes += 8;
    } else if (item && (!isType(item) || !entry.filtered)) {
      PyErr_Format(PyExc_TypeError, "in_types[%zu] is %R, not an ArrayType, int, float or bool%s",
                   i, item, entry.filtered ? "" : " (with None: not an ArrayType either)");
      break;
    } else {
      ok = typeMatches(p, type, entry.sizes.data());
      entry.inputBytes += type->nbytes;
      if (ok && item)
        entry.filters.push_back({reinterpret_cast<Type *>(Py_NewRef(item)), nullptr, p.dtype});
    }
    if (!ok)
      PyErr_Format(PyExc_ValueError, "%R does not fit input %zu of the executable",
                   item ? item : (PyObject *)type, i);
  }
  Py_DECREF(list);
  return !PyErr_Occurred();
}

/// Reads tuples (argument, least, most): the ints that the entry takes there.
bool parseRanges(PyObject *ranges, Entry &entry) {
  PyObject *list = PySequence_Fast(ranges, "ranges must be a sequence of (argument, least, most)");
  if (!list)
    return false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list) && !PyErr_Occurred(); ++i) {
    Py_ssize_t argument;
    long long least, most;
    PyObject *item = PySequence_Fast_GET_ITEM(list, i);
    if (!PyTuple_Check(item)) {
      PyErr_Format(PyExc_TypeError, "a range is a tuple (argument, least, most), not %R", item);
    } else if (PyArg_ParseTuple(item, "nLL", &argument, &least, &most)) {
      size_t n = argument < 0 ? entry.filters.size() : argument;
      if (n >= entry.filters.size() || entry.filters[n].number != &PyLong_Type ||
          entry.filters[n].dtype != Dtype::Int64) {
        PyErr_Format(PyExc_ValueError, "argument %zd is no int64: it has no range", argument);
        continue;
      }
      entry.filters[n].least = least;
      entry.filters[n].most = most;
    }
  }
  Py_DECREF(list);
  return !PyErr_Occurred();
}

} // namespace

/// Nothing but arrays and numbers of known types on the CPU: one flag stands for all that other
/// entries are asked at each call.
static PyObject *callPlain(std::vector<Entry *> &entries, size_t i, PyObject *const *args, size_t n,
                           bool &hit) {
  Entry &entry = *entries[i];
  Signature &s = *entry.executable->signature;
  if (n != entry.filters.size())
    return nullptr;
  Pointers buffers(n + s.outputs.size());
  CallBuffer<uint64_t, 48> numbers(n);
  if (!filtersMatch(entry, args, buffers, numbers))
    return nullptr;
  hit = true;
  entry.used = true;
  ++entry.references;
  if (i > 0)
    std::rotate(entries.begin(), entries.begin() + i, entries.begin() + i + 1);
  PyObject *result = execute(entry.executable, buffers, entry.sizes.data(), &entry.outputs,
                             entry.inputBytes, entry.unwrap, args, n);
  drop(&entry);
  return result;
}

/// Any other entry. `given`: the arguments with DataArrays, where there are any; null: none.
static PyObject *callAny(std::vector<Entry *> &entries, size_t i, PyObject *const *args, size_t n,
                         PyObject *const *given, bool &hit) {
  Entry &entry = *entries[i];
  Signature &s = *entry.executable->signature;
  size_t inputs = s.inputs.size();
  if (inputs != n + entry.capturedCount() || (entry.relabel && !entry.labels && !given))
    return nullptr;
  Pointers buffers(inputs + s.outputs.size());
  CallBuffer<uint64_t, 48> numbers(entry.filters.empty() ? 0 : n);
  Sizes sizes(entry.filtered ? 0 : s.dynamicDims.size());
  int64_t bytes = entry.inputBytes;
  hit = entry.filtered ? filtersMatch(entry, args, buffers, numbers)
                       : patternsMatch(entry, args, n, buffers, numbers, sizes, bytes);
  if (hit && entry.open) {
    int64_t *first = sizes;
    hit = std::all_of(first, first + s.dynamicDims.size(), [](int64_t size) { return size > 1; });
  }
  bool asks = entry.labels && !given;
  PyObject *labels = hit && asks ? labelsOf(entry, args, n) : nullptr;
  if (!hit || (asks && !labels)) {
    hit = false;
    return nullptr;
  }
  entry.used = true;
  ++entry.references;
  if (labels) {
    Py_INCREF(labels);
    hit = optionHolds(labels);
    if (!hit) {
      Py_DECREF(labels);
      drop(&entry);
      return nullptr;
    }
  }
  if (i > 0 && i < entries.size() && entries[i] == &entry)
    std::rotate(entries.begin(), entries.begin() + i, entries.begin() + i + 1);
  PyObject *result;
  if (entry.executable->device) {
    result = callOnDevice(entry, args, n, buffers, sizes, bytes);
  } else if (entry.filtered) {
    for (size_t j = n; j < inputs; ++j)
      buffers[j] = reinterpret_cast<Array *>(PyTuple_GET_ITEM(entry.captured, j - n))->data;
    result = execute(entry.executable, buffers, entry.sizes.data(), &entry.outputs, bytes,
                     entry.unwrap, args, n);
  } else {
    result = execute(entry.executable, buffers, sizes, nullptr, bytes, entry.unwrap, args, n);
  }
  if (labels) {
    if (result)
      attach(result, PyTuple_GET_ITEM(labels, 1));
    Py_DECREF(labels);
  }
  if (result && given) {
    result = relabelled(entry, result, given, n);
    hit = result || entry.executable->donation; // what a call took over it does not take again
  }
  if (result && entry.wrapper)
    Py_SETREF(result, PyObject_CallOneArg(entry.wrapper, result));
  drop(&entry);
  return result;
}

PyObject *xtensor::callEntry(std::vector<Entry *> &entries, size_t i, PyObject *const *args,
                             size_t n, Bare &bare, bool &hit) {
  Entry *entry = entries[i];
  if (entry->plain)
    return callPlain(entries, i, args, n, hit);
  if (!entry->relabel || std::none_of(args, args + n, isDataArray))
    return callAny(entries, i, args, n, nullptr, hit);
  CallBuffer<PyObject *, 48> arrays(n);
  ++entry->references;
  PyObject *result = nullptr;
  if (bare.read(args, n, arrays) && i < entries.size() && entries[i] == entry)
    result = callAny(entries, i, arrays, n, args, hit);
  drop(entry);
  return result;
}

// What the call holds is kept: others may empty its dicts and lists while the code runs.
PyObject *xtensor::callSpelled(std::vector<Entry *> &entries, size_t i, PyObject *const *args,
                               size_t n, PyObject *keywords, Bare &bare, bool &hit) {
  Entry *entry = entries[i];
  size_t count = entry->spelling->count();
  CallBuffer<PyObject *, 48> leaves(count);
  ++entry->references;
  bool fits = entry->spelling->read(args, n, keywords, leaves);
  PyObject *result = fits && i < entries.size() && entries[i] == entry
                         ? callEntry(entries, i, leaves, count, bare, hit)
                         : nullptr;
  for (size_t j = 0; j < count; ++j)
    Py_XDECREF(leaves[j]);
  drop(entry);
  return result;
}

xtensor::Bare::~Bare() {
  for (auto &[given, array] : made) {
    Py_DECREF(given);
    Py_DECREF(array);
  }
}

bool xtensor::Bare::read(PyObject *const *args, size_t n, PyObject **arrays) {
  for (size_t i = 0; i < n; ++i) {
    arrays[i] = args[i];
    if (!isDataArray(args[i]))
      continue;
    auto known = std::find_if(made.begin(), made.end(),
                              [&](const auto &pair) { return pair.first == args[i]; });
    if (known == made.end()) {
      PyObject *array = PyObject_CallOneArg(valuesOf, args[i]);
      if (!array)
        return false;
      made.emplace_back(Py_NewRef(args[i]), array);
      known = made.end() - 1;
    }
    arrays[i] = known->second;
    if (Py_TYPE(arrays[i]) != arrayClass)
      return false;
  }
  return true;
}

void xtensor::setDataArrays(PyObject *found, PyObject *values) {
  Py_XSETREF(dataArrayClass, Py_XNewRef(found));
  Py_XSETREF(valuesOf, Py_XNewRef(values));
}

void xtensor::setLabelOption(PyObject *callable) { Py_XSETREF(labelOption, Py_XNewRef(callable)); }

bool xtensor::fillEntry(PyObject *types, PyObject *ranges, Entry &entry) {
  Signature &s = *entry.executable->signature;
  for (size_t i = 0; i < entry.capturedCount(); ++i) {
    PyObject *o = PyTuple_GET_ITEM(entry.captured, i);
    if (isArray(o) && reinterpret_cast<Array *>(o)->device == entry.executable->device)
      continue;
    PyErr_SetString(PyExc_TypeError, "captured must hold Arrays only, where the executable runs");
    return false;
  }
  if (entry.unwrap && s.outputs.size() != 1) {
    PyErr_SetString(PyExc_ValueError, "unwrap=True wants exactly one output");
    return false;
  }
  if (types == Py_None)
    return true;
  if (!parseFilters(types, entry) || (ranges && !parseRanges(ranges, entry)))
    return false;
  if (!entry.filtered)
    return true;
  for (const TypePattern &p : s.outputs) {
    Type *type = resolve(p, entry.sizes.data());
    if (!type)
      return false;
    entry.outputs.add(type);
  }
  entry.plain =
      !entry.executable->device && !entry.capturedCount() && !entry.labels && !entry.wrapper;
  return true;
}
