// The spelling of a call: which arguments are given by position and which by name, and where in
// them (in dicts, lists, tuples and instances of classes) the arrays and numbers are.
#pragma once

#include "Ref.h"

#include <memory>
#include <vector>

namespace xtensor {

class Spelling {
public:
  /// Reads (positional, named, fixed). positional: a node for each; named: a dict of them; fixed:
  /// {place: number}, what a call leaves at its default. A node is the place of an array or a
  /// number; or (class, keys, nodes), an instance of exactly this class, keys being those of a
  /// dict or the names of attributes, else None; or (place, dims), an int, a list or tuple of ints
  /// or a NumPy array of int64, of which an array is made; or (place, dims, own), an array with the
  /// dims `own`, which gets others; or (value,), what the argument must be. Null with an exception
  /// set.
  static std::unique_ptr<Spelling> parse(PyObject *description);
  Spelling(const Spelling &) = delete;

  /// How many arrays and numbers there are.
  size_t count() const { return places; }
  /// What a call has at each place, as new references; those of `leaves` that were found before
  /// something did not fit are there, the others null. Reading attributes may run Python. Leaves
  /// what that raises (an interrupt, say), but no AttributeError.
  bool read(PyObject *const *args, size_t n, PyObject *keywords, PyObject **leaves) const;
  int traverse(visitproc visit, void *arg) const;

private:
  struct Node {
    Py_ssize_t place = -1; // of a leaf
    Ref<> dims;            // of the array that a leaf makes; null: it is one
    Ref<> own;             // of an array that gets `dims`; null: ints
    Ref<> value;           // what must be there
    Ref<PyTypeObject> cls; // of what holds others
    Ref<> keys;            // tuple
    std::vector<Node> children;
  };
  Spelling() = default;
  bool parseNode(PyObject *item, Node &node, int depth);
  bool parseParts(PyObject *list, std::vector<Node> &nodes, int depth);
  static int traverseNode(const Node &node, visitproc visit, void *arg);
  static bool readNode(const Node &node, PyObject *value, PyObject **leaves);

  std::vector<Node> positional, named;
  Ref<> names; // tuple
  struct Fixed {
    Py_ssize_t place;
    Ref<> number;
  };
  std::vector<Fixed> fixed;
  size_t places = 0;
};

} // namespace xtensor
