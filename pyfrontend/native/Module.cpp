// xtensor._native: arrays, compiled functions, and the conversions between them and Python. This
// file runs once per process.
#define XTENSOR_IMPORT_NUMPY
#include "NumPy.h"

#include "Array.h"
#include "Bundle.h"
#include "Callbacks.h"
#include "Collectives.h"
#include "DeviceCall.h"
#include "Devices.h"
#include "Donation.h"
#include "Executable.h"
#include "Function.h"
#include "JaxCall.h"
#include "Preload.h"
#include "Profile.h"
#include "Signals.h"
#include "Version.h"

#include <cstdlib>
#include <cstring>
#include <vector>

using namespace xtensor;

namespace {

/// CPython loads this module once: another interpreter that imports it would share its types and
/// static state with the first. It would also import NumPy, which then fails in all others.
bool isPlaceForUs() {
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
    PyErr_SetString(PyExc_ImportError,
                    "xtensor works in the main interpreter of a process, and this is a "
                    "sub-interpreter: import it there, or start a process (multiprocessing)");
    return false;
  }
#ifdef Py_GIL_DISABLED
  // CPython has switched the GIL on for us, with a warning, unless the user forbids that.
  PyObject *asks = PySys_GetObject("_is_gil_enabled");
  auto answer = steal(asks ? PyObject_CallNoArgs(asks) : nullptr);
  if (!answer)
    return false;
  if (answer.get() != Py_True) {
    PyErr_SetString(PyExc_ImportError,
                    "xtensor needs the GIL, and this free-threaded Python runs without: "
                    "start it without PYTHON_GIL=0 and -X gil=0");
    return false;
  }
#endif
  return true;
}

PyObject *checkPlace(PyObject *, PyObject *) {
  if (!isPlaceForUs())
    return nullptr;
  Py_RETURN_NONE;
}

PyObject *version(PyObject *, PyObject *) { return PyUnicode_FromString(xt_version()); }

PyObject *numThreads(PyObject *, PyObject *) { return PyLong_FromLong(xt_num_threads()); }

PyObject *setNumThreads(PyObject *, PyObject *arg) {
  int n = static_cast<int>(PyNumber_AsSsize_t(arg, nullptr));
  if (n == -1 && PyErr_Occurred())
    return nullptr;
  Py_BEGIN_ALLOW_THREADS;
  xt_set_num_threads(n);
  Py_END_ALLOW_THREADS;
  Py_RETURN_NONE;
}

PyObject *cachedBytes(PyObject *, PyObject *) { return PyLong_FromSize_t(xt_cached_bytes()); }

PyObject *trim(PyObject *, PyObject *) {
  xt_trim();
  Py_RETURN_NONE;
}

PyObject *blasName(PyObject *, PyObject *) { return PyUnicode_FromString(xt_blas_name()); }

PyObject *lapackName(PyObject *, PyObject *) {
  const char *name = xt_lapack_name();
  if (!name)
    Py_RETURN_NONE;
  return PyUnicode_FromString(name);
}

PyObject *profileStart(PyObject *, PyObject *) {
  xt_profile_start();
  Py_RETURN_NONE;
}

PyObject *profileStop(PyObject *, PyObject *) {
  xt_profile_stop();
  Py_RETURN_NONE;
}

PyObject *profileTake(PyObject *, PyObject *) {
  constexpr int64_t kRoom = 4096;
  auto parts = steal(PyList_New(0));
  if (!parts)
    return nullptr;
  int64_t dropped = 0;
  std::vector<xt_span> spans(kRoom);
  for (int64_t count = kRoom; count == kRoom;) {
    count = xt_profile_take(spans.data(), kRoom, &dropped);
    auto part = steal(PyBytes_FromStringAndSize(reinterpret_cast<char *>(spans.data()),
                                                count * static_cast<int64_t>(sizeof(xt_span))));
    if (!part || PyList_Append(parts.get(), part.get()) < 0)
      return nullptr;
  }
  return Py_BuildValue("(OL)", parts.get(), static_cast<long long>(dropped));
}

PyMethodDef functions[] = {
    {"check_place", checkPlace, METH_NOARGS,
     "check_place()\n--\n\nRaises ImportError in a sub-interpreter, and without a GIL."},
    {"num_threads", numThreads, METH_NOARGS,
     "num_threads()\n--\n\nThreads that compiled code uses."},
    {"set_num_threads", setNumThreads, METH_O,
     "set_num_threads(n)\n--\n\nSets how many threads compiled code uses; 0: as at the start."},
    {"cached_bytes", cachedBytes, METH_NOARGS,
     "cached_bytes()\n--\n\nBytes of freed buffers kept for reuse."},
    {"trim", trim, METH_NOARGS, "trim()\n--\n\nGives the freed buffers back to the system."},
    {"profile_start", profileStart, METH_NOARGS,
     "profile_start()\n--\n\nRecords spans of programs that are profiled; recordings nest."},
    {"profile_stop", profileStop, METH_NOARGS, "profile_stop()\n--\n\nEnds a recording."},
    {"profile_take", profileTake, METH_NOARGS,
     "profile_take()\n--\n\nThe spans since it was last called (xt_span of runtime.h), as bytes in "
     "a list, and how many found no room."},
    {"lapack_name", lapackName, METH_NOARGS,
     "lapack_name()\n--\n\nThe library behind xt.linalg, or None."},
    {"version", version, METH_NOARGS, "version()\n--\n\nThe version of xtensor."},
    {"blas_name", blasName, METH_NOARGS, "blas_name()\n--\n\nThe matrix library in use."},
    {}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "xtensor._native",
                          "Arrays and compiled functions.",
                          -1,
                          functions,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

bool initJax([[maybe_unused]] PyObject *module) {
#ifdef XTENSOR_JAX
  return initJaxCall(module);
#else
  return true; // xt.to_jax says what is missing
#endif
}

} // namespace

PyMODINIT_FUNC PyInit__native() {
  if (!isPlaceForUs())
    return nullptr;
  // base/blas.py sets it for the runtime's OpenBLAS, which is loaded by now. NumPy has another.
  if (const char *threads = getenv("OPENBLAS_NUM_THREADS"); threads && !strcmp(threads, "01"))
    unsetenv("OPENBLAS_NUM_THREADS");
  if (_import_array() < 0)
    return nullptr;
  // The loader holds the dynamic linker's lock, for which every later import of an extension would
  // wait. So those come first that the package needs; beside the loader run its modules in Python.
  for (const char *name : {"ml_dtypes", "hashlib", "json"})
    if (!steal(PyImport_ImportModule(name)))
      return nullptr;
  startLoadingCompiler();
  auto owned = steal(PyModule_Create(&definition));
  PyObject *module = owned.get();
  if (!module)
    return nullptr;
  if (initDtypes() && initType(module) && initDevices(module) && initArray(module) &&
      initExecutable(module) && initDeviceCall(module) && initSignals() && initFunction(module) &&
      initBundle(module) && initDonation(module) && initCollectives(module) &&
      initCallbacks(module) && initJax(module))
    return owned.release();
  return nullptr;
}
