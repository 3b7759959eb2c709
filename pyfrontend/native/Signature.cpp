// What an executable takes and returns: types with sizes that may be known at the call only, parsed
// and resolved.
#include "Signature.h"

using namespace xtensor;

namespace {

constexpr size_t kRecent = 8;

int numberOf(std::vector<PyObject *> &dims, PyObject *name, bool mayAdd) {
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] == name || PyUnicode_Compare(dims[i], name) == 0)
      return static_cast<int>(i);
  if (!mayAdd) {
    PyErr_Format(PyExc_ValueError, "no input has a dynamic dim '%U'", name);
    return -1;
  }
  dims.push_back(name);
  return static_cast<int>(dims.size()) - 1;
}

bool multiply(PyObject *factor, std::vector<PyObject *> &dims, SizePattern &size) {
  if (PyUnicode_Check(factor)) {
    int number = numberOf(dims, factor, false);
    if (number >= 0)
      size.dynamic.push_back(number);
    return number >= 0;
  }
  int64_t value = PyNumber_AsSsize_t(factor, PyExc_OverflowError);
  if (value == -1 && PyErr_Occurred())
    return false;
  if (value < 0 || __builtin_mul_overflow(size.factor, value, &size.factor)) {
    PyErr_Format(PyExc_ValueError, "%R is not a size", factor);
    return false;
  }
  return true;
}

bool parseSize(PyObject *object, PyObject *dim, std::vector<PyObject *> &dims, bool input,
               SizePattern &size) {
  if (object == Py_None) {
    int number = numberOf(dims, dim, input);
    if (number >= 0)
      size.dynamic.push_back(number);
    return number >= 0;
  }
  if (PyList_Check(object) && !input) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(object); ++i)
      if (!multiply(PyList_GET_ITEM(object, i), dims, size))
        return false;
    return true;
  }
  if (PyUnicode_Check(object) && input) {
    PyErr_Format(PyExc_TypeError, "the size of an input's dim is an int or None, not %R", object);
    return false;
  }
  return multiply(object, dims, size);
}

bool parsePattern(PyObject *object, std::vector<PyObject *> &dynamicDims, bool input,
                  TypePattern &p) {
  if (isType(object)) {
    auto *type = reinterpret_cast<Type *>(object);
    p.fixed = borrow(type), p.dtype = type->dtype, p.dims = borrow(type->dims);
    for (int i = 0; i < type->rank; ++i)
      p.sizes.push_back({type->sizes[i], {}});
    return true;
  }
  PyObject *dtypeArg, *dimsArg, *sizesArg;
  if (!PyTuple_Check(object) || PyTuple_GET_SIZE(object) != 3) {
    PyErr_Format(PyExc_TypeError, "a type is an ArrayType or a tuple (dtype, dims, sizes), not %R",
                 object);
    return false;
  }
  if (!PyArg_ParseTuple(object, "OOO", &dtypeArg, &dimsArg, &sizesArg) ||
      !parseDtype(dtypeArg, p.dtype) || !(p.dims = steal(internDims(dimsArg))))
    return false;
  auto sizes = steal(PySequence_Fast(sizesArg, "sizes must be a sequence"));
  Py_ssize_t rank = PyTuple_GET_SIZE(p.dims.get());
  bool ok = sizes && PySequence_Fast_GET_SIZE(sizes.get()) == rank;
  if (sizes && !ok)
    PyErr_Format(PyExc_ValueError, "%zd dims %R, but sizes %R", rank, p.dims.get(), sizesArg);
  bool dynamic = false;
  for (Py_ssize_t i = 0; ok && i < rank; ++i) {
    p.sizes.emplace_back();
    ok = parseSize(PySequence_Fast_GET_ITEM(sizes.get(), i), PyTuple_GET_ITEM(p.dims.get(), i),
                   dynamicDims, input, p.sizes.back());
    dynamic |= !p.sizes.back().dynamic.empty();
  }
  if (!ok || dynamic)
    return ok;
  p.fixed = resolve(p, nullptr);
  return static_cast<bool>(p.fixed);
}

} // namespace

bool xtensor::parseEqualities(PyObject *list, Signature &signature) {
  auto items = steal(PySequence_Fast(list, "equal must be a sequence"));
  bool ok = static_cast<bool>(items);
  for (Py_ssize_t i = 0; ok && i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
    PyObject *left, *right, *refuse;
    Signature::Equality e;
    ok =
        PyArg_ParseTuple(PySequence_Fast_GET_ITEM(items.get(), i), "OOO", &left, &right, &refuse) &&
        parseSize(left, nullptr, signature.dynamicDims, false, e.left) &&
        (right == Py_None || parseSize(right, nullptr, signature.dynamicDims, false, e.right));
    if (ok) {
      e.isNonempty = right == Py_None;
      e.refuse = borrow(refuse);
      signature.equalities.push_back(std::move(e));
    }
  }
  return ok;
}

/// Saturates: what does not fit is equal to nothing that does.
static int64_t sizeFor(const SizePattern &size, const int64_t *sizes) {
  int64_t product = size.factor;
  for (int number : size.dynamic)
    if (__builtin_mul_overflow(product, sizes[number], &product))
      return INT64_MAX;
  return product;
}

bool xtensor::sizesAgree(const Signature &signature, const int64_t *sizes) {
  for (const Signature::Equality &e : signature.equalities) {
    int64_t left = sizeFor(e.left, sizes), right = e.isNonempty ? 0 : sizeFor(e.right, sizes);
    if ((left == right) != e.isNonempty)
      continue;
    if (e.refuse)
      steal(PyObject_CallFunction(e.refuse.get(), "LL", (long long)left, (long long)right));
    if (!PyErr_Occurred())
      PyErr_SetString(PyExc_ValueError, "dynamic dims of one name have different sizes");
    return false;
  }
  return true;
}

Ref<Type> xtensor::resolve(const TypePattern &pattern, const int64_t *dynamicSizes) {
  if (pattern.fixed)
    return borrow(pattern.fixed.get());
  int64_t sizes[kMaxRank];
  for (size_t i = 0; i < pattern.sizes.size(); ++i) {
    sizes[i] = pattern.sizes[i].factor;
    for (int number : pattern.sizes[i].dynamic)
      if (__builtin_mul_overflow(sizes[i], dynamicSizes[number], &sizes[i])) {
        PyErr_SetString(PyExc_OverflowError, "the size of a result does not fit into 64 bits");
        return nullptr;
      }
  }
  return steal(internType(pattern.dtype, pattern.dims.get(), sizes));
}

const TypeList *Signature::outputsFor(const int64_t *sizes) {
  if (!dynamic)
    return &fixedOutputs;
  size_t n = dynamicDims.size();
  for (const Resolved &r : recent)
    if (std::equal(sizes, sizes + n, r.sizes.begin()))
      return &r.outputs;
  Resolved fresh;
  fresh.sizes.assign(sizes, sizes + n);
  for (const TypePattern &p : outputs) {
    auto type = resolve(p, sizes);
    if (!type)
      return nullptr;
    fresh.outputs.add(std::move(type));
  }
  if (recent.size() < kRecent) {
    recent.reserve(kRecent);
    recent.push_back(std::move(fresh));
    return &recent.back().outputs;
  }
  Resolved &slot = recent[nextRecent++ % kRecent];
  slot = std::move(fresh);
  return &slot.outputs;
}

bool xtensor::parseSignature(PyObject *inputs, PyObject *outputs, Signature &signature) {
  for (bool input : {true, false}) {
    auto list = steal(
        PySequence_Fast(input ? inputs : outputs, "inputs and outputs must be sequences of types"));
    if (!list)
      return false;
    auto &patterns = input ? signature.inputs : signature.outputs;
    bool ok = true;
    for (Py_ssize_t i = 0; ok && i < PySequence_Fast_GET_SIZE(list.get()); ++i) {
      patterns.emplace_back();
      ok = parsePattern(PySequence_Fast_GET_ITEM(list.get(), i), signature.dynamicDims, input,
                        patterns.back());
      signature.dynamic |= ok && !patterns.back().fixed;
    }
    if (!ok)
      return false;
  }
  if (signature.dynamic)
    return true;
  for (TypePattern &p : signature.inputs)
    signature.fixedBytes += p.fixed->nbytes;
  for (TypePattern &p : signature.outputs)
    signature.fixedOutputs.add(resolve(p, nullptr));
  signature.fixedBytes += signature.fixedOutputs.nbytes();
  return true;
}
