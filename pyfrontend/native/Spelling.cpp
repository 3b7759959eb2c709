#include "Spelling.h"
#include "Array.h"
#include "NumPy.h"

#include <algorithm>
#include <cstring>

using namespace xtensor;

namespace {

constexpr int kDeepest = 100;

/// Texts and ints alone: nothing runs that compares them.
bool isKey(PyObject *o) { return PyUnicode_CheckExact(o) || PyLong_CheckExact(o); }

/// Floats by their bits: -0.0 is another one than 0.0, and NaN is itself.
bool isSame(PyObject *a, PyObject *b) {
  if (a == b)
    return true;
  if (Py_TYPE(a) != Py_TYPE(b))
    return false;
  if (PyFloat_CheckExact(a)) {
    double x = PyFloat_AS_DOUBLE(a), y = PyFloat_AS_DOUBLE(b);
    return std::memcmp(&x, &y, sizeof x) == 0;
  }
  return isKey(a) && PyObject_RichCompareBool(a, b, Py_EQ) > 0;
}

bool refuse(const char *what, PyObject *item) {
  if (!PyErr_Occurred())
    PyErr_Format(PyExc_ValueError, "spelling: %s, not %R", what, item);
  return false;
}

bool readInts(PyObject *const *items, size_t n, int64_t *values) {
  for (size_t i = 0; i < n; ++i) {
    int overflow;
    if (!PyLong_CheckExact(items[i]))
      return false;
    values[i] = PyLong_AsLongLongAndOverflow(items[i], &overflow);
    if (overflow)
      return false;
  }
  return true;
}

/// An int64 array of the ints in `value`; null, maybe with an exception set, where there are
/// others.
Ref<> positions(PyObject *value, PyObject *dims) {
  PyArrayObject *array = nullptr;
  int64_t size = 1;
  int rank = 1;
  if (PyLong_CheckExact(value)) {
    rank = 0;
  } else if (PyList_CheckExact(value) || PyTuple_CheckExact(value)) {
    size = PySequence_Fast_GET_SIZE(value);
  } else if (PyArray_CheckExact(value)) {
    array = reinterpret_cast<PyArrayObject *>(value);
    if (PyArray_NDIM(array) != 1 || PyArray_TYPE(array) != NPY_INT64 ||
        !PyArray_ISBEHAVED_RO(array))
      return nullptr;
    size = PyArray_DIM(array, 0);
  } else {
    return nullptr;
  }
  if (PyTuple_GET_SIZE(dims) != rank)
    return nullptr;
  auto type = steal(internType(Dtype::Int64, dims, &size));
  auto made = steal(type ? newArray(type.get()) : nullptr);
  if (!made)
    return nullptr;
  auto *values = static_cast<int64_t *>(made->data);
  if (!array) {
    // What ran in the allocation may have changed the list.
    PyObject *const *items = rank ? PySequence_Fast_ITEMS(value) : &value;
    if ((rank && PySequence_Fast_GET_SIZE(value) != size) || !readInts(items, size, values))
      return nullptr;
  }
  for (int64_t i = 0; array && i < size; ++i)
    values[i] = *static_cast<int64_t *>(PyArray_GETPTR1(array, i));
  return steal(made.releaseObject());
}

/// The memory of an array with the dims `own` under others; null, maybe with an exception set, for
/// anything else.
Ref<> renamed(PyObject *value, PyObject *own, PyObject *dims) {
  auto *a = reinterpret_cast<Array *>(value);
  if (Py_TYPE(value) != arrayClass || a->meta || a->type->dims != own)
    return nullptr;
  auto type = steal(internType(a->type->dtype, dims, a->type->sizes, a->type->weak));
  return steal(type ? reinterpret_cast<PyObject *>(viewOf(a, type.get())) : nullptr);
}

} // namespace

bool Spelling::parseParts(PyObject *list, std::vector<Node> &nodes, int depth) {
  if (!PyTuple_Check(list))
    return refuse("parts are a tuple", list);
  nodes.resize(PyTuple_GET_SIZE(list));
  for (size_t i = 0; i < nodes.size(); ++i)
    if (!parseNode(PyTuple_GET_ITEM(list, i), nodes[i], depth + 1))
      return false;
  return true;
}

bool Spelling::parseNode(PyObject *item, Node &node, int depth) {
  if (depth > kDeepest)
    return refuse("a tree is 100 deep at most", item);
  Py_ssize_t n = PyTuple_Check(item) ? PyTuple_GET_SIZE(item) : 0;
  PyObject *place = n == 2 || n == 3 ? PyTuple_GET_ITEM(item, 0) : item;
  if (PyLong_CheckExact(place)) {
    node.place = PyLong_AsSsize_t(place);
    if (node.place < 0)
      return refuse("a place is a number", item);
    if (static_cast<size_t>(node.place) >= places)
      places = node.place + 1;
    node.dims = steal(n ? internDims(PyTuple_GET_ITEM(item, 1)) : nullptr);
    node.own = steal(n == 3 ? internDims(PyTuple_GET_ITEM(item, 2)) : nullptr);
    return (!n || node.dims) && (n != 3 || (node.own && PyTuple_GET_SIZE(node.own.get()) ==
                                                            PyTuple_GET_SIZE(node.dims.get())));
  }
  if (!PyTuple_Check(item))
    return refuse("a node is a place or a tuple", item);
  if (PyTuple_GET_SIZE(item) == 1) {
    node.value = borrow(PyTuple_GET_ITEM(item, 0));
    return true;
  }
  if (PyTuple_GET_SIZE(item) != 3 || !PyType_Check(PyTuple_GET_ITEM(item, 0)))
    return refuse("a node is (class, keys, nodes)", item);
  node.cls = borrow(reinterpret_cast<PyTypeObject *>(PyTuple_GET_ITEM(item, 0)));
  PyObject *keys = PyTuple_GET_ITEM(item, 1);
  if (!parseParts(PyTuple_GET_ITEM(item, 2), node.children, depth))
    return false;
  if (keys == Py_None)
    return node.cls.get() == &PyList_Type || PyType_IsSubtype(node.cls.get(), &PyTuple_Type) ||
           refuse("a list or a tuple has no keys", item);
  bool ok = PyTuple_Check(keys) && PyTuple_GET_SIZE(keys) == (Py_ssize_t)node.children.size();
  for (Py_ssize_t i = 0; ok && i < PyTuple_GET_SIZE(keys); ++i)
    ok = isKey(PyTuple_GET_ITEM(keys, i)) &&
         (node.cls.get() == &PyDict_Type || PyUnicode_CheckExact(PyTuple_GET_ITEM(keys, i)));
  if (!ok)
    return refuse("keys are texts or ints, one for each node", item);
  node.keys = borrow(keys);
  return true;
}

std::unique_ptr<Spelling> Spelling::parse(PyObject *description) {
  PyObject *first, *byName, *defaults;
  if (!PyTuple_Check(description) || PyTuple_GET_SIZE(description) != 3 ||
      !PyTuple_Check(first = PyTuple_GET_ITEM(description, 0)) ||
      !PyDict_Check(byName = PyTuple_GET_ITEM(description, 1)) ||
      !PyDict_Check(defaults = PyTuple_GET_ITEM(description, 2))) {
    refuse("it is (positional, named, fixed)", description);
    return nullptr;
  }
  std::unique_ptr<Spelling> s(new Spelling);
  bool ok = s->parseParts(first, s->positional, 0);
  s->names = steal(ok ? PySequence_Tuple(byName) : nullptr);
  ok = static_cast<bool>(s->names);
  if (ok)
    s->named.resize(PyTuple_GET_SIZE(s->names.get()));
  for (size_t i = 0; ok && i < s->named.size(); ++i) {
    PyObject *name = PyTuple_GET_ITEM(s->names.get(), i);
    ok = (isKey(name) || refuse("a name is a text", name)) &&
         s->parseNode(PyDict_GetItem(byName, name), s->named[i], 0);
  }
  PyObject *place, *number;
  for (Py_ssize_t at = 0; ok && PyDict_Next(defaults, &at, &place, &number);) {
    Node leaf;
    ok = PyLong_CheckExact(place) ? s->parseNode(place, leaf, 0)
                                  : refuse("a place is a number", place);
    if (ok)
      s->fixed.push_back({leaf.place, borrow(number)});
  }
  if (!ok)
    return nullptr;
  return s;
}

int Spelling::traverseNode(const Node &node, visitproc visit, void *arg) {
  Py_VISIT(node.value.get());
  Py_VISIT(node.cls.object());
  for (const Node &child : node.children)
    if (int stop = traverseNode(child, visit, arg))
      return stop;
  return 0;
}

int Spelling::traverse(visitproc visit, void *arg) const {
  for (const auto *nodes : {&positional, &named})
    for (const Node &node : *nodes)
      if (int stop = traverseNode(node, visit, arg))
        return stop;
  return 0;
}

bool Spelling::readNode(const Node &node, PyObject *value, PyObject **leaves) {
  if (node.place >= 0) {
    auto leaf = node.own    ? renamed(value, node.own.get(), node.dims.get())
                : node.dims ? positions(value, node.dims.get())
                            : borrow(value);
    PyErr_Clear();
    if (!leaf)
      return false;
    Py_XSETREF(leaves[node.place], leaf.release());
    return true;
  }
  if (node.value)
    return isSame(value, node.value.get());
  if (Py_TYPE(value) != node.cls.get())
    return false;
  auto n = static_cast<Py_ssize_t>(node.children.size());
  if (node.cls.get() == &PyDict_Type) {
    // In the order that they were in: results may have it, too.
    if (PyDict_GET_SIZE(value) != n)
      return false;
    PyObject *key, *item;
    Py_ssize_t at = 0;
    for (Py_ssize_t i = 0; i < n; ++i) {
      if (!PyDict_Next(value, &at, &key, &item) ||
          !isSame(key, PyTuple_GET_ITEM(node.keys.get(), i)))
        return false;
      // Attributes deeper inside may run what changes the dict.
      auto held = borrow(item);
      if (!readNode(node.children[i], item, leaves))
        return false;
    }
    return true;
  }
  if (node.keys) {
    for (Py_ssize_t i = 0; i < n; ++i) {
      auto item = steal(PyObject_GetAttr(value, PyTuple_GET_ITEM(node.keys.get(), i)));
      if (!item) {
        if (PyErr_ExceptionMatches(PyExc_AttributeError))
          PyErr_Clear();
        return false;
      }
      if (!readNode(node.children[i], item.get(), leaves))
        return false;
    }
    return true;
  }
  bool isList = PyList_Check(value);
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (n != (isList ? PyList_GET_SIZE(value) : PyTuple_GET_SIZE(value)))
      return false;
    auto item = borrow(isList ? PyList_GET_ITEM(value, i) : PyTuple_GET_ITEM(value, i));
    if (!readNode(node.children[i], item.get(), leaves))
      return false;
  }
  return n == (isList ? PyList_GET_SIZE(value) : PyTuple_GET_SIZE(value));
}

bool Spelling::read(PyObject *const *args, size_t n, PyObject *keywords, PyObject **leaves) const {
  std::fill_n(leaves, places, nullptr);
  size_t given = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  if (n != positional.size() || given != named.size())
    return false;
  for (size_t i = 0; i < given; ++i)
    if (!isSame(PyTuple_GET_ITEM(keywords, i), PyTuple_GET_ITEM(names.get(), i)))
      return false;
  for (size_t i = 0; i < n; ++i)
    if (!readNode(positional[i], args[i], leaves))
      return false;
  for (size_t i = 0; i < given; ++i)
    if (!readNode(named[i], args[n + i], leaves))
      return false;
  for (const Fixed &f : fixed)
    Py_XSETREF(leaves[f.place], Py_NewRef(f.number.get()));
  for (size_t i = 0; i < places; ++i)
    if (!leaves[i])
      return false;
  return true;
}
