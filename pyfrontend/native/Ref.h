// Ref: owns one reference to an object of Python, at the cost of a pointer. This extension's hot
// path is CPython's C API, without nanobind, whose nb::object the bindings of the compiler use.
//
// Two kinds of owners stay plain pointers: fields of Python objects, which CPython allocates and
// tp_dealloc lets go, and variables of the process, which must not be let go after Python has
// ended.
#pragma once

#include <Python.h>

#include <cstddef>
#include <utility>

namespace xtensor {

template <typename T = PyObject>
class Ref {
public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  Ref(Ref &&other) noexcept : held(other.release()) {}
  Ref &operator=(Ref &&other) noexcept {
    // The old object goes last, as its end may run any code.
    T *old = std::exchange(held, other.release());
    Py_XDECREF(old);
    return *this;
  }
  ~Ref() { Py_XDECREF(held); }

  explicit operator bool() const { return held; }
  T *get() const { return held; }
  T *operator->() const { return held; }
  PyObject *object() const { return reinterpret_cast<PyObject *>(held); }
  /// Gives the reference away.
  T *release() { return std::exchange(held, nullptr); }
  PyObject *releaseObject() { return reinterpret_cast<PyObject *>(release()); }

private:
  template <typename U>
  friend Ref<U> steal(U *object);
  T *held = nullptr;
};

/// Takes over a new reference; null stays null.
template <typename T>
Ref<T> steal(T *object) {
  Ref<T> made;
  made.held = object;
  return made;
}

/// Takes a reference of its own; null stays null.
template <typename T>
Ref<T> borrow(T *object) {
  Py_XINCREF(object);
  return steal(object);
}

} // namespace xtensor
