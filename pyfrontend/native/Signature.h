// The types of an executable's inputs and outputs, with sizes that may be known at the call only.
#pragma once

#include "Type.h"

#include <algorithm>
#include <vector>

namespace xtensor {

/// Owned references to types.
class TypeList {
public:
  void add(Ref<Type> type) { types.push_back(std::move(type)); }
  size_t size() const { return types.size(); }
  Type *operator[](size_t i) const { return types[i].get(); }
  int64_t nbytes() const {
    int64_t total = 0;
    for (const Ref<Type> &t : types)
      total += t->nbytes;
    return total;
  }

private:
  std::vector<Ref<Type>> types;
};

/// A size of a pattern: `factor`, times the dynamic dims with these numbers.
struct SizePattern {
  int64_t factor = 1;
  std::vector<int> dynamic;
};

/// A type of which some sizes are known at the call only.
struct TypePattern {
  Dtype dtype;
  Ref<> dims; // from internDims, never freed
  std::vector<SizePattern> sizes;
  Ref<Type> fixed; // set if all sizes are known
};

struct Signature {
  std::vector<TypePattern> inputs, outputs;
  std::vector<PyObject *> dynamicDims; // borrowed from the dims tuples, in entry's order
  /// Sizes that must agree, or one that must not be 0, and what is called with both, to raise,
  /// where it is otherwise.
  struct Equality {
    SizePattern left, right;
    bool isNonempty = false;
    Ref<> refuse; // null in an executable that is garbage
  };
  std::vector<Equality> equalities;
  bool dynamic = false;
  int64_t fixedBytes = 0; // of all inputs and outputs, unless dynamic
  TypeList fixedOutputs;  // unless dynamic

  // Output types by dynamic sizes, for the latest few.
  struct Resolved {
    std::vector<int64_t> sizes;
    TypeList outputs;
  };
  std::vector<Resolved> recent;
  size_t nextRecent = 0;

  /// Output types for these dynamic sizes; borrowed until the next call. Null with an exception
  /// set.
  const TypeList *outputsFor(const int64_t *sizes);
};

/// Parses sequences of ArrayType or (dtype, dims, sizes) tuples. A size: an int; None, the dynamic
/// size of this dim; for outputs also a dynamic dim's name, or a list of ints and names to be
/// multiplied. False with an exception set.
bool parseSignature(PyObject *inputs, PyObject *outputs, Signature &signature);
/// Parses a sequence of (size, size, callable); a size as in outputs, None as the second for one
/// that must not be 0.
bool parseEqualities(PyObject *list, Signature &signature);
/// Whether all equalities hold for these dynamic sizes. False with an exception set.
bool sizesAgree(const Signature &signature, const int64_t *sizes);
/// The type for these dynamic sizes. Null with an exception set.
Ref<Type> resolve(const TypePattern &pattern, const int64_t *dynamicSizes);

} // namespace xtensor
