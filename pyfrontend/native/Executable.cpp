// Running compiled code: arguments are checked against the signature, results come from the buffer
// pool, and the GIL is released where the work is worth it.
#include "Executable.h"
#include "Collectives.h"
#include "DeviceCall.h"
#include "Devices.h"
#include "Donation.h"
#include "NumPy.h"
#include "Services.h"
#include "Signals.h"

#include <cstring>
#include <optional>
#include <string>
#include <structmember.h>
#include <utility>

using namespace xtensor;

PyTypeObject *xtensor::executableClass;

namespace {

constexpr int64_t kReleaseGilBytes = 64 << 10; // about 10 us of work; releasing costs 30 ns

PyObject *indexError; // called with (site, index, size); raises
PyObject *sizeError;  // called with (number, dtype, dims, sizes); raises
bool guarded;         // whether blocks have guards: $XTENSOR_DEBUG_MEMORY=1

Executable *self(PyObject *o) { return reinterpret_cast<Executable *>(o); }

bool sizesMatch(const TypePattern &p, const int64_t *actual, int64_t *sizes) {
  for (size_t i = 0; i < p.sizes.size(); ++i) {
    const SizePattern &s = p.sizes[i];
    int64_t &expected = s.dynamic.empty() ? const_cast<int64_t &>(s.factor) : sizes[s.dynamic[0]];
    if (expected < 0) // a dynamic dim seen for the first time
      expected = actual[i];
    else if (expected != actual[i])
      return false;
  }
  return true;
}

bool numpyMatches(const TypePattern &p, PyArrayObject *a, int64_t *sizes) {
  Dtype dtype;
  return PyArray_NDIM(a) == static_cast<int>(p.sizes.size()) &&
         fromNumpyType(PyArray_TYPE(a), dtype) && dtype == p.dtype &&
         PyArray_CHKFLAGS(a, NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED) &&
         PyArray_ISNOTSWAPPED(a) &&
         sizesMatch(p, reinterpret_cast<int64_t *>(PyArray_DIMS(a)), sizes);
}

/// One argument; `nbytes` is added to.
bool argumentMatches(const TypePattern &p, PyObject *arg, bool acceptNumpy, xt_device *device,
                     void *&data, int64_t *sizes, int64_t &nbytes) {
  if (Py_TYPE(arg) == arrayClass || isArray(arg)) {
    Array *a = reinterpret_cast<Array *>(arg);
    Type *t = a->type;
    if (a->device != device || isDonated(a) || !typeMatches(p, t, sizes))
      return false;
    data = a->data, nbytes += t->nbytes;
    return true;
  }
  if (!acceptNumpy || device || !PyArray_Check(arg))
    return false;
  auto *a = reinterpret_cast<PyArrayObject *>(arg);
  if (!numpyMatches(p, a, sizes))
    return false;
  data = PyArray_DATA(a), nbytes += PyArray_NBYTES(a);
  return true;
}

Ref<> describe(const TypePattern &p) {
  auto text = steal(PyUnicode_FromFormat("%s {", info(p.dtype).name));
  for (size_t i = 0; text && i < p.sizes.size(); ++i) {
    PyObject *dim = PyTuple_GET_ITEM(p.dims.get(), i);
    const char *comma = i ? ", " : "";
    if (p.sizes[i].dynamic.empty())
      text = steal(PyUnicode_FromFormat("%U%s%U: %lld", text.get(), comma, dim,
                                        (long long)p.sizes[i].factor));
    else
      text = steal(PyUnicode_FromFormat("%U%s%U: any", text.get(), comma, dim));
  }
  return steal(text ? PyUnicode_FromFormat("%U}", text.get()) : nullptr);
}

Ref<> describeArgument(PyObject *arg) {
  if (isArray(arg)) {
    auto *a = reinterpret_cast<Array *>(arg);
    return steal(PyUnicode_FromFormat(a->device ? "%R on %U" : "%R", a->type, nameOf(a->device)));
  }
  if (!PyArray_Check(arg)) {
    const char *name = Py_TYPE(arg)->tp_name;
    return steal(PyUnicode_FromFormat(strchr("aeioAEIO", name[0]) ? "an %s" : "a %s", name));
  }
  auto *a = reinterpret_cast<PyArrayObject *>(arg);
  auto shape = steal(PyObject_GetAttrString(arg, "shape"));
  const char *layout =
      PyArray_CHKFLAGS(a, NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED) ? "" : ", not row-major";
  return steal(shape ? PyUnicode_FromFormat("a NumPy array (%S, sizes %R%s)", PyArray_DESCR(a),
                                            shape.get(), layout)
                     : nullptr);
}

/// Finds the argument that does not fit, and says so.
void raiseMismatch(Executable *e, PyObject *const *args, size_t n) {
  Signature &s = *e->signature;
  if (n != s.inputs.size()) {
    PyErr_Format(PyExc_TypeError, "%zu arguments for a compiled function of %zu inputs", n,
                 s.inputs.size());
    return;
  }
  Sizes sizes(s.dynamicDims.size());
  std::fill_n(static_cast<int64_t *>(sizes), s.dynamicDims.size(), -1);
  for (size_t i = 0; i < n; ++i) {
    void *data;
    int64_t nbytes = 0;
    if (argumentMatches(s.inputs[i], args[i], true, e->device, data, sizes, nbytes))
      continue;
    if (isArray(args[i]) && isDonated(reinterpret_cast<Array *>(args[i])))
      return raiseDonated(reinterpret_cast<Array *>(args[i]));
    auto expected = describe(s.inputs[i]), got = expected ? describeArgument(args[i]) : nullptr;
    if (got)
      PyErr_Format(PyExc_TypeError, "argument %zu is %U; this was compiled for %U%s%s%s", i,
                   got.get(), expected.get(), e->device ? " on " : "",
                   e->device ? PyUnicode_AsUTF8(nameOf(e->device)) : "",
                   s.dynamic ? " (and equal dims of equal sizes)" : "");
    return;
  }
  PyErr_SetString(PyExc_TypeError, "the arguments do not fit the compiled function");
}

PyObject *callWith(Executable *e, PyObject *const *args, size_t n, bool unwrap) {
  Signature &s = *e->signature;
  Pointers buffers(n + s.outputs.size());
  Sizes sizes(s.dynamicDims.size());
  int64_t bytes;
  if (n != s.inputs.size() || !matches(e, args, true, buffers, sizes, bytes)) {
    raiseMismatch(e, args, n);
    return nullptr;
  }
  if (!e->device)
    return execute(e, buffers, sizes, nullptr, bytes, unwrap, args, n);
  Dependences before;
  for (size_t i = 0; i < n; ++i)
    before.add(reinterpret_cast<Array *>(args[i])->pending);
  return execute(e, buffers, sizes, nullptr, bytes, unwrap, args, n, &before);
}

PyObject *vectorcall(PyObject *o, PyObject *const *args, size_t nargsf, PyObject *keywords) {
  if (keywords && PyTuple_GET_SIZE(keywords)) {
    PyErr_SetString(PyExc_TypeError, "a compiled function takes its arguments by position");
    return nullptr;
  }
  return callWith(self(o), args, PyVectorcall_NARGS(nargsf), self(o)->unwrap);
}

PyObject *run(PyObject *o, PyObject *list) {
  // A tuple: a list could change in another thread while the GIL is released.
  auto args = steal(PySequence_Tuple(list));
  if (!args)
    return nullptr;
  return callWith(self(o), &PyTuple_GET_ITEM(args.get(), 0), PyTuple_GET_SIZE(args.get()), false);
}

/// Numbers of inputs, each below `end`. False with an exception set.
bool parseNumbers(PyObject *list, Py_ssize_t end, std::vector<Py_ssize_t> &numbers) {
  auto fast = steal(list ? PySequence_Fast(list, "numbers of inputs must be a sequence") : nullptr);
  for (Py_ssize_t i = 0; fast && i < PySequence_Fast_GET_SIZE(fast.get()); ++i) {
    Py_ssize_t number = PyLong_AsSsize_t(PySequence_Fast_GET_ITEM(fast.get(), i));
    if (!PyErr_Occurred() && (number < -1 || number >= end))
      PyErr_Format(PyExc_ValueError, "there is no input %zd", number);
    if (PyErr_Occurred())
      break;
    numbers.push_back(number);
  }
  return !PyErr_Occurred();
}

/// Inputs that a call takes over, in order, and for each output the one whose memory it takes.
bool parseDonation(PyObject *donated, PyObject *reused, Executable &e) {
  auto inputs = static_cast<Py_ssize_t>(e.signature->inputs.size());
  std::vector<Py_ssize_t> numbers, arguments;
  if (!parseNumbers(donated, inputs, numbers) || !parseNumbers(reused, inputs, arguments))
    return false;
  bool ok = std::is_sorted(numbers.begin(), numbers.end()) &&
            (numbers.empty() || numbers.front() >= 0) &&
            (arguments.empty() || arguments.size() == e.signature->outputs.size());
  for (Py_ssize_t input : arguments)
    ok = ok && (input < 0 || std::binary_search(numbers.begin(), numbers.end(), input));
  if (!ok) {
    PyErr_SetString(PyExc_ValueError, "donated must be inputs in order, and reused one of them, or "
                                      "-1, for each output");
    return false;
  }
  if (!numbers.empty())
    e.donation = new Donation{{numbers.begin(), numbers.end()}, std::move(arguments)};
  return true;
}

PyObject *construct(PyTypeObject *cls, PyObject *args, PyObject *kwargs) {
  static const char *keywords[] = {"entry",   "inputs",      "outputs",  "sites",  "keepalive",
                                   "unwrap",  "release_gil", "equal",    "device", "name",
                                   "donated", "reused",      "together", nullptr};
  PyObject *entry, *inputs, *outputs, *sites = nullptr, *keepalive = nullptr, *releaseGil = Py_None,
                                      *equal = nullptr, *where = Py_None, *name = nullptr,
                                      *donated = nullptr, *reused = nullptr, *together = Py_None;
  int unwrap = 0;
  xt_device *device;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO|OOpOOOUOOO:Executable",
                                   const_cast<char **>(keywords), &entry, &inputs, &outputs, &sites,
                                   &keepalive, &unwrap, &releaseGil, &equal, &where, &name,
                                   &donated, &reused, &together) ||
      !parseDevice(where, device))
    return nullptr;
  void *address = PyLong_AsVoidPtr(entry);
  if (!address) {
    if (!PyErr_Occurred())
      PyErr_SetString(PyExc_ValueError, "the entry's address is 0");
    return nullptr;
  }
  int release = releaseGil == Py_None ? -1 : PyObject_IsTrue(releaseGil);
  if (release < 0 && PyErr_Occurred())
    return nullptr;
  auto e = steal(reinterpret_cast<Executable *>(cls->tp_alloc(cls, 0)));
  if (!e)
    return nullptr;
  e->call = vectorcall;
  e->entry = reinterpret_cast<xt_entry>(address);
  e->signature = new Signature;
  e->unwrap = unwrap, e->releaseGil = static_cast<int8_t>(release), e->device = device;
  e->keepalive = Py_XNewRef(keepalive);
  e->name = Py_XNewRef(name);
  e->sites = sites && sites != Py_None ? PySequence_Tuple(sites) : PyTuple_New(0);
  if (!e->sites || !parseSignature(inputs, outputs, *e->signature) ||
      (equal && !parseEqualities(equal, *e->signature)) ||
      !parseDonation(donated, reused, *e.get()) ||
      (together != Py_None && !(e->together = parseTogether(together))) ||
      (unwrap && e->signature->outputs.size() != 1)) {
    if (!PyErr_Occurred())
      PyErr_SetString(PyExc_ValueError, "unwrap=True wants exactly one output");
    return nullptr;
  }
  return e.releaseObject();
}

int traverse(PyObject *o, visitproc visit, void *arg) {
  Py_VISIT(self(o)->sites);
  Py_VISIT(self(o)->keepalive);
  if (self(o)->signature)
    for (Signature::Equality &equality : self(o)->signature->equalities)
      Py_VISIT(equality.refuse.get());
  Py_VISIT(Py_TYPE(o));
  return 0;
}

/// In place of code that is gone.
void goneEntry(void **, const int64_t *, xt_status *status) { status->code = 6; }

int clear(PyObject *o) {
  // The code may go before the object does, which other garbage may yet call.
  leaveProgram(self(o));
  self(o)->entry = goneEntry;
  Py_CLEAR(self(o)->keepalive);
  if (self(o)->signature)
    for (Signature::Equality &equality : self(o)->signature->equalities)
      equality.refuse = nullptr;
  return 0;
}

void dealloc(PyObject *o) {
  PyObject_GC_UnTrack(o);
  Executable *e = self(o);
  leaveProgram(e);
  delete e->signature;
  delete e->donation;
  delete e->together;
  Py_XDECREF(e->sites);
  Py_XDECREF(e->keepalive);
  Py_XDECREF(e->name);
  PyTypeObject *cls = Py_TYPE(o);
  cls->tp_free(o);
  Py_DECREF(cls);
}

PyObject *getDynamicDims(PyObject *o, void *) {
  auto &dims = self(o)->signature->dynamicDims;
  PyObject *result = PyTuple_New(dims.size());
  for (size_t i = 0; result && i < dims.size(); ++i)
    PyTuple_SET_ITEM(result, i, Py_NewRef(dims[i]));
  return result;
}

PyObject *repr(PyObject *o) {
  Signature &s = *self(o)->signature;
  return PyUnicode_FromFormat("<xtensor executable: %zu inputs, %zu outputs>", s.inputs.size(),
                              s.outputs.size());
}

PyMethodDef methods[] = {{"run", run, METH_O,
                          "run(arguments)\n--\n\nCalls the code with a sequence of Arrays (or "
                          "NumPy arrays of the same dtype and sizes); "
                          "a tuple of Arrays."},
                         {}};
PyGetSetDef getters[] = {{"dynamic_dims", getDynamicDims, nullptr,
                          "Names of the dims whose size is known at the call only.", nullptr},
                         {}};
PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Executable, call), READONLY, nullptr},
    {"sites", T_OBJECT, offsetof(Executable, sites), READONLY, nullptr},
    {}};
PyType_Slot slots[] = {
    {Py_tp_doc,
     const_cast<char *>(
         "Executable(entry, inputs, outputs, sites=(), keepalive=None, unwrap=False, "
         "release_gil=None, equal=(), device=None, name=None, donated=(), reused=(), "
         "together=None)\n--\n\nA "
         "compiled function at the "
         "address "
         "`entry`. equal: (size, size, what raises) for sizes that a call must agree on. On a "
         "Device, a call does not wait. name: the program's, for messages. donated: the inputs "
         "that a call takes over, in order. reused: for each output the input whose memory it "
         "takes, or -1. together: as for `agree`; its calls agree first.")},
    {Py_tp_new, reinterpret_cast<void *>(construct)},
    {Py_tp_dealloc, reinterpret_cast<void *>(dealloc)},
    {Py_tp_traverse, reinterpret_cast<void *>(traverse)},
    {Py_tp_clear, reinterpret_cast<void *>(clear)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_repr, reinterpret_cast<void *>(repr)},
    {Py_tp_methods, methods},
    {Py_tp_members, members},
    {Py_tp_getset, getters},
    {0, nullptr}};
PyType_Spec spec = {"xtensor._native.Executable", sizeof(Executable), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, slots};

PyObject *setIndexError(PyObject *, PyObject *callable) {
  return replaceCallable(indexError, callable);
}

PyObject *setSizeError(PyObject *, PyObject *callable) {
  return replaceCallable(sizeError, callable);
}

PyMethodDef functions[] = {{"set_index_error", setIndexError, METH_O,
                            "set_index_error(callable)\n--\n\nWhat is called with (site, index, "
                            "size), to raise, when compiled code meets an "
                            "index out of range. Returns what it was before."},
                           {"set_size_error", setSizeError, METH_O,
                            "set_size_error(callable)\n--\n\nWhat is called with (number, dtype, "
                            "dims, sizes), to raise, when a result is larger than the address "
                            "space; a size is a list of factors. Returns what it was before."},
                           {}};

} // namespace

bool xtensor::typeMatches(const TypePattern &p, Type *t, int64_t *sizes) {
  // Code does not know whether a dtype gives way: the front end does.
  return t == p.fixed.get() ||
         (p.fixed && t->weak != p.fixed->weak && !t->rank && !p.fixed->rank &&
          t->dtype == p.dtype) ||
         (!p.fixed && t->dtype == p.dtype && t->dims == p.dims.get() &&
          sizesMatch(p, t->sizes, sizes));
}

bool xtensor::matches(Executable *e, PyObject *const *args, bool acceptNumpy, void **buffers,
                      int64_t *sizes, int64_t &bytes) {
  Signature &s = *e->signature;
  if (s.dynamic)
    std::fill_n(sizes, s.dynamicDims.size(), -1);
  bytes = 0;
  for (size_t i = 0; i < s.inputs.size(); ++i)
    if (args[i] &&
        !argumentMatches(s.inputs[i], args[i], acceptNumpy, e->device, buffers[i], sizes, bytes))
      return false;
  return true;
}

void xtensor::raiseBy(Ref<> result) {
  result = nullptr;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  steal(traceback); // not restored
  if (value)
    PyException_SetTraceback(value, Py_None);
  PyErr_Restore(type, value, nullptr);
}

void xtensor::raiseStatus(PyObject *sites, const xt_status &status, xt_device *device) {
  if (PyErr_Occurred()) // a signal's handler raised: the status is 7, if nothing was reported
                        // before
    return;
  if (status.code == 2) {
    raiseMemoryError(std::to_string(status.size) + " bytes of temporaries", device);
    return;
  }
  if (status.code == 3) {
    raiseDeviceError("a program cannot be run");
    return;
  }
  if (status.code == 4) {
    std::string what =
        "a loop takes more than " + std::to_string(status.size) +
        " steps, and this device (Mesa's driver for CPUs) ends each loop of a "
        "kernel after that many. Run it with device=\"cpu\", or on fewer elements at "
        "a time";
    raiseDeviceLimit(what);
    return;
  }
  if (status.code == 5) {
    PyErr_Format(PyExc_RuntimeError,
                 "compiled code wrote outside of its temporaries: byte %lld of %lld bytes. This is "
                 "an error of the compiler: please report the program",
                 (long long)status.index, (long long)status.size);
    return;
  }
  if (status.code == 6) {
    PyErr_SetString(PyExc_RuntimeError, "a function that is being deleted cannot be called");
    return;
  }
  if (status.code != 1) {
    PyErr_Format(PyExc_RuntimeError, "compiled code stopped with status %d", status.code);
    return;
  }
  bool known = status.site >= 0 && status.site < PyTuple_GET_SIZE(sites);
  PyObject *site = known ? PyTuple_GET_ITEM(sites, status.site) : Py_None;
  if (indexError)
    raiseBy(steal(PyObject_CallFunction(indexError, "OLL", site, (long long)status.index,
                                        (long long)status.size)));
  if (!PyErr_Occurred())
    PyErr_Format(PyExc_IndexError, "index %lld is out of range for size %lld (%S)",
                 (long long)status.index, (long long)status.size, site);
}

/// Names the first result that cannot be made at these sizes. Leaves other errors as they are.
static void raiseSizeError(const Signature &signature, const int64_t *sizes) {
  bool isSize = PyErr_ExceptionMatches(PyExc_ValueError) ||  // its size in bytes
                PyErr_ExceptionMatches(PyExc_OverflowError); // a size of a dim
  if (!isSize || !sizeError)
    return;
  for (size_t i = 0; i < signature.outputs.size(); ++i) {
    const TypePattern &p = signature.outputs[i];
    PyErr_Clear();
    if (resolve(p, sizes))
      continue;
    PyErr_Clear();
    auto factors = steal(PyList_New(0));
    for (size_t d = 0; factors && d < p.sizes.size(); ++d) {
      auto one = steal(Py_BuildValue("[L]", (long long)p.sizes[d].factor));
      for (int number : p.sizes[d].dynamic) {
        auto n = steal(one ? PyLong_FromLongLong(sizes[number]) : nullptr);
        if (!n || PyList_Append(one.get(), n.get()) < 0)
          one = nullptr;
      }
      if (!one || PyList_Append(factors.get(), one.get()) < 0)
        factors = nullptr;
    }
    if (factors)
      steal(PyObject_CallFunction(sizeError, "nsOO", (Py_ssize_t)i, info(p.dtype).name,
                                  p.dims.get(), factors.get()));
    return;
  }
}

/// Whether a call on the CPU kept to its results; raises for the first one that it left.
static bool keptToResults(Executable *e, PyObject *const *results, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    auto *a = reinterpret_cast<Array *>(results[i]);
    ptrdiff_t offset;
    if (!xt_damaged(a->data, a->type->nbytes, &offset))
      continue;
    PyErr_Format(PyExc_RuntimeError,
                 "%V wrote outside of result %zu, %R: byte %zd of %lld bytes. This is an error of "
                 "the compiler: please report the program",
                 e->name, "compiled code", i, a->type, (Py_ssize_t)offset,
                 (long long)a->type->nbytes);
    return false;
  }
  return true;
}

PyObject *xtensor::execute(Executable *e, void **buffers, const int64_t *sizes,
                           const TypeList *outputs, int64_t bytes, bool unwrap,
                           PyObject *const *given, size_t inputs, Dependences *before) {
  size_t count = e->signature->outputs.size();
  void **results = buffers + e->signature->inputs.size();
  if (!e->signature->equalities.empty() && !sizesAgree(*e->signature, sizes))
    return nullptr;
  // Before anything is borrowed: making a tuple may collect garbage, and that may run any code.
  auto result = steal(unwrap ? nullptr : PyTuple_New(count));
  if (!unwrap && !result)
    return nullptr;
  if (!outputs && !(outputs = e->signature->outputsFor(sizes))) {
    raiseSizeError(*e->signature, sizes);
    return nullptr;
  }
  std::optional<Takeover> taken;
  if (__builtin_expect(e->donation != nullptr, 0))
    taken.emplace(e, given, inputs);
  for (size_t i = 0; i < count; ++i) {
    Array *a = taken ? taken->result(i, (*outputs)[i]) : newArray((*outputs)[i], e->device);
    if (!a)
      return nullptr;
    results[i] = a->data, bytes += a->type->nbytes;
    if (unwrap)
      result = steal(reinterpret_cast<PyObject *>(a));
    else
      PyTuple_SET_ITEM(result.get(), i, reinterpret_cast<PyObject *>(a));
  }
  PyObject *only = result.get();
  PyObject **made = unwrap ? &only : &PyTuple_GET_ITEM(only, 0);
  if (taken && !taken->commit(made, buffers))
    return nullptr;
  // Compiled code also wants the dynamic sizes of the outputs, after those of the inputs.
  std::vector<int64_t> allSizes;
  if (e->signature->dynamic) {
    allSizes.assign(sizes, sizes + e->signature->dynamicDims.size());
    for (size_t i = 0; i < count; ++i) {
      const TypePattern &pattern = e->signature->outputs[i];
      for (size_t d = 0; d < pattern.sizes.size(); ++d)
        if (!pattern.sizes[d].dynamic.empty())
          allSizes.push_back((*outputs)[i]->sizes[d]);
    }
    sizes = allSizes.data();
  }
  // Code compiled ahead of time reads on behind the status.
  xt_call call = {{0, 0, 0, 0}, &runtimeServices, nullptr};
  xt_status &status = call.status;
  auto held = borrow(e); // another thread may drop the last reference meanwhile
  Meeting meeting(e->together, buffers);
  if (before) {
    if (!enterDevice(e, buffers, sizes, *before, made, count))
      result = nullptr;
  } else if (e->releaseGil > 0 || (e->releaseGil < 0 && bytes > kReleaseGilBytes)) {
    enterAway(e->entry, buffers, e->signature->inputs.size() + count, sizes, status);
  } else {
    e->entry(buffers, sizes, &status);
  }
  if (__builtin_expect(meeting.differs(), 0)) {
    result = nullptr;
    raiseDisagreement(*e->together);
  } else if (status.code != 0) {
    result = nullptr;
    raiseStatus(e->sites, status);
  } else if (__builtin_expect(guarded, 0) && !before && !keptToResults(e, made, count)) {
    return nullptr;
  }
  return result.release();
}

PyObject *xtensor::replaceCallable(PyObject *&kept, PyObject *callable) {
  if (callable != Py_None && !PyCallable_Check(callable))
    return PyErr_Format(PyExc_TypeError, "wanted: a callable or None, not %R", callable);
  PyObject *previous = kept;
  kept = callable == Py_None ? nullptr : Py_NewRef(callable);
  return previous ? previous : Py_NewRef(Py_None);
}

bool xtensor::initExecutable(PyObject *module) {
  guarded = xt_debug_memory();
  executableClass = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&spec));
  return executableClass &&
         PyModule_AddObjectRef(module, "Executable", (PyObject *)executableClass) == 0 &&
         PyModule_AddFunctions(module, functions) == 0;
}
