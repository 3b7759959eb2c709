// Function: a Python callable that finds the executable for its arguments by comparing pointers.
// For everything else it calls Python, the slow path: trace, compile, add. Executables that were
// compiled under other options are not found.
#include "Function.h"
#include "Entry.h"
#include "Signals.h"

#include <algorithm>
#include <structmember.h>
#include <utility>

using namespace xtensor;

namespace {

PyTypeObject *functionClass;
PyObject *packageFolder; // with the separator at its end; null: unknown
PyObject *errorClass;    // the package's own errors
// Traces open in this thread: while there are any, a call is to be traced, not run.
thread_local int traceDepth __attribute__((tls_model("initial-exec"))) = 0;

// The options of the process, and the context variable that holds a block's (values/options.py);
// null until Python sets them. Each combination is one object, so pointers tell them apart.
PyObject *processOptions = nullptr, *blockOptions = nullptr;

/// The options in force in this context, borrowed: blocks and this module keep all of them alive.
PyObject *currentOptions() {
  PyObject *found = nullptr;
  if (blockOptions && PyContextVar_Get(blockOptions, nullptr, &found) < 0)
    PyErr_Clear();
  auto owned = steal(found);
  return found && found != Py_None ? found : processOptions;
}

struct Function {
  PyObject_HEAD vectorcallfunc call;
  PyObject *slowPath;
  PyObject *dict;
  PyObject *weakrefs;
  std::vector<Entry *> *entries; // latest hit first
};

Function *self(PyObject *o) { return reinterpret_cast<Function *>(o); }

bool isInternal(PyTracebackObject *entry) {
  return isPackageCode(steal(PyFrame_GetCode(entry->tb_frame)).get());
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
        auto gone = steal(*at);
        *at = borrow(gone->tb_next).release();
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

/// Whether the exception that is set is about the arguments of a call.
bool isOurs() {
  return PyErr_ExceptionMatches(PyExc_LookupError) || PyErr_ExceptionMatches(PyExc_ValueError) ||
         (errorClass && PyErr_ExceptionMatches(errorClass));
}

/// The exception of a call that ran no Python code of ours: without our frames, and if memory is
/// missing, with what the slow path's `of_memory(exception, args, kwargs)` says of it.
void explain(Function *f, PyObject *const *args, size_t n, PyObject *keywords) {
  trimTraceback();
  if (!PyErr_ExceptionMatches(PyExc_MemoryError))
    return;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  auto slowPath = borrow(f->slowPath);
  auto tell = steal(PyObject_GetAttrString(slowPath.get(), "of_memory"));
  auto positional = steal(tell ? PyTuple_New(static_cast<Py_ssize_t>(n)) : nullptr);
  auto named = steal(positional ? PyDict_New() : nullptr);
  for (size_t i = 0; named && i < n; ++i)
    PyTuple_SET_ITEM(positional.get(), i, Py_NewRef(args[i]));
  for (Py_ssize_t i = 0; named && keywords && i < PyTuple_GET_SIZE(keywords); ++i)
    PyDict_SetItem(named.get(), PyTuple_GET_ITEM(keywords, i), args[n + i]);
  if (named)
    steal(PyObject_CallFunctionObjArgs(tell.get(), value, positional.get(), named.get(), nullptr));
  PyErr_Clear(); // the exception tells less then
  PyErr_Restore(type, value, traceback);
}

PyObject *vectorcall(PyObject *o, PyObject *const *args, size_t nargsf, PyObject *keywords) {
  Function *f = self(o);
  if (traceDepth == 0) {
    auto &entries = *f->entries;
    PyObject *options = currentOptions();
    size_t n = PyVectorcall_NARGS(nargsf);
    bool hit = false;
    handlerRaised = false;
    Bare bare;
    for (size_t i = 0; i < entries.size(); ++i) {
      if (entries[i]->options.get() != options || (keywords && !entries[i]->spelling))
        continue;
      bool asks = entries[i]->asks;
      PyObject *result = entries[i]->spelling
                             ? callSpelled(entries, i, args, n, keywords, bare, hit)
                             : callEntry(entries, i, args, n, bare, hit);
      // Not what a signal's handler raised, of whatever class.
      if (!result && (asks || !hit) && PyErr_Occurred() && !handlerRaised && isOurs()) {
        PyErr_Clear(); // the slow path compiles for these sizes, and tells of them or of labels
        break;
      }
      if (hit || PyErr_Occurred()) {
        if (!result)
          explain(f, args, n, keywords);
        return result;
      }
    }
  }
  auto slowPath = borrow(f->slowPath);
  PyObject *result = PyObject_Vectorcall(slowPath.get(), args, nargsf, keywords);
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
      Py_VISIT(entry->executable.object());
      Py_VISIT(entry->captured.get());
      Py_VISIT(entry->wrapper.get());
      Py_VISIT(entry->labels.get());
      Py_VISIT(entry->relabel.get());
      if (entry->spelling)
        if (int stop = entry->spelling->traverse(visit, arg))
          return stop;
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

PyObject *add(PyObject *o, PyObject *args, PyObject *kwargs) {
  static const char *keywords[] = {"in_types", "executable", "unwrap",   "result_wrapper",
                                   "captured", "ranges",     "spelling", "labels",
                                   "open",     "options",    "relabel",  nullptr};
  PyObject *types, *executable, *wrapper = Py_None, *captured = nullptr, *ranges = nullptr,
                                *spelling = Py_None, *labels = Py_None, *options = nullptr,
                                *relabel = Py_None;
  int unwrap = 0, open = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO!|pOOOOOpOO:add", const_cast<char **>(keywords),
                                   &types, executableClass, &executable, &unwrap, &wrapper,
                                   &captured, &ranges, &spelling, &labels, &open, &options,
                                   &relabel))
    return nullptr;
  auto *entry = new Entry(reinterpret_cast<Executable *>(executable), unwrap,
                          options ? options : currentOptions());
  entry->wrapper = borrow(wrapper == Py_None ? nullptr : wrapper);
  if (captured && captured != Py_None)
    entry->captured = steal(PySequence_Tuple(captured));
  if (spelling != Py_None)
    entry->spelling = Spelling::parse(spelling);
  entry->relabel = borrow(relabel == Py_None ? nullptr : relabel);
  if (PyList_CheckExact(labels))
    entry->labels = borrow(labels);
  else if (labels != Py_None && !PyErr_Occurred())
    PyErr_SetString(PyExc_TypeError, "labels must be a list or None");
  if (entry->spelling && entry->spelling->count() + entry->capturedCount() !=
                             entry->executable->signature->inputs.size())
    PyErr_SetString(PyExc_ValueError, "the spelling has not as many places as there are inputs");
  if (PyErr_Occurred() || !fillEntry(types, ranges, *entry)) {
    drop(entry);
    return nullptr;
  }
  entry->open = open && !entry->filtered;
  entry->asks = open;
  auto &entries = *self(o)->entries;
  entries.insert(entries.begin(), entry);
  Py_RETURN_NONE;
}

PyObject *clear(PyObject *o, PyObject *) {
  dropEntries(self(o));
  Py_RETURN_NONE;
}

PyObject *retire(PyObject *o, PyObject *executable) {
  auto &entries = *self(o)->entries;
  bool used = false;
  std::vector<Entry *> gone;
  for (Entry *entry : entries)
    if (entry->executable.object() == executable) {
      used |= std::exchange(entry->used, false);
      gone.push_back(entry);
    }
  if (used)
    Py_RETURN_TRUE;
  for (Entry *entry : gone)
    entries.erase(std::find(entries.begin(), entries.end(), entry));
  for (Entry *entry : gone)
    drop(entry);
  Py_RETURN_FALSE;
}

PyObject *getSize(PyObject *o, void *) { return PyLong_FromSize_t(self(o)->entries->size()); }

PyMethodDef methods[] = {
    {"add", (PyCFunction)(void *)add, METH_VARARGS | METH_KEYWORDS,
     "add(in_types, executable, unwrap=False, result_wrapper=None, "
     "captured=(), ranges=(), spelling=None, labels=None, open=False, options=..., "
     "relabel=None)\n--\n\nFrom now "
     "on calls "
     "with arguments "
     "of these types run `executable`. A type: an ArrayType, or int, float or "
     "bool for a Python number where the "
     "executable takes an array without dims. in_types=None: whatever fits "
     "the executable, sizes free where it is "
     "dynamic. `captured` arrays are passed after the arguments. The result: "
     "a tuple of arrays; with unwrap=True the "
     "only one; with result_wrapper what it returns for that. ranges: tuples "
     "(argument, least, most); a number outside is left to slow_path. A type of "
     "None beside int, float and bool: an array that fits. spelling: "
     "(positional, named, fixed), where in a call the arguments are; without, "
     "each is given by position. labels: a list of (metas of the arguments, "
     "metas of the results, option), read at each call: arguments of these "
     "very metas fit while the option that set_label_option gives is the "
     "same one (None: whatever it is). open: not for dynamic sizes of 0 and 1, "
     "and slow_path is called where the executable raises. options: those in force when it was "
     "compiled, by default those in force now. relabel(results, args): what a call with DataArrays "
     "returns; without, they do not fit."},
    {"retire", retire, METH_O,
     "retire(executable)\n--\n\nForgets the signatures of an executable that was not called since "
     "the last time that this was asked; whether it was called."},
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

PyObject *setOption(PyObject *, PyObject *callable) {
  setLabelOption(callable);
  Py_RETURN_NONE;
}

PyObject *setClass(PyObject *, PyObject *args) {
  PyObject *cls, *values;
  if (!PyArg_ParseTuple(args, "O!O:set_dataarrays", &PyType_Type, &cls, &values))
    return nullptr;
  setDataArrays(cls, values);
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
    {"set_label_option", setOption, METH_O,
     "set_label_option(callable)\n--\n\nWhat gives the option on which labels of results depend."},
    {"set_dataarrays", setClass, METH_VARARGS,
     "set_dataarrays(cls, values)\n--\n\nThe class of DataArrays, which stand for arrays in calls "
     "of "
     "a Function. values(x) gives the array over the memory of one; None: the slow path makes it."},
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

bool xtensor::isPackageCode(PyCodeObject *code) {
  return packageFolder && PyUnicode_Check(code->co_filename) &&
         PyUnicode_Tailmatch(code->co_filename, packageFolder, 0, PY_SSIZE_T_MAX, -1) == 1;
}

bool xtensor::initFunction(PyObject *module) {
  functionClass = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&spec));
  return functionClass &&
         PyModule_AddObjectRef(module, "Function", (PyObject *)functionClass) == 0 &&
         PyModule_AddFunctions(module, functions) == 0;
}
