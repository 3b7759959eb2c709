// Arguments that a call takes over (xt.jit(donate=)): results may lie in their memory, and later
// uses of such an array are errors. An array that was donated has no data; its base says which
// call took it.
#pragma once

#include "Array.h"
#include "runtime.h"

#include <vector>

namespace xtensor {

struct Executable;

/// What an executable takes over.
struct Donation {
  std::vector<size_t> inputs;     // ascending
  std::vector<Py_ssize_t> reused; // per output: the input whose memory it takes, or -1
};

inline bool isDonated(const Array *a) { return !a->data; }
/// Raises for an array that was donated.
void raiseDonated(Array *a);
/// (function, file, line) of the call that took the array; None: none did. A new reference.
PyObject *donationOf(Array *a);

/// A call that other threads may run beside, in a list of all of them. Guarded by the GIL.
class Running {
public:
  Running(void **buffers, size_t count);
  ~Running();
  /// Whether any such call reads or writes at `data`.
  static bool uses(const void *data);

private:
  void **buffers;
  size_t count;
  Running *next, *previous = nullptr;
};

/// The arguments that one call takes over. Memory of theirs that no result lies in is freed with
/// this object, after the call.
class Takeover {
public:
  /// `given`: `count` inputs, which may be numbers and arrays of NumPy; captured arrays follow.
  Takeover(const Executable *e, PyObject *const *given, size_t count);
  Takeover(const Takeover &) = delete;
  /// An array for output `i`: without memory yet, if it will take an argument's. Null with an
  /// exception set.
  Array *result(size_t i, Type *type) const;
  /// All results are there: memory changes hands, and `buffers` (inputs, then outputs) follow.
  /// False with an exception set.
  bool commit(PyObject *const *results, void **buffers);

private:
  Array *array(size_t input) const;
  /// Whether nothing else will read the memory of an argument.
  bool isFree(size_t input) const;
  void findFree();
  bool giveUp(Array *a, bool isAlone);

  Ref<> place; // (function, file, line) of the call
  const Executable *executable;
  PyObject *const *given;
  size_t count;
  std::vector<bool> free; // per donated input
  std::vector<Ref<Array>> kept;
};

bool initDonation(PyObject *module);

} // namespace xtensor
