// The commands of a call, and the kernels in them.
#pragma once

#include "../RecordingDevice.h"
#include "Memory.h"

namespace xtensor::cuda {

/// A kernel on one device.
struct Kernel : Made {
  ModuleHandle module = nullptr;
  FunctionHandle function = nullptr;
  ~Kernel() override;
};

/// PTX to machine code, by the driver. Null, with xt_device_error set, if it cannot run here.
std::unique_ptr<Kernel> makeKernel(Context &context, const xt_device_info &info,
                                   const xt_kernel &kernel);

/// What a call wants done, in order. Sent command by command; the second time it is sent, the
/// driver makes a graph of it, which is one command from then on. So a call that is made once does
/// not pay for a graph.
class Recording final : public Record {
public:
  explicit Recording(Context &context) : context(context) {}
  ~Recording() override;
  Recording(const Recording &) = delete;

  /// Checks what can be checked before anything runs.
  bool launch(Memory &memory, const Kernel &kernel, const xt_kernel &code, const int64_t groups[3],
              void *const *buffers, const int64_t *extents, const int32_t *numbers);
  bool copy(Memory &memory, void *to, const void *from, size_t bytes);
  /// Between open() and close() of the stream.
  bool send();

private:
  struct Command {
    FunctionHandle function; // null: a copy
    unsigned groups[3];
    unsigned threads[3];
    size_t firstAddress, firstNumber; // of a copy: to and from; its bytes are the next "address"
    unsigned buffers, numbers;
  };

  bool sendEach();
  bool makeGraph();

  Context &context;
  std::vector<Command> commands;
  std::vector<Address> addresses;
  std::vector<int32_t> numbers;
  GraphExecHandle graph = nullptr;
  bool wasSent = false;
};

} // namespace xtensor::cuda
