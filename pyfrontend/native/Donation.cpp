#include "Donation.h"
#include "Devices.h"
#include "Executable.h"
#include "Function.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace xtensor;

namespace {

PyObject *donatedError; // called with (dtype, dims, sizes, function, FILE:LINE); raises
Running *firstRunning;

// Marks in Array::shares of arrays that no view shares, while one call looks at its arguments.
constexpr size_t kCandidate = ~size_t(0), kSeen = kCandidate - 1, kTwice = kCandidate - 2;

/// (function, file, line) of the innermost frame that is not the package's.
Ref<> placeOfCaller(PyObject *function) {
  auto frame = steal(PyThreadState_GetFrame(PyThreadState_Get()));
  Ref<PyCodeObject> code;
  while (frame) {
    code = steal(PyFrame_GetCode(frame.get()));
    if (!isPackageCode(code.get()))
      break;
    frame = steal(PyFrame_GetBack(frame.get()));
  }
  int line = frame ? PyFrame_GetLineNumber(frame.get()) : 0;
  return steal(Py_BuildValue("OOi", function ? function : Py_None,
                             code ? code->co_filename : Py_None, line));
}

/// The array that owns the memory of `a`, if arrays own it and no other object shows it.
Array *soleOwner(Array *a) {
  if (a->shares || (a->base && !isArray(a->base)))
    return nullptr;
  if (!a->base)
    return a;
  auto *owner = reinterpret_cast<Array *>(a->base);
  bool isAll = !owner->base && owner->data == a->data && owner->type->nbytes == a->type->nbytes;
  return isAll && owner->shares == 1 && Py_REFCNT(owner) == 1 ? owner : nullptr;
}

PyObject *setDonatedError(PyObject *, PyObject *callable) {
  return replaceCallable(donatedError, callable);
}

PyMethodDef functions[] = {{"set_donated_error", setDonatedError, METH_O,
                            "set_donated_error(callable)\n--\n\nWhat is called with (dtype, dims, "
                            "sizes, function, place), to raise, where an array is used that a call "
                            "took over. Returns what it was before."},
                           {}};

} // namespace

PyObject *xtensor::donationOf(Array *a) {
  if (!isDonated(a) || !a->base || !PyTuple_Check(a->base))
    Py_RETURN_NONE;
  return PyTuple_GetSlice(a->base, 0, 3);
}

void xtensor::raiseDonated(Array *a) {
  auto place = steal(donationOf(a));
  if (place && donatedError && PyTuple_Check(place.get()))
    steal(PyObject_CallFunction(donatedError, "sOOO", info(a->type->dtype).name, a->type->dims,
                                a->type->shape, place.get()));
  if (!PyErr_Occurred())
    PyErr_SetString(PyExc_ValueError, "an array was used that a call took over");
}

xtensor::Running::Running(void **buffers, size_t count)
    : buffers(buffers), count(count), next(firstRunning) {
  if (next)
    next->previous = this;
  firstRunning = this;
}

xtensor::Running::~Running() {
  if (next)
    next->previous = previous;
  (previous ? previous->next : firstRunning) = next;
}

bool xtensor::Running::uses(const void *data) {
  for (Running *call = firstRunning; call; call = call->next)
    if (std::find(call->buffers, call->buffers + call->count, data) != call->buffers + call->count)
      return true;
  return false;
}

xtensor::Takeover::Takeover(const Executable *e, PyObject *const *given, size_t count)
    : executable(e), given(given), count(count) {
  place = placeOfCaller(e->name); // may collect garbage, which may run any code
  findFree();
}

Array *xtensor::Takeover::array(size_t input) const {
  return input < count && isArray(given[input]) ? reinterpret_cast<Array *>(given[input]) : nullptr;
}

void xtensor::Takeover::findFree() {
  const std::vector<size_t> &inputs = executable->donation->inputs;
  for (size_t input : inputs)
    if (Array *a = array(input); a && soleOwner(a) && !Running::uses(a->data))
      a->shares = kCandidate;
  // One that is given twice is not to be written to: the second time it is read.
  for (size_t i = 0; i < count; ++i)
    if (Array *a = array(i))
      a->shares = a->shares == kCandidate ? kSeen : a->shares == kSeen ? kTwice : a->shares;
  for (size_t input : inputs) {
    Array *a = array(input);
    free.push_back(a && a->shares == kSeen);
  }
  for (size_t input : inputs)
    if (Array *a = array(input); a && a->shares >= kTwice)
      a->shares = 0;
}

bool xtensor::Takeover::isFree(size_t input) const {
  const std::vector<size_t> &inputs = executable->donation->inputs;
  size_t i = std::lower_bound(inputs.begin(), inputs.end(), input) - inputs.begin();
  return free[i];
}

Array *xtensor::Takeover::result(size_t i, Type *type) const {
  Py_ssize_t input = executable->donation->reused.empty() ? -1 : executable->donation->reused[i];
  if (input < 0 || !isFree(input))
    return newArray(type, executable->device);
  return newShell(type);
}

bool xtensor::Takeover::giveUp(Array *a, bool isAlone) {
  auto keeper = steal(newShell(a->type));
  if (!keeper)
    return false;
  PyObject *told =
      isAlone ? Py_NewRef(place.get())
              : PyTuple_Pack(4, PyTuple_GET_ITEM(place.get(), 0), PyTuple_GET_ITEM(place.get(), 1),
                             PyTuple_GET_ITEM(place.get(), 2), keeper.object());
  if (!told)
    return false;
  keeper->data = std::exchange(a->data, nullptr);
  keeper->device = a->device;
  keeper->base = std::exchange(a->base, told);
  if (isAlone) // else views of the array, and calls that are running, still read it
    kept.push_back(std::move(keeper));
  return true;
}

bool xtensor::Takeover::commit(PyObject *const *results, void **buffers) {
  const Donation &donation = *executable->donation;
  size_t inputs = executable->signature->inputs.size();
  if (!place)
    return false;
  for (size_t i = 0; i < donation.reused.size(); ++i) {
    Py_ssize_t input = donation.reused[i];
    if (input < 0)
      continue;
    auto *out = reinterpret_cast<Array *>(results[i]);
    if (Array *a = array(input); a && a->type->nbytes != out->type->nbytes) {
      PyErr_Format(PyExc_RuntimeError,
                   "result %zu, %R, was to lie in the memory of an argument, %R. This is an error "
                   "of the compiler: please report the program",
                   i, out->type, a->type);
      return false;
    }
    if (isFree(input)) {
      Array *a = array(input), *owner = soleOwner(a);
      out->data = std::exchange(owner->data, nullptr);
      a->data = nullptr;
      auto base = steal(std::exchange(a->base, Py_NewRef(place.get())));
      if (base) {
        owner->base = Py_NewRef(place.get());
        --owner->shares;
      }
    } else {
      memcpy(out->data, buffers[input], out->type->nbytes);
    }
    buffers[input] = buffers[inputs + i] = out->data;
  }
  bool ok = true;
  for (size_t input : donation.inputs)
    if (Array *a = array(input); ok && a && !isDonated(a)) {
      bool isOthers = a->base && !isArray(a->base) && !a->shares;
      bool isAlone = isFree(input) || (isOthers && !Running::uses(a->data));
      ok = giveUp(a, isAlone);
    }
  return ok;
}

bool xtensor::initDonation(PyObject *module) {
  return PyModule_AddFunctions(module, functions) == 0;
}
