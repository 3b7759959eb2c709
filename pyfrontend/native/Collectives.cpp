// The MPI library of this process, as the runtime calls it: Python finds it, by mpi4py.
#include "Collectives.h"

#include "Executable.h"

#include <cstdio>
#include <cstring>
#include <memory>

using namespace xtensor;

namespace {

PyObject *disagreement; // called with (text here, text of each process); raises

/// Words from a sequence of Python ints; whether there are as many.
bool words(PyObject *sequence, intptr_t *to, Py_ssize_t count) {
  auto list = steal(PySequence_Fast(sequence, "a sequence of addresses is needed"));
  if (!list)
    return false;
  bool fits = PySequence_Fast_GET_SIZE(list.get()) == count;
  if (!fits)
    PyErr_Format(PyExc_ValueError, "%zd addresses are needed", count);
  for (Py_ssize_t i = 0; fits && i < count; ++i)
    to[i] = static_cast<intptr_t>(
        PyLong_AsUnsignedLongLongMask(PySequence_Fast_GET_ITEM(list.get(), i)));
  return fits && !PyErr_Occurred();
}

PyObject *setMpi(PyObject *, PyObject *args) {
  PyObject *functions, *types, *ops, *handles;
  xt_mpi mpi;
  if (!PyArg_ParseTuple(args, "OOOOi", &functions, &types, &ops, &handles, &mpi.anything))
    return nullptr;
  intptr_t found[15], others[2];
  if (!words(functions, found, 15) || !words(types, mpi.types, 10) || !words(ops, mpi.ops, 4) ||
      !words(handles, others, 2))
    return nullptr;
  mpi.world = others[0], mpi.no_info = others[1];
  mpi.all_reduce = reinterpret_cast<decltype(mpi.all_reduce)>(found[0]);
  mpi.all_gather = reinterpret_cast<decltype(mpi.all_gather)>(found[1]);
  mpi.start_all_reduce = reinterpret_cast<decltype(mpi.start_all_reduce)>(found[2]);
  mpi.start_all_gather = reinterpret_cast<decltype(mpi.start_all_gather)>(found[3]);
  mpi.send = reinterpret_cast<decltype(mpi.send)>(found[4]);
  mpi.receive = reinterpret_cast<decltype(mpi.receive)>(found[5]);
  mpi.wait = reinterpret_cast<decltype(mpi.wait)>(found[6]);
  mpi.test = reinterpret_cast<decltype(mpi.test)>(found[7]);
  mpi.create_op = reinterpret_cast<decltype(mpi.create_op)>(found[8]);
  mpi.probe = reinterpret_cast<decltype(mpi.probe)>(found[9]);
  mpi.abort = reinterpret_cast<decltype(mpi.abort)>(found[10]);
  mpi.is_finalized = reinterpret_cast<decltype(mpi.is_finalized)>(found[11]);
  mpi.start = reinterpret_cast<decltype(mpi.start)>(found[12]);
  mpi.free_request = reinterpret_cast<decltype(mpi.free_request)>(found[13]);
  mpi.prepare_all_reduce = reinterpret_cast<decltype(mpi.prepare_all_reduce)>(found[14]);
  xt_set_mpi(&mpi);
  Py_RETURN_NONE;
}

PyObject *addCommunicator(PyObject *, PyObject *args) {
  PyObject *handle;
  long long index, processes;
  if (!PyArg_ParseTuple(args, "OLL", &handle, &index, &processes))
    return nullptr;
  unsigned long long word = PyLong_AsUnsignedLongLongMask(handle);
  if (PyErr_Occurred())
    return nullptr;
  return PyLong_FromLongLong(xt_add_communicator(static_cast<intptr_t>(word), index, processes));
}

PyObject *bytesSent(PyObject *, PyObject *) { return PyLong_FromLongLong(xt_bytes_sent()); }

PyObject *agree(PyObject *, PyObject *tuple) {
  Together *here = parseTogether(tuple);
  if (!here)
    return nullptr;
  int32_t differs;
  Py_BEGIN_ALLOW_THREADS;
  differs = xt_agree(&here->what);
  Py_END_ALLOW_THREADS;
  if (differs)
    raiseDisagreement(*here);
  delete here;
  return differs ? nullptr : Py_NewRef(Py_None);
}

PyObject *setDisagreement(PyObject *, PyObject *callable) {
  return replaceCallable(disagreement, callable);
}

PyObject *namePeer(PyObject *, PyObject *args) {
  long long communicator, process;
  const char *name;
  if (!PyArg_ParseTuple(args, "LLs", &communicator, &process, &name))
    return nullptr;
  xt_name_peer(communicator, process, name);
  Py_RETURN_NONE;
}

PyObject *watchPeer(PyObject *, PyObject *args) {
  long long communicator, process, pid;
  int connection;
  if (!PyArg_ParseTuple(args, "LLLi", &communicator, &process, &pid, &connection))
    return nullptr;
  xt_watch_peer(communicator, process, pid, connection);
  Py_RETURN_NONE;
}

/// What is told of a communicator, by its number.
template <void (*Tell)(int64_t)>
PyObject *ofCommunicator(PyObject *, PyObject *communicator) {
  long long number = PyLong_AsLongLong(communicator);
  if (PyErr_Occurred())
    return nullptr;
  Tell(number);
  Py_RETURN_NONE;
}

PyObject *isGone(PyObject *, PyObject *communicator) {
  long long number = PyLong_AsLongLong(communicator);
  return PyErr_Occurred() ? nullptr : PyBool_FromLong(xt_is_gone(number));
}

PyMethodDef functions[] = {
    {"set_mpi", setMpi, METH_VARARGS,
     "set_mpi(functions, types, ops, others, anything)\n--\n\nThe addresses and handles of xt_mpi "
     "(runtime.h)."},
    {"name_peer", namePeer, METH_VARARGS,
     "name_peer(communicator, process, name)\n--\n\nNames a process for messages (xt_name_peer)."},
    {"watch_peer", watchPeer, METH_VARARGS,
     "watch_peer(communicator, process, pid, connection)\n--\n\nThe death of this process of the "
     "machine is told (xt_watch_peer)."},
    {"peers_end", ofCommunicator<xt_peers_end>, METH_O,
     "peers_end(communicator)\n--\n\nFrom now on its processes end (xt_peers_end)."},
    {"forget_peers", ofCommunicator<xt_forget_peers>, METH_O,
     "forget_peers(communicator)\n--\n\nThis process makes no more calls with them "
     "(xt_forget_peers)."},
    {"is_gone", isGone, METH_O,
     "is_gone(communicator)\n--\n\nWhether its calls will never end (xt_is_gone)."},
    {"add_communicator", addCommunicator, METH_VARARGS,
     "add_communicator(handle, index, processes)\n--\n\nThe number by which collectives know it."},
    {"bytes_sent", bytesSent, METH_NOARGS,
     "bytes_sent()\n--\n\nBytes of arrays that this process has sent to others (xt_bytes_sent)."},
    {"agree", agree, METH_O,
     "agree(together)\n--\n\nRaises if the processes are about to do different things: each calls "
     "it with (communicator, program, text, patience, checks, equal), as xt_together of "
     "runtime.h."},
    {"set_disagreement", setDisagreement, METH_O,
     "set_disagreement(callable)\n--\n\nWhat is called with (why, text here, text of each "
     "process), "
     "to raise. Returns what it was before."},
    {}};

} // namespace

Together *xtensor::parseTogether(PyObject *tuple) {
  long long communicator, program;
  const char *text;
  double patience;
  int checks;
  PyObject *equal;
  if (!PyArg_ParseTuple(tuple, "LLsdpO!", &communicator, &program, &text, &patience, &checks,
                        &PyTuple_Type, &equal))
    return nullptr;
  auto made = std::make_unique<Together>();
  made->text = text, made->checks = checks;
  made->what = {communicator, program, made->text.c_str(), patience};
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(equal); ++i) {
    Py_ssize_t input;
    const char *name, *dtype;
    long long bytes;
    if (!PyArg_ParseTuple(PyTuple_GET_ITEM(equal, i), "nssL", &input, &name, &dtype, &bytes))
      return nullptr;
    made->equal.push_back({input, name, dtype, bytes});
  }
  return made.release();
}

/// Of memory: equal for equal bytes.
static uint64_t hashOf(const void *data, int64_t bytes) {
  uint64_t hash = 0x9E3779B97F4A7C15u + static_cast<uint64_t>(bytes);
  auto *from = static_cast<const char *>(data);
  for (; bytes > 0; bytes -= 8, from += 8) {
    uint64_t word = 0;
    std::memcpy(&word, from, bytes < 8 ? bytes : 8);
    hash = (hash ^ word) * 0xD6E8FEB86659FD93u;
    hash ^= hash >> 32;
  }
  return hash;
}

int64_t Meeting::hashed() const {
  uint64_t hash = 0;
  for (const Together::Equal &one : together->equal)
    hash = hash * 31 + hashOf(inputs[one.input], one.bytes);
  return static_cast<int64_t>(hash);
}

/// A number as Python writes it; else a hash.
static std::string valueOf(const Together::Equal &one, const void *data) {
  char text[64];
  if (one.dtype == "int64" && one.bytes == 8) {
    long long value;
    std::memcpy(&value, data, sizeof value);
    std::snprintf(text, sizeof text, "%lld", value);
    return text;
  }
  if (one.dtype == "float64" && one.bytes == 8) {
    double value;
    std::memcpy(&value, data, sizeof value);
    std::snprintf(text, sizeof text, "%.17g", value);
    return text;
  }
  if (one.dtype == "bool" && one.bytes == 1)
    return *static_cast<const char *>(data) ? "True" : "False";
  std::snprintf(text, sizeof text, "#%08llx",
                static_cast<unsigned long long>(hashOf(data, one.bytes) >> 32));
  return text;
}

void Meeting::describe(const xt_meeting *meeting, char *text, size_t bytes) {
  auto *self = reinterpret_cast<const Meeting *>(meeting); // its first member
  std::string all;
  for (const Together::Equal &one : self->together->equal)
    all +=
        (all.empty() ? " with " : ", ") + one.name + " = " + valueOf(one, self->inputs[one.input]);
  std::snprintf(text, bytes, "%s", all.c_str());
}

void xtensor::raiseDisagreement(const Together &here) {
  auto texts = steal(PyList_New(0));
  for (int64_t process = 0; texts; ++process) {
    const char *text = xt_told(process);
    if (!text)
      break;
    auto one = steal(PyUnicode_DecodeUTF8(text, strlen(text), "replace"));
    if (!one || PyList_Append(texts.get(), one.get()) < 0)
      texts = nullptr;
  }
  if (texts && disagreement)
    raiseBy(steal(
        PyObject_CallFunction(disagreement, "isO", xt_told_why(), here.text.c_str(), texts.get())));
  if (!PyErr_Occurred())
    PyErr_SetString(PyExc_RuntimeError, "the processes make different calls");
}

bool xtensor::initCollectives(PyObject *module) {
  return PyModule_AddFunctions(module, functions) == 0;
}
