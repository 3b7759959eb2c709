// What compiled code calls is one callable for all functions, which Python sets. It gets the memory
// of the arrays as views that end with the call.
#include "Callbacks.h"
#include "Executable.h"
#include "Signals.h"

#include <algorithm>
#include <cstring>

using namespace xtensor;

namespace {

PyObject *function; // may be null

/// The names that follow each other in the text of a call.
struct Names {
  const char *next;

  Ref<> take() {
    const char *name = next;
    next += std::strlen(name) + 1;
    return steal(PyUnicode_FromString(name));
  }
  Ref<> take(Py_ssize_t count) {
    auto names = steal(PyTuple_New(count));
    for (Py_ssize_t i = 0; names && i < count; ++i) {
      auto name = take();
      if (!name)
        return nullptr;
      PyTuple_SET_ITEM(names.get(), i, name.release());
    }
    return names;
  }
};

Ref<> numbers(const int64_t *values, Py_ssize_t count, int64_t factor) {
  auto made = steal(PyTuple_New(count));
  for (Py_ssize_t i = 0; made && i < count; ++i) {
    auto number = steal(PyLong_FromLongLong(values[i] * factor));
    if (!number)
      return nullptr;
    PyTuple_SET_ITEM(made.get(), i, number.release());
  }
  return made;
}

/// (memory, dtype, dims, sizes, strides in bytes, offset in bytes).
Ref<> describe(const xt_array &x, bool writes, Names &names) {
  static constexpr int64_t bytes[] = {1, 2, 4, 8, 2, 2, 4, 8};
  int64_t each = bytes[x.type], first = 0, end = each;
  for (int32_t axis = 0; axis < x.rank; ++axis) {
    int64_t span = (x.sizes[axis] - 1) * x.strides[axis] * each;
    if (!x.sizes[axis])
      first = 0, end = 0;
    if (!end)
      break;
    (span < 0 ? first : end) += span;
  }
  auto dtype = names.take(), dims = dtype ? names.take(x.rank) : nullptr;
  auto memory = steal(dims ? PyMemoryView_FromMemory(static_cast<char *>(x.data) + first,
                                                     end - first, writes ? PyBUF_WRITE : PyBUF_READ)
                           : nullptr);
  auto sizes = memory ? numbers(x.sizes, x.rank, 1) : nullptr;
  auto strides = sizes ? numbers(x.strides, x.rank, each) : nullptr;
  if (!strides)
    return nullptr;
  return steal(Py_BuildValue("OOOOOL", memory.get(), dtype.get(), dims.get(), sizes.get(),
                             strides.get(), (long long)-first));
}

/// False with an exception set.
bool call(const xt_array *arrays, const int64_t *options) {
  auto ins = static_cast<Py_ssize_t>(options[1]), count = ins + static_cast<Py_ssize_t>(options[2]);
  Names names{reinterpret_cast<const char *>(options + 5)};
  auto instances = names.take(static_cast<Py_ssize_t>(options[3]));
  auto all = steal(instances ? PyTuple_New(count) : nullptr);
  for (Py_ssize_t i = 0; all && i < count; ++i) {
    auto one = describe(arrays[i], i >= ins, names);
    if (!one)
      return false;
    PyTuple_SET_ITEM(all.get(), i, one.release());
  }
  if (!all)
    return false;
  auto callable = borrow(function);
  if (!callable) {
    PyErr_SetString(PyExc_RuntimeError, "no function is set for the calls of compiled code");
    return false;
  }
  auto done = steal(PyObject_CallFunction(callable.get(), "LOnO", (long long)options[0],
                                          instances.get(), ins, all.get()));
  return static_cast<bool>(done);
}

int32_t callback(const xt_array *arrays, const int64_t *options) {
  Interpreter interpreter;
  if (!interpreter.there)
    return 1;
  if (call(arrays, options))
    return 0;
  // The exception stays with the thread, as that of the call; on a thread of another library it
  // would go with the interpreter.
  if (interpreter.isForeign)
    PyErr_WriteUnraisable(function);
  return 1;
}

PyObject *setCallback(PyObject *, PyObject *callable) {
  return replaceCallable(function, callable);
}

PyMethodDef functions[] = {
    {"set_callback", setCallback, METH_O,
     "set_callback(callable)\n--\n\nWhat compiled code calls, with (number, instances, ins, "
     "arrays): names of dims, how many of the arrays are given, and of each (memory, dtype, dims, "
     "sizes, strides, offset). Returns what it was before."},
    {}};

} // namespace

bool xtensor::initCallbacks(PyObject *module) {
  xt_set_callback(callback);
  return PyModule_AddFunctions(module, functions) == 0;
}
