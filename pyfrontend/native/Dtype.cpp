// Tables between our element types and those of Python, NumPy, the buffer protocol and DLPack.
#include "Dtype.h"
#include "NumPy.h"
#include "Ref.h"

#include <array>
#include <cstring>

using namespace xtensor;

namespace {

constexpr int kCount = 15;

// DLPack: int 0, uint 1, float 2, bfloat 4, complex 5, bool 6.
constexpr DtypeInfo kInfo[kCount] = {
    {"bool", 1, 6, "?"},    {"int8", 1, 0, "b"},         {"int16", 2, 0, "h"},
    {"int32", 4, 0, "i"},   {"int64", 8, 0, "q"},        {"uint8", 1, 1, "B"},
    {"uint16", 2, 1, "H"},  {"uint32", 4, 1, "I"},       {"uint64", 8, 1, "Q"},
    {"float16", 2, 2, "e"}, {"bfloat16", 2, 4, nullptr}, {"float32", 4, 2, "f"},
    {"float64", 8, 2, "d"}, {"complex64", 8, 5, "Zf"},   {"complex128", 16, 5, "Zd"},
};
constexpr int kNumpy[kCount] = {NPY_BOOL,  NPY_INT8,    NPY_INT16,   NPY_INT32,     NPY_INT64,
                                NPY_UINT8, NPY_UINT16,  NPY_UINT32,  NPY_UINT64,    NPY_FLOAT16,
                                -1,        NPY_FLOAT32, NPY_FLOAT64, NPY_COMPLEX64, NPY_COMPLEX128};

PyObject *names[kCount];
int bfloat16Type = -1; // known once ml_dtypes was seen

/// What NumPy makes of a dtype. Null with an exception set.
Ref<PyArray_Descr> descriptorOf(PyObject *dtype) {
  PyArray_Descr *found = nullptr;
  PyArray_DescrConverter(dtype, &found);
  return steal(found);
}

/// ml_dtypes registers bfloat16 with NumPy when it is imported. Only programs that use it pay for
/// it.
int findBfloat16() {
  if (bfloat16Type >= 0)
    return bfloat16Type;
  auto module = steal(PyImport_ImportModule("ml_dtypes"));
  auto scalar = steal(module ? PyObject_GetAttrString(module.get(), "bfloat16") : nullptr);
  if (auto descr = scalar ? descriptorOf(scalar.get()) : nullptr)
    bfloat16Type = descr->type_num;
  return bfloat16Type;
}

bool isBfloat16(PyArray_Descr *descr) {
  if (bfloat16Type >= 0)
    return descr->type_num == bfloat16Type;
  return descr->type_num >= NPY_USERDEF && descr->typeobj &&
         strcmp(descr->typeobj->tp_name, "ml_dtypes.bfloat16") == 0;
}

template <typename T>
T load(const void *p) {
  T value;
  memcpy(&value, p, sizeof value);
  return value;
}

template <typename T>
bool storeInt(PyObject *number, void *element) {
  auto index = steal(PyNumber_Index(number));
  if (!index)
    return false;
  // Out of range must be an error, not a wrapped value.
  bool isSigned = T(-1) < T(0), fits = true;
  T value;
  if (isSigned) {
    long long wide = PyLong_AsLongLong(index.get());
    value = static_cast<T>(wide), fits = static_cast<long long>(value) == wide;
  } else {
    unsigned long long wide = PyLong_AsUnsignedLongLong(index.get());
    value = static_cast<T>(wide), fits = static_cast<unsigned long long>(value) == wide;
  }
  if (PyErr_Occurred())
    return false;
  if (!fits) {
    PyErr_Format(PyExc_OverflowError, "%R does not fit into %zu bits", number, sizeof(T) * 8);
    return false;
  }
  memcpy(element, &value, sizeof value);
  return true;
}

uint16_t roundToBfloat16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  if (value != value)
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16); // ties to even
}

bool storeFloat(Dtype dtype, double value, void *element) {
  float single = static_cast<float>(value);
  uint16_t half;
  switch (dtype) {
  case Dtype::Float64:
    memcpy(element, &value, 8);
    return true;
  case Dtype::Float32:
    memcpy(element, &single, 4);
    return true;
  case Dtype::BFloat16:
    half = roundToBfloat16(single);
    memcpy(element, &half, 2);
    return true;
  default:
    if (PyFloat_Pack2(value, static_cast<char *>(element), 1) == 0)
      return true;
    if (!PyErr_ExceptionMatches(PyExc_OverflowError))
      return false;
    PyErr_Clear(); // as NumPy: too large is infinity
    half = value < 0 ? 0xfc00 : 0x7c00;
    memcpy(element, &half, 2);
    return true;
  }
}

bool storeComplex(Dtype dtype, PyObject *number, void *element) {
  Py_complex value = PyComplex_AsCComplex(number);
  if (value.real == -1.0 && PyErr_Occurred())
    return false;
  std::array<double, 2> wide = {value.real, value.imag};
  std::array<float, 2> narrow = {static_cast<float>(value.real), static_cast<float>(value.imag)};
  if (dtype == Dtype::Complex128)
    memcpy(element, &wide, sizeof wide);
  else
    memcpy(element, &narrow, sizeof narrow);
  return true;
}

} // namespace

const DtypeInfo &xtensor::info(Dtype dtype) { return kInfo[static_cast<int>(dtype)]; }

bool xtensor::initDtypes() {
  for (int i = 0; i < kCount; ++i)
    if (!names[i] && !(names[i] = PyUnicode_InternFromString(kInfo[i].name)))
      return false;
  return true;
}

PyObject *xtensor::nameOf(Dtype dtype) { return Py_NewRef(names[static_cast<int>(dtype)]); }

bool xtensor::parseDtype(PyObject *object, Dtype &dtype) {
  for (int i = 0; i < kCount; ++i)
    if (object == names[i]) {
      dtype = static_cast<Dtype>(i);
      return true;
    }
  if (PyUnicode_Check(object))
    for (int i = 0; i < kCount; ++i)
      if (PyUnicode_CompareWithASCIIString(object, kInfo[i].name) == 0) {
        dtype = static_cast<Dtype>(i);
        return true;
      }
  auto descr = object == Py_None ? nullptr : descriptorOf(object);
  if (!descr) {
    if (!PyErr_Occurred())
      PyErr_SetString(PyExc_TypeError, "None is not a dtype");
    return false;
  }
  bool known = isBfloat16(descr.get()) && findBfloat16() >= 0;
  if (known)
    dtype = Dtype::BFloat16;
  else
    known = !PyErr_Occurred() && fromNumpyType(descr->type_num, dtype);
  if (!known && !PyErr_Occurred())
    PyErr_Format(PyExc_TypeError,
                 "an array cannot hold %S: the dtypes are bool, int8 to int64, uint8 to uint64, "
                 "float16, bfloat16, float32, float64, complex64 and complex128",
                 descr.get());
  return known;
}

int xtensor::numpyType(Dtype dtype) {
  return dtype == Dtype::BFloat16 ? findBfloat16() : kNumpy[static_cast<int>(dtype)];
}

bool xtensor::fromNumpyType(int type, Dtype &dtype) {
  if (type == NPY_LONGLONG || type == NPY_ULONGLONG) {
    dtype = type == NPY_LONGLONG ? Dtype::Int64 : Dtype::UInt64;
    return true;
  }
  if (type < 0)
    return false;
  if (type == bfloat16Type) {
    dtype = Dtype::BFloat16;
    return true;
  }
  for (int i = 0; i < kCount; ++i)
    if (kNumpy[i] == type) {
      dtype = static_cast<Dtype>(i);
      return true;
    }
  return false;
}

bool xtensor::fromDlpack(int code, int bits, Dtype &dtype) {
  for (int i = 0; i < kCount; ++i)
    if (kInfo[i].dlpackCode == code && kInfo[i].itemsize * 8 == bits) {
      dtype = static_cast<Dtype>(i);
      return true;
    }
  return false;
}

PyObject *xtensor::toPython(Dtype dtype, const void *p) {
  switch (dtype) {
  case Dtype::Bool:
    return PyBool_FromLong(load<uint8_t>(p));
  case Dtype::Int8:
    return PyLong_FromLong(load<int8_t>(p));
  case Dtype::Int16:
    return PyLong_FromLong(load<int16_t>(p));
  case Dtype::Int32:
    return PyLong_FromLong(load<int32_t>(p));
  case Dtype::Int64:
    return PyLong_FromLongLong(load<int64_t>(p));
  case Dtype::UInt8:
    return PyLong_FromLong(load<uint8_t>(p));
  case Dtype::UInt16:
    return PyLong_FromLong(load<uint16_t>(p));
  case Dtype::UInt32:
    return PyLong_FromUnsignedLong(load<uint32_t>(p));
  case Dtype::UInt64:
    return PyLong_FromUnsignedLongLong(load<uint64_t>(p));
  case Dtype::Float16:
    return PyFloat_FromDouble(PyFloat_Unpack2(static_cast<const char *>(p), 1));
  case Dtype::BFloat16: {
    uint32_t bits = uint32_t(load<uint16_t>(p)) << 16;
    return PyFloat_FromDouble(load<float>(&bits));
  }
  case Dtype::Float32:
    return PyFloat_FromDouble(load<float>(p));
  case Dtype::Float64:
    return PyFloat_FromDouble(load<double>(p));
  case Dtype::Complex64: {
    auto parts = load<std::array<float, 2>>(p);
    return PyComplex_FromDoubles(parts[0], parts[1]);
  }
  case Dtype::Complex128: {
    auto parts = load<std::array<double, 2>>(p);
    return PyComplex_FromDoubles(parts[0], parts[1]);
  }
  }
  Py_UNREACHABLE();
}

bool xtensor::fromPython(Dtype dtype, PyObject *number, void *element) {
  switch (dtype) {
  case Dtype::Bool: {
    int truth = PyObject_IsTrue(number);
    *static_cast<uint8_t *>(element) = truth > 0;
    return truth >= 0;
  }
  case Dtype::Int8:
    return storeInt<int8_t>(number, element);
  case Dtype::Int16:
    return storeInt<int16_t>(number, element);
  case Dtype::Int32:
    return storeInt<int32_t>(number, element);
  case Dtype::Int64:
    return storeInt<int64_t>(number, element);
  case Dtype::UInt8:
    return storeInt<uint8_t>(number, element);
  case Dtype::UInt16:
    return storeInt<uint16_t>(number, element);
  case Dtype::UInt32:
    return storeInt<uint32_t>(number, element);
  case Dtype::UInt64:
    return storeInt<uint64_t>(number, element);
  case Dtype::Complex64:
  case Dtype::Complex128:
    return storeComplex(dtype, number, element);
  default:
    break;
  }
  double value = PyFloat_AsDouble(number);
  return !(value == -1.0 && PyErr_Occurred()) && storeFloat(dtype, value, element);
}
