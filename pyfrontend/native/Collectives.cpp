// The MPI library of this process, as the runtime calls it: Python finds it, by mpi4py.
#include "Collectives.h"

#include "runtime.h"

using namespace xtensor;

namespace {

/// Words from a sequence of Python ints; whether there are as many.
bool words(PyObject *sequence, intptr_t *to, Py_ssize_t count) {
  PyObject *list = PySequence_Fast(sequence, "a sequence of addresses is needed");
  if (!list)
    return false;
  bool fits = PySequence_Fast_GET_SIZE(list) == count;
  if (!fits)
    PyErr_Format(PyExc_ValueError, "%zd addresses are needed", count);
  for (Py_ssize_t i = 0; fits && i < count; ++i)
    to[i] = static_cast<intptr_t>(PyLong_AsUnsignedLongLongMask(PySequence_Fast_GET_ITEM(list, i)));
  Py_DECREF(list);
  return fits && !PyErr_Occurred();
}

PyObject *setMpi(PyObject *, PyObject *args) {
  PyObject *functions, *types, *ops;
  if (!PyArg_ParseTuple(args, "OOO", &functions, &types, &ops))
    return nullptr;
  xt_mpi mpi;
  intptr_t found[3];
  if (!words(functions, found, 3) || !words(types, mpi.types, 10) || !words(ops, mpi.ops, 4))
    return nullptr;
  mpi.all_reduce = reinterpret_cast<decltype(mpi.all_reduce)>(found[0]);
  mpi.all_gather = reinterpret_cast<decltype(mpi.all_gather)>(found[1]);
  mpi.create_op = reinterpret_cast<decltype(mpi.create_op)>(found[2]);
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

PyMethodDef functions[] = {
    {"set_mpi", setMpi, METH_VARARGS,
     "set_mpi(functions, types, ops)\n--\n\nThe addresses and handles of xt_mpi (runtime.h)."},
    {"add_communicator", addCommunicator, METH_VARARGS,
     "add_communicator(handle, index, processes)\n--\n\nThe number by which collectives know it."},
    {}};

} // namespace

bool xtensor::initCollectives(PyObject *module) {
  return PyModule_AddFunctions(module, functions) == 0;
}
