// Executable: a compiled function with the types of its inputs and outputs, callable from Python.
#pragma once

#include "Array.h"
#include "Device.h"
#include "Pending.h"
#include "Signature.h"

namespace xtensor {

struct Donation; // Donation.h
struct Together; // Collectives.h

struct Executable {
  PyObject_HEAD vectorcallfunc call;
  xt_entry entry;
  Signature *signature;
  PyObject *sites;     // tuple: what to tell about an index out of range, by xt_status.site
  PyObject *keepalive; // owner of the code; may be null
  PyObject *name;      // for messages; may be null
  xt_device *device;   // where it runs, and its arguments must be; null: the CPU
  xt_program *program; // that its calls on a device run; null before the first one
  Donation *donation;  // what a call takes over; null: nothing
  Together *together;  // what all processes call together; null: this one may call it alone
  bool unwrap;         // a call returns a single result bare
  int8_t releaseGil;   // 1 always, 0 never, -1 by the bytes it reads and writes
};

extern PyTypeObject *executableClass;

/// Room for the pointers of one call: on the stack for all but huge signatures.
template <typename T, size_t N>
class CallBuffer {
public:
  explicit CallBuffer(size_t n) : data(n <= N ? stack : new T[n]) {}
  ~CallBuffer() {
    if (data != stack)
      delete[] data;
  }
  CallBuffer(const CallBuffer &) = delete;
  operator T *() { return data; }

private:
  T stack[N];
  T *data;
};
using Pointers = CallBuffer<void *, 48>;
using Sizes = CallBuffer<int64_t, 16>;

/// Whether a type fits; dynamic sizes that are -1 are filled in, others must agree.
bool typeMatches(const TypePattern &pattern, Type *type, int64_t *sizes);
/// Whether the arguments (as many as inputs) fit; fills in their data and the dynamic sizes. One
/// that is null is the caller's affair.
bool matches(Executable *e, PyObject *const *args, bool acceptNumpy, void **buffers, int64_t *sizes,
             int64_t &bytes);
/// Calls the entry. `buffers` holds the inputs, with room for the outputs; `bytes` counts the
/// inputs'. `outputs`: their types, which the caller keeps alive; null: from the signature. On a
/// device nothing waits: `before` is what the inputs depend on. `given`: the first `count` inputs,
/// numbers among them, of which the call may take some over.
PyObject *execute(Executable *e, void **buffers, const int64_t *sizes, const TypeList *outputs,
                  int64_t bytes, bool unwrap, PyObject *const *given, size_t count,
                  Dependences *before = nullptr);
/// After the call of what raises, with its result: its own frame tells nothing.
void raiseBy(Ref<> result);
/// Keeps `callable` (None: nothing) and returns what was there before; null with an exception.
PyObject *replaceCallable(PyObject *&kept, PyObject *callable);
bool initExecutable(PyObject *module);

} // namespace xtensor
