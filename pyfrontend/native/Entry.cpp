#include "Entry.h"
#include "Devices.h"
#include "Donation.h"

#include <algorithm>
#include <cstring>

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
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(entry.labels.get()); ++i) {
    PyObject *item = PyList_GET_ITEM(entry.labels.get(), i), *metas = PyTuple_GET_ITEM(item, 0);
    size_t j = 0;
    while (j < n && PyTuple_GET_ITEM(metas, j) == metaOf(args[j]))
      ++j;
    if (j == n)
      return item;
  }
  return nullptr;
}

/// Whether the option that labels depend on is as it was for them. May run any code; of exceptions
/// it leaves those that end programs, such as interrupts.
bool optionHolds(PyObject *item) {
  PyObject *wanted = PyTuple_GET_ITEM(item, 2);
  if (wanted == Py_None)
    return true;
  auto now = steal(labelOption ? PyObject_CallNoArgs(labelOption) : nullptr);
  if (!now && PyErr_ExceptionMatches(PyExc_Exception))
    PyErr_Clear();
  return now.get() == wanted;
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

/// What the entry makes of results of a call with DataArrays. Null with an exception set.
Ref<> relabelled(const Entry &entry, Ref<> results, PyObject *const *given, size_t n) {
  auto args = steal(PyTuple_New(n));
  for (size_t i = 0; args && i < n; ++i)
    PyTuple_SET_ITEM(args.get(), i, Py_NewRef(given[i]));
  auto all = args && entry.unwrap ? steal(PyTuple_Pack(1, results.get())) : borrow(results.get());
  auto made = steal(args && all ? PyObject_CallFunctionObjArgs(entry.relabel.get(), all.get(),
                                                               args.get(), nullptr)
                                : nullptr);
  return made && entry.unwrap ? steal(PySequence_GetItem(made.get(), 0)) : std::move(made);
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
      if (a->type != f.type.get() || a->device != device || !mayHaveMeta(entry, a) || isDonated(a))
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
  Type *type = entry.executable->signature->inputs[i].fixed.get();
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
    all[i] = reinterpret_cast<PyObject *>(entry.capturedArray(i - n));
  return matches(entry.executable.get(), all, false, buffers, sizes, bytes);
}

/// The number as an array of the device. Null with an exception set.
Ref<Array> numberOnDevice(Moved &latest, Type *type, xt_device *device, PyObject *number) {
  uint64_t bits = 0;
  if (!fromPython(type->dtype, number, &bits))
    return nullptr;
  if (!latest.array || latest.bits != bits) {
    auto fresh = steal(newArray(type, device));
    // The device may be in a call that waits for the interpreter (xt.callback).
    int32_t failed = 0;
    if (fresh) {
      Py_BEGIN_ALLOW_THREADS;
      failed = xt_device_write(device, fresh->data, &bits, type->nbytes);
      Py_END_ALLOW_THREADS;
    }
    if (failed)
      raiseDeviceError("a number cannot be moved");
    if (!fresh || failed)
      return nullptr;
    latest.array = std::move(fresh);
    latest.bits = bits;
  }
  return borrow(latest.array.get());
}

/// A call on a device, with arguments that fit: numbers become arrays of it, and the results depend
/// on whatever the arguments depend on.
__attribute__((noinline)) PyObject *callOnDevice(Entry &entry, PyObject *const *args, size_t n,
                                                 void **buffers, const int64_t *sizes,
                                                 int64_t bytes) {
  Executable *e = entry.executable.get();
  Dependences before;
  std::vector<Ref<Array>> held; // numbers; another thread's call may replace the entry's
  entry.latest.resize(n);
  for (size_t i = 0; i < n; ++i) {
    if (entry.filters.empty() || !entry.filters[i].number) {
      before.add(reinterpret_cast<Array *>(args[i])->pending);
      continue;
    }
    auto a =
        numberOnDevice(entry.latest[i], e->signature->inputs[i].fixed.get(), e->device, args[i]);
    if (!a)
      return nullptr;
    buffers[i] = a->data;
    held.push_back(std::move(a));
  }
  for (size_t i = 0; i < entry.capturedCount(); ++i) {
    Array *a = entry.capturedArray(i);
    buffers[n + i] = a->data;
    before.add(a->pending);
  }
  return execute(e, buffers, entry.filtered ? entry.sizes.data() : sizes,
                 entry.filtered ? &entry.outputs : nullptr, bytes, entry.unwrap, args, n, &before);
}

bool isNumberClass(PyObject *item) {
  return item == (PyObject *)&PyFloat_Type || item == (PyObject *)&PyLong_Type ||
         item == (PyObject *)&PyBool_Type;
}

/// What is known of the arguments; `entry.filtered`: all of their types.
bool parseFilters(PyObject *types, Entry &entry) {
  Signature &s = *entry.executable->signature;
  auto list = steal(PySequence_Fast(
      types, "in_types must be a sequence of ArrayType, int, float, bool or None, or None"));
  if (!list)
    return false;
  size_t n = PySequence_Fast_GET_SIZE(list.get());
  bool ok = n + entry.capturedCount() == s.inputs.size();
  if (!ok)
    PyErr_Format(PyExc_ValueError,
                 "%zu types and %zu captured arrays for an executable of %zu inputs", n,
                 entry.capturedCount(), s.inputs.size());
  PyObject **items = PySequence_Fast_ITEMS(list.get());
  entry.filtered = std::find(items, items + n, Py_None) == items + n;
  if (entry.filtered)
    entry.sizes.resize(s.dynamicDims.size());
  std::fill(entry.sizes.begin(), entry.sizes.end(), -1);
  for (size_t i = 0; ok && i < (entry.filtered ? s.inputs.size() : n); ++i) {
    PyObject *item = i < n ? PySequence_Fast_GET_ITEM(list.get(), i) : nullptr;
    Type *type = item ? reinterpret_cast<Type *>(item) : entry.capturedArray(i - n)->type;
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
        entry.filters.push_back({borrow(type), nullptr, p.dtype});
    }
    if (!ok)
      PyErr_Format(PyExc_ValueError, "%R does not fit input %zu of the executable",
                   item ? item : (PyObject *)type, i);
  }
  return !PyErr_Occurred();
}

/// Reads (least, most) of a tuple (argument, least, most), as `Filter` has them.
bool parseRange(PyObject *item, Filter &f) {
  Py_ssize_t argument;
  if (f.number == &PyFloat_Type && f.dtype == Dtype::Float64) {
    double bounds[2];
    if (!PyArg_ParseTuple(item, "ndd", &argument, &bounds[0], &bounds[1]))
      return false;
    std::memcpy(&f.least, &bounds[0], sizeof f.least);
    std::memcpy(&f.most, &bounds[1], sizeof f.most);
    if (f.least >= 0 && f.most >= 0)
      return true;
    PyErr_Format(PyExc_ValueError, "%R: bounds of floats are not negative", item);
    return false;
  }
  if (f.number == &PyLong_Type && f.dtype == Dtype::Int64) {
    long long least, most;
    if (!PyArg_ParseTuple(item, "nLL", &argument, &least, &most))
      return false;
    f.least = least;
    f.most = most;
    return true;
  }
  PyErr_Format(PyExc_ValueError, "%R: the argument is no int64 or float64, so it has no range",
               item);
  return false;
}

/// Reads tuples (argument, least, most): the numbers that the entry takes there.
bool parseRanges(PyObject *ranges, Entry &entry) {
  auto list =
      steal(PySequence_Fast(ranges, "ranges must be a sequence of (argument, least, most)"));
  if (!list)
    return false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.get()) && !PyErr_Occurred(); ++i) {
    PyObject *item = PySequence_Fast_GET_ITEM(list.get(), i);
    if (!PyTuple_Check(item) || PyTuple_GET_SIZE(item) != 3) {
      PyErr_Format(PyExc_TypeError, "a range is a tuple (argument, least, most), not %R", item);
      break;
    }
    size_t n = PyLong_AsSize_t(PyTuple_GET_ITEM(item, 0));
    if (PyErr_Occurred())
      break;
    if (n >= entry.filters.size())
      PyErr_Format(PyExc_ValueError, "%R: there are %zu arguments", item, entry.filters.size());
    else
      parseRange(item, entry.filters[n]);
  }
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
  PyObject *result = execute(entry.executable.get(), buffers, entry.sizes.data(), &entry.outputs,
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
  auto held = borrow(labels);
  if (labels && !(hit = optionHolds(labels))) {
    drop(&entry);
    return nullptr;
  }
  if (i > 0 && i < entries.size() && entries[i] == &entry)
    std::rotate(entries.begin(), entries.begin() + i, entries.begin() + i + 1);
  Ref<> result;
  if (entry.executable->device) {
    result = steal(callOnDevice(entry, args, n, buffers, sizes, bytes));
  } else if (entry.filtered) {
    for (size_t j = n; j < inputs; ++j)
      buffers[j] = entry.capturedArray(j - n)->data;
    result = steal(execute(entry.executable.get(), buffers, entry.sizes.data(), &entry.outputs,
                           bytes, entry.unwrap, args, n));
  } else {
    result = steal(
        execute(entry.executable.get(), buffers, sizes, nullptr, bytes, entry.unwrap, args, n));
  }
  if (result && labels)
    attach(result.get(), PyTuple_GET_ITEM(labels, 1));
  if (result && given) {
    result = relabelled(entry, std::move(result), given, n);
    hit = result || entry.executable->donation; // what a call took over it does not take again
  }
  if (result && entry.wrapper)
    result = steal(PyObject_CallOneArg(entry.wrapper.get(), result.get()));
  drop(&entry);
  return result.release();
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
    steal(leaves[j]);
  drop(entry);
  return result;
}

bool xtensor::Bare::read(PyObject *const *args, size_t n, PyObject **arrays) {
  for (size_t i = 0; i < n; ++i) {
    arrays[i] = args[i];
    if (!isDataArray(args[i]))
      continue;
    auto known = std::find_if(made.begin(), made.end(),
                              [&](const auto &pair) { return pair.first.get() == args[i]; });
    if (known == made.end()) {
      auto array = steal(PyObject_CallOneArg(valuesOf, args[i]));
      if (!array)
        return false;
      made.emplace_back(borrow(args[i]), std::move(array));
      known = made.end() - 1;
    }
    arrays[i] = known->second.get();
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
    PyObject *o = PyTuple_GET_ITEM(entry.captured.get(), i);
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
    auto type = resolve(p, entry.sizes.data());
    if (!type)
      return false;
    entry.outputs.add(std::move(type));
  }
  entry.plain =
      !entry.executable->device && !entry.capturedCount() && !entry.labels && !entry.wrapper;
  return true;
}
