// The MPI library of this process, as the runtime calls it: Python finds it, by mpi4py.
#include "Collectives.h"

#include "Executable.h"

#include <cstring>

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
  PyObject *functions, *types, *ops;
  xt_mpi mpi;
  if (!PyArg_ParseTuple(args, "OOO", &functions, &types, &ops))
    return nullptr;
  intptr_t found[9];
  if (!words(functions, found, 9) || !words(types, mpi.types, 10) || !words(ops, mpi.ops, 4))
    return nullptr;
  mpi.all_reduce = reinterpret_cast<decltype(mpi.all_reduce)>(found[0]);
  mpi.all_gather = reinterpret_cast<decltype(mpi.all_gather)>(found[1]);
  mpi.start_all_reduce = reinterpret_cast<decltype(mpi.start_all_reduce)>(found[2]);
  mpi.start_all_gather = reinterpret_cast<decltype(mpi.start_all_gather)>(found[3]);
  mpi.send = reinterpret_cast<decltype(mpi.send)>(found[4]);
  mpi.receive = reinterpret_cast<decltype(mpi.receive)>(found[5]);
  mpi.wait = reinterpret_cast<decltype(mpi.wait)>(found[6]);
  mpi.test = reinterpret_cast<decltype(mpi.test)>(found[7]);
  mpi.create_op = reinterpret_cast<decltype(mpi.create_op)>(found[8]);
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

PyMethodDef functions[] = {
    {"set_mpi", setMpi, METH_VARARGS,
     "set_mpi(functions, types, ops)\n--\n\nThe addresses and handles of xt_mpi "
     "(runtime.h)."},
    {"add_communicator", addCommunicator, METH_VARARGS,
     "add_communicator(handle, index, processes)\n--\n\nThe number by which collectives know it."},
    {"bytes_sent", bytesSent, METH_NOARGS,
     "bytes_sent()\n--\n\nBytes of arrays that this process has sent to others (xt_bytes_sent)."},
    {"agree", agree, METH_O,
     "agree(together)\n--\n\nRaises if the processes are about to do different things: each calls "
     "it with (communicator, program, text, patience), as xt_together of runtime.h."},
    {"set_disagreement", setDisagreement, METH_O,
     "set_disagreement(callable)\n--\n\nWhat is called with (text here, text of each process), to "
     "raise. Returns what it was before."},
    {}};

} // namespace

Together *xtensor::parseTogether(PyObject *tuple) {
  long long communicator, program;
  const char *text;
  double patience;
  if (!PyArg_ParseTuple(tuple, "LLsd", &communicator, &program, &text, &patience))
    return nullptr;
  auto *made = new Together{text, {communicator, program, nullptr, patience}};
  made->what.text = made->text.c_str();
  return made;
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
    raiseBy(steal(PyObject_CallFunction(disagreement, "sO", here.text.c_str(), texts.get())));
  if (!PyErr_Occurred())
    PyErr_SetString(PyExc_RuntimeError, "the processes make different calls");
}

bool xtensor::initCollectives(PyObject *module) {
  return PyModule_AddFunctions(module, functions) == 0;
}
