// One signature of a Function: what its arguments must be, and the code for them.
#pragma once

#include "Executable.h"
#include "Spelling.h"

#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace xtensor {

/// What one argument must be: an array of this type (null: that fits the executable), or a Python
/// number of this class.
struct Filter {
  Ref<Type> type;
  PyTypeObject *number = nullptr; // null: an array
  Dtype dtype = Dtype::Bool;      // of the number
  // A number outside is for Python: perhaps it does not fit the dtype it meets. Floats are compared
  // by their bits, whose order is that of floats from 0 on.
  int64_t least = std::numeric_limits<int64_t>::min();
  int64_t most = std::numeric_limits<int64_t>::max();
};

/// A number as an array of a device.
struct Moved {
  Ref<Array> array;
  uint64_t bits = 0;
};

/// One signature. Filtered, all that depends on the types is worked out beforehand; else the
/// executable's own patterns decide at each call what fits as an array. Counted, as a call may
/// empty the cache that it came from.
struct Entry {
  int references = 1;
  Ref<Executable> executable;
  bool unwrap, filtered = false;
  bool plain = false;          // filtered, and nothing else that this knows of has to be looked at
  bool open = false;           // serves all sizes above 1
  bool asks = false;           // where it fails, the slow path raises the error
  bool used = false;           // since somebody asked
  std::vector<Filter> filters; // one for each argument, or none: arrays
  std::unique_ptr<Spelling> spelling; // null: each argument by position
  // On a device, the numbers of the latest call: programs are often called with the same ones
  // again.
  std::vector<Moved> latest;
  std::vector<int64_t> sizes;
  TypeList outputs;
  int64_t inputBytes = 0;
  Ref<> captured; // tuple of arrays, passed after the arguments; may be null
  Ref<> wrapper;  // called with the results; may be null
  // What is attached to the results by what is attached to the arguments: a list of (arguments',
  // results', option), which Python adds to. Null: arguments with something attached do not fit.
  Ref<> labels;
  // Makes of the results of a call with DataArrays what it returns; null: DataArrays do not fit.
  Ref<> relabel;
  Ref<> options; // in force when it was compiled

  Entry(Executable *executable, bool unwrap, PyObject *options)
      : executable(borrow(executable)), unwrap(unwrap), options(borrow(options)) {}
  size_t capturedCount() const { return captured ? PyTuple_GET_SIZE(captured.get()) : 0; }
  /// Captured array `i`, borrowed.
  Array *capturedArray(size_t i) const {
    return reinterpret_cast<Array *>(PyTuple_GET_ITEM(captured.get(), i));
  }
};

inline void drop(Entry *entry) {
  if (--entry->references == 0)
    delete entry;
}

/// The DataArrays of one call, each with the array over its values once an entry has asked for it.
class Bare {
public:
  Bare() = default;
  Bare(const Bare &) = delete;
  /// Fills in the arguments, with arrays in place of DataArrays. Runs Python. False, maybe with an
  /// exception set: one of them needs the slow path.
  bool read(PyObject *const *args, size_t n, PyObject **arrays);

private:
  std::vector<std::pair<Ref<>, Ref<>>> made;
};

/// What DataArrays are, and the callable that gives the array over the values of one, or None.
void setDataArrays(PyObject *dataArrayClass, PyObject *values);
/// The callable that gives the option on which labels depend (null: none), replaced.
void setLabelOption(PyObject *callable);
/// Works out what an entry knows beforehand, from what Function.add takes. False with an exception
/// set.
bool fillEntry(PyObject *types, PyObject *ranges, Entry &entry);
/// The call through entry i with its arrays and numbers; `hit` says whether they fit. Without a
/// hit, returns null; with an exception set where DataArrays have no values or results no labels.
PyObject *callEntry(std::vector<Entry *> &entries, size_t i, PyObject *const *args, size_t n,
                    Bare &bare, bool &hit);
/// The same for a call as it is spelled.
PyObject *callSpelled(std::vector<Entry *> &entries, size_t i, PyObject *const *args, size_t n,
                      PyObject *keywords, Bare &bare, bool &hit);

} // namespace xtensor
