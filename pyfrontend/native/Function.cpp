// Function: a Python callable that finds the executable for its arguments by comparing pointers,
// and asks Python (the slow path: trace, compile, add) for everything else. What was compiled under
// other options than those in force is not found.
#include "Function.h"
#include "Devices.h"
#include "Executable.h"

#include <limits>
#include <structmember.h>

using namespace xtensor;

namespace {

PyTypeObject *functionClass;
PyObject *packageFolder; // with the separator at its end; null: unknown
PyObject *errorClass;    // the package's own errors
// Traces open in this thread: while there are any, a call is to be traced, not run.
thread_local int traceDepth __attribute__((tls_model("initial-exec"))) = 0;

// The options of the process, and the context variable that holds a block's (core/options.py); null
// until Python sets them. Each combination is one object, so pointers tell them apart.
PyObject *processOptions = nullptr, *blockOptions = nullptr;

/// The options in force in this context, borrowed: blocks and this module keep all of them alive.
PyObject *currentOptions() {
  PyObject *found = nullptr;
  if (blockOptions && PyContextVar_Get(blockOptions, nullptr, &found) < 0)
    PyErr_Clear();
  Py_XDECREF(found);
  return found && found != Py_None ? found : processOptions;
}

/// What one argument must be: an array of this type, or a Python number of this class.
struct Filter {
  Type *type;           // owned
  PyTypeObject *number; // null: an array
  Dtype dtype;          // of the number
  // An int outside is for Python to refuse: it does not fit the dtype it meets.
  int64_t least = std::numeric_limits<int64_t>::min();
  int64_t most = std::numeric_limits<int64_t>::max();
};

/// A number as an array of a device.
struct Moved {
  Array *array = nullptr; // owned
  uint64_t bits = 0;
};

/// One signature. With filters, all that depends on the types is worked out beforehand; without,
/// the executable's own patterns decide at each call. Counted, as a call may empty the cache that
/// it came from.
struct Entry {
  int references = 1;
  Executable *executable = nullptr;
  bool filtered = false, unwrap = false;
  std::vector<Filter> filters;
  // On a device, the numbers of the latest call: programs are often called with the same ones
  // again.
  std::vector<Moved> latest;
  std::vector<int64_t> sizes;
  TypeList outputs;
  int64_t inputBytes = 0;
  PyObject *captured = nullptr; // tuple of arrays, passed after the arguments; may be null
  PyObject *wrapper = nullptr;  // called with the results; may be null
  PyObject *options = Py_XNewRef(currentOptions()); // in force when it was compiled

  ~Entry() {
    for (Filter &f : filters)
      Py_XDECREF(f.type);
    for (Moved &m : latest)
      Py_XDECREF(m.array);
    Py_XDECREF(executable);
    Py_XDECREF(captured);
    Py_XDECREF(wrapper);
    Py_XDECREF(options);
  }
  size_t capturedCount() const { return captured ? PyTuple_GET_SIZE(captured) : 0; }
};

void drop(Entry *entry) {
  if (--entry->references == 0)
    delete entry;
}

struct Function {
  PyObject_HEAD vectorcallfunc call;
  PyObject *slowPath;
  PyObject *dict;
  PyObject *weakrefs;
  std::vector<Entry *> *entries; // latest hit first
};

Function *self(PyObject *o) { return reinterpret_cast<Function *>(o); }

bool filtersMatch(const Entry &entry, PyObject *const *args, void **buffers, uint64_t *numbers) {
  size_t i = 0;
  xt_device *device = entry.executable->device;
  for (const Filter &f : entry.filters) {
    PyObject *arg = args[i];
    if (Py_TYPE(arg) == arrayClass) {
      auto *a = reinterpret_cast<Array *>(arg);
      if (a->type != f.type || a->device != device || a->meta) // a number's type is null
        return false;
      buffers[i] = a->data;
    } else {
      if (Py_TYPE(arg) != f.number)
        return false;
      if (!fromPython(f.dtype, arg, &numbers[i])) {
        PyErr_Clear(); // an int too large: Python decides
        return false;
      }
      auto value = static_cast<int64_t>(numbers[i]);
      if (value < f.least || value > f.most)
        return false;
      buffers[i] = &numbers[i];
    }
    ++i;
  }
  return true;
}

bool patternsMatch(const Entry &entry, PyObject *const *args, size_t n, void **buffers,
                   int64_t *sizes, int64_t &bytes) {
  size_t total = n + entry.capturedCount();
  CallBuffer<PyObject *, 48> all(total);
  for (size_t i = 0; i < n; ++i) {
    if (Py_TYPE(args[i]) != arrayClass || reinterpret_cast<Array *>(args[i])->meta)
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
    if (fresh && xt_device_write(device, fresh->data, &bits, type->nbytes)) {
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
    if (!entry.filtered || !entry.filters[i].number) {
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
                   entry.filtered ? &entry.outputs : nullptr, bytes, entry.unwrap, &before)
         : nullptr;
  for (size_t i = 0; i < count; ++i)
    Py_DECREF(held[i]);
  return result;
}

/// The call through entry i; `hit` says whether it fits. Without a hit, returns null.
PyObject *tryEntry(std::vector<Entry *> &entries, size_t i, PyObject *options,
                   PyObject *const *args, size_t n, bool &hit) {
  Entry &entry = *entries[i];
  if (entry.options != options)
    return nullptr;
  Signature &s = *entry.executable->signature;
  size_t inputs = s.inputs.size();
  if (inputs != n + entry.capturedCount())
    return nullptr;
  Pointers buffers(inputs + s.outputs.size());
  CallBuffer<uint64_t, 48> numbers(entry.filtered ? n : 0);
  Sizes sizes(entry.filtered ? 0 : s.dynamicDims.size());
  int64_t bytes = entry.inputBytes;
  hit = entry.filtered ? filtersMatch(entry, args, buffers, numbers)
                       : patternsMatch(entry, args, n, buffers, sizes, bytes);
  if (!hit)
    return nullptr;
  if (i > 0)
    std::rotate(entries.begin(), entries.begin() + i, entries.begin() + i + 1);
  ++entry.references;
  PyObject *result;
  if (entry.executable->device) {
    result = callOnDevice(entry, args, n, buffers, sizes, bytes);
  } else if (entry.filtered) {
    for (size_t j = n; j < inputs; ++j)
      buffers[j] = reinterpret_cast<Array *>(PyTuple_GET_ITEM(entry.captured, j - n))->data;
    result =
        execute(entry.executable, buffers, entry.sizes.data(), &entry.outputs, bytes, entry.unwrap);
  } else {
    result = execute(entry.executable, buffers, sizes, nullptr, bytes, entry.unwrap);
  }
  if (result && entry.wrapper)
    Py_SETREF(result, PyObject_CallOneArg(entry.wrapper, result));
  drop(&entry);
  return result;
}

bool isInternal(PyTracebackObject *entry) {
  PyCodeObject *code = PyFrame_GetCode(entry->tb_frame);
  bool found = PyUnicode_Check(code->co_filename) &&
               PyUnicode_Tailmatch(code->co_filename, packageFolder, 0, PY_SSIZE_T_MAX, -1) == 1;
  Py_DECREF(code);
  return found;
}

/// Leaves the frames of people's code in the traceback of the exception that is set. One that the
/// package did not raise on purpose keeps them all: it is ours to explain.
void trimTraceback() {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  bool ours = packageFolder && errorClass && PyErr_GivenExceptionMatches(type, errorClass) == 1;
  if (traceback && packageFolder) {
    auto *last = reinterpret_cast<PyTracebackObject *>(traceback);
    while (last->tb_next)
      last = last->tb_next;
    if (ours || !isInternal(last)) {
      auto *head = reinterpret_cast<PyTracebackObject *>(traceback);
      for (PyTracebackObject **at = &head; *at;) {
        if (!isInternal(*at)) {
          at = &(*at)->tb_next;
          continue;
        }
        PyTracebackObject *gone = *at;
        *at = reinterpret_cast<PyTracebackObject *>(Py_XNewRef((PyObject *)gone->tb_next));
        Py_DECREF(gone);
      }
      traceback = reinterpret_cast<PyObject *>(head);
    }
    // The exception may be an object already that holds the traceback as it was.
    PyErr_NormalizeException(&type, &value, &traceback);
    if (value && PyExceptionInstance_Check(value))
      PyException_SetTraceback(value, traceback ? traceback : Py_None);
  }
  PyErr_Restore(type, value, traceback);
}

PyObject *vectorcall(PyObject *o, PyObject *const *args, size_t nargsf, PyObject *keywords) {
  Function *f = self(o);
  if (!keywords && traceDepth == 0) {
    auto &entries = *f->entries;
    PyObject *options = currentOptions();
    bool hit = false;
    for (size_t i = 0; i < entries.size(); ++i) {
      PyObject *result = tryEntry(entries, i, options, args, PyVectorcall_NARGS(nargsf), hit);
      if (hit)
        return result;
    }
  }
  PyObject *slowPath = Py_NewRef(f->slowPath);
  PyObject *result = PyObject_Vectorcall(slowPath, args, nargsf, keywords);
  Py_DECREF(slowPath);
  if (!result)
    trimTraceback();
  return result;
}

PyObject *construct(PyTypeObject *cls, PyObject *args, PyObject *kwargs) {
  static const char *keywords[] = {"slow_path", nullptr};
  // A subclass has its own __init__, which sees to what else it is given.
  PyObject *slowPath = nullptr;
  if (cls == functionClass) {
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:Function", const_cast<char **>(keywords),
                                     &slowPath))
      return nullptr;
  } else if (PyTuple_GET_SIZE(args) > 0) {
    slowPath = PyTuple_GET_ITEM(args, 0);
  } else if (kwargs) {
    slowPath = PyDict_GetItemString(kwargs, "slow_path");
  }
  if (!slowPath || !PyCallable_Check(slowPath))
    return PyErr_Format(PyExc_TypeError,
                        "%s wants a callable slow_path as its first argument, not %R", cls->tp_name,
                        slowPath ? slowPath : Py_None);
  // CPython 3.11 does not let Python subclasses inherit this, whether or not they override
  // __call__.
  if (cls->tp_call == PyVectorcall_Call)
    cls->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
  Function *f = self(cls->tp_alloc(cls, 0));
  if (!f)
    return nullptr;
  f->call = vectorcall;
  f->slowPath = Py_NewRef(slowPath);
  f->entries = new std::vector<Entry *>;
  return reinterpret_cast<PyObject *>(f);
}

int init(PyObject *, PyObject *, PyObject *) { return 0; }

int traverse(PyObject *o, visitproc visit, void *arg) {
  Function *f = self(o);
  Py_VISIT(f->slowPath);
  Py_VISIT(f->dict);
  if (f->entries)
    for (Entry *entry : *f->entries) {
      if (entry->references > 1)
        continue; // a call holds it as well: not ours alone to count
      Py_VISIT((PyObject *)entry->executable);
      Py_VISIT(entry->captured);
      Py_VISIT(entry->wrapper);
    }
  Py_VISIT(Py_TYPE(o));
  return 0;
}

void dropEntries(Function *f) {
  std::vector<Entry *> old;
  old.swap(*f->entries); // dropping may run code that uses the function
  for (Entry *entry : old)
    drop(entry);
}

int clearReferences(PyObject *o) {
  Function *f = self(o);
  dropEntries(f);
  Py_CLEAR(f->dict);
  // Never null: a finaliser may still call the function.
  Py_XSETREF(f->slowPath, Py_NewRef(Py_None));
  return 0;
}

void dealloc(PyObject *o) {
  PyObject_GC_UnTrack(o);
  Function *f = self(o);
  if (f->weakrefs)
    PyObject_ClearWeakRefs(o);
  if (f->entries)
    dropEntries(f);
  delete f->entries;
  Py_XDECREF(f->slowPath);
  Py_XDECREF(f->dict);
  PyTypeObject *cls = Py_TYPE(o);
  cls->tp_free(o);
  Py_DECREF(cls);
}

bool parseFilters(PyObject *types, Entry &entry) {
  Signature &s = *entry.executable->signature;
  PyObject *list = PySequence_Fast(
      types, "in_types must be a sequence of ArrayType, int, float or bool, or None");
  if (!list)
    return false;
  size_t n = PySequence_Fast_GET_SIZE(list);
  bool ok = n + entry.capturedCount() == s.inputs.size();
  if (!ok)
    PyErr_Format(PyExc_ValueError,
                 "%zu types and %zu captured arrays for an executable of %zu inputs", n,
                 entry.capturedCount(), s.inputs.size());
  std::fill(entry.sizes.begin(), entry.sizes.end(), -1);
  for (size_t i = 0; ok && i < s.inputs.size(); ++i) {
    PyObject *item = i < n ? PySequence_Fast_GET_ITEM(list, i) : nullptr;
    Type *type = item ? reinterpret_cast<Type *>(item)
                      : reinterpret_cast<Array *>(PyTuple_GET_ITEM(entry.captured, i - n))->type;
    const TypePattern &p = s.inputs[i];
    if (item == (PyObject *)&PyFloat_Type || item == (PyObject *)&PyLong_Type ||
        item == (PyObject *)&PyBool_Type) {
      ok = p.fixed && p.fixed->rank == 0;
      if (ok)
        entry.filters.push_back({nullptr, reinterpret_cast<PyTypeObject *>(item), p.dtype});
      entry.inputBytes += 8;
    } else if (item && !isType(item)) {
      PyErr_Format(PyExc_TypeError, "in_types[%zu] is %R, not an ArrayType, int, float or bool", i,
                   item);
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

/// Works out what a filtered entry knows beforehand.
bool fillEntry(PyObject *types, PyObject *ranges, Entry &entry) {
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
  entry.filtered = true;
  entry.sizes.resize(s.dynamicDims.size());
  if (!parseFilters(types, entry) || (ranges && !parseRanges(ranges, entry)))
    return false;
  for (const TypePattern &p : s.outputs) {
    Type *type = resolve(p, entry.sizes.data());
    if (!type)
      return false;
    entry.outputs.add(type);
  }
  return true;
}

PyObject *add(PyObject *o, PyObject *args, PyObject *kwargs) {
  static const char *keywords[] = {"in_types", "executable", "unwrap", "result_wrapper",
                                   "captured", "ranges",     nullptr};
  PyObject *types, *executable, *wrapper = Py_None, *captured = nullptr, *ranges = nullptr;
  int unwrap = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO!|pOOO:add", const_cast<char **>(keywords),
                                   &types, executableClass, &executable, &unwrap, &wrapper,
                                   &captured, &ranges))
    return nullptr;
  auto *entry = new Entry;
  entry->executable = reinterpret_cast<Executable *>(Py_NewRef(executable));
  entry->unwrap = unwrap;
  entry->wrapper = wrapper == Py_None ? nullptr : Py_NewRef(wrapper);
  if (captured && captured != Py_None)
    entry->captured = PySequence_Tuple(captured);
  if (PyErr_Occurred() || !fillEntry(types, ranges, *entry)) {
    drop(entry);
    return nullptr;
  }
  auto &entries = *self(o)->entries;
  entries.insert(entries.begin(), entry);
  Py_RETURN_NONE;
}

PyObject *clear(PyObject *o, PyObject *) {
  dropEntries(self(o));
  Py_RETURN_NONE;
}

PyObject *getSize(PyObject *o, void *) { return PyLong_FromSize_t(self(o)->entries->size()); }

PyMethodDef methods[] = {{"add", (PyCFunction)(void *)add, METH_VARARGS | METH_KEYWORDS,
                          "add(in_types, executable, unwrap=False, result_wrapper=None, "
                          "captured=(), ranges=())\n--\n\nFrom now on calls with arguments "
                          "of these types run `executable`. A type: an ArrayType, or int, float or "
                          "bool for a Python number where the "
                          "executable takes an array without dims. in_types=None: whatever fits "
                          "the executable, sizes free where it is "
                          "dynamic. `captured` arrays are passed after the arguments. The result: "
                          "a tuple of arrays; with unwrap=True the "
                          "only one; with result_wrapper what it returns for that. ranges: tuples "
                          "(argument, least, most); an int outside is left to slow_path."},
                         {"clear", clear, METH_NOARGS, "clear()\n--\n\nForgets all signatures."},
                         {}};
PyGetSetDef getters[] = {
    {"size", getSize, nullptr, "Number of signatures.", nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {}};
PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Function, call), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(Function, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Function, weakrefs), READONLY, nullptr},
    {"slow_path", T_OBJECT, offsetof(Function, slowPath), READONLY, nullptr},
    {}};
PyType_Slot slots[] = {
    {Py_tp_doc,
     const_cast<char *>(
         "Function(slow_path)\n--\n\nA callable with one executable per signature; anything "
         "without one goes to slow_path.")},
    {Py_tp_new, reinterpret_cast<void *>(construct)},
    {Py_tp_init, reinterpret_cast<void *>(init)},
    {Py_tp_dealloc, reinterpret_cast<void *>(dealloc)},
    {Py_tp_traverse, reinterpret_cast<void *>(traverse)},
    {Py_tp_clear, reinterpret_cast<void *>(clearReferences)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_methods, methods},
    {Py_tp_members, members},
    {Py_tp_getset, getters},
    {0, nullptr}};
PyType_Spec spec = {"xtensor._native.Function", sizeof(Function), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
                        Py_TPFLAGS_HAVE_VECTORCALL,
                    slots};

PyObject *enterTrace(PyObject *, PyObject *) {
  ++traceDepth;
  Py_RETURN_NONE;
}
PyObject *exitTrace(PyObject *, PyObject *) {
  if (traceDepth == 0)
    return PyErr_Format(PyExc_RuntimeError, "exit_trace() without enter_trace() in this thread");
  --traceDepth;
  Py_RETURN_NONE;
}
PyObject *getTraceDepth(PyObject *, PyObject *) { return PyLong_FromLong(traceDepth); }

PyObject *setOptions(PyObject *, PyObject *args) {
  PyObject *process, *block;
  if (!PyArg_ParseTuple(args, "OO!:set_options", &process, &PyContextVar_Type, &block))
    return nullptr;
  Py_XSETREF(processOptions, Py_NewRef(process));
  Py_XSETREF(blockOptions, Py_NewRef(block));
  Py_RETURN_NONE;
}

PyObject *setTrimmed(PyObject *, PyObject *args) {
  PyObject *folder, *error;
  if (!PyArg_ParseTuple(args, "UO:set_trimmed", &folder, &error))
    return nullptr;
  Py_XSETREF(packageFolder, Py_NewRef(folder));
  Py_XSETREF(errorClass, Py_NewRef(error));
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"set_options", setOptions, METH_VARARGS,
     "set_options(process, block)\n--\n\nThe options of the process, and the context variable that "
     "holds those of a block or None. A Function runs only what was added under the same object."},
    {"set_trimmed", setTrimmed, METH_VARARGS,
     "set_trimmed(folder, error)\n--\n\nCalls of a Function leave frames of code in `folder` out "
     "of the tracebacks of `error` and of what people's own code raises."},
    {"enter_trace", enterTrace, METH_NOARGS,
     "enter_trace()\n--\n\nUntil exit_trace(), every Function takes its slow path in this thread."},
    {"exit_trace", exitTrace, METH_NOARGS, "exit_trace()\n--\n\nEnds what enter_trace() began."},
    {"trace_depth", getTraceDepth, METH_NOARGS,
     "trace_depth()\n--\n\nTraces that are open in this thread."},
    {}};

} // namespace

bool xtensor::initFunction(PyObject *module) {
  functionClass = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&spec));
  return functionClass &&
         PyModule_AddObjectRef(module, "Function", (PyObject *)functionClass) == 0 &&
         PyModule_AddFunctions(module, functions) == 0;
}
