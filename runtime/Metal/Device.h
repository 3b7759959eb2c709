// A Metal device, which implements xt_device and xt_call.
#pragma once

#include "../Discards.h"
#include "Memory.h"
#include "Queue.h"

namespace xtensor::metal {

class Device;

/// A kernel on one device.
struct Pipeline : Made {
  void *handle = nullptr;
  ~Pipeline() override;
};

class Device final : public xt_device {
public:
  explicit Device(Gpu &gpu);

  int64_t messages() override { return 0; }
  xt_device_counters counters() override;
  void *alloc(size_t bytes) override;
  void free(void *address, size_t bytes) override;
  size_t cachedBytes() override { return memory.idleBytes(); }
  void trim() override;
  int32_t write(void *to, const void *from, size_t bytes) override;
  int32_t read(void *to, const void *from, size_t bytes) override;
  int32_t copy(void *to, const void *from, size_t bytes) override;
  int32_t synchronize() override { return queue.wait(queue.last()) ? 0 : 1; }

  int32_t begin(xt_program *program, void **buffers, const int64_t *sizes, xt_status *status,
                xt_ticket *&ticket) override;
  void launch(xt_kernel *kernel, const int64_t groups[3], void *const *buffers,
              const int32_t *numbers) override;
  void extents(const int64_t *bytes) override { call.extents = bytes; }
  void callCopy(void *to, const void *from, int64_t bytes) override;
  void *arena(int64_t bytes) override;
  void *report() override;
  void *map(void *address, int64_t bytes, int32_t mode) override;
  void unmap(void *, int64_t, int32_t, void *) override {} // it was the memory itself
  void end() override;

  void discard(Made *made) override { discards.add(made, lock, inCall); }
  void quiesce(bool) override { queue.wait(queue.last()); }

  /// Compiled code is done with a kernel.
  void forget(Pipeline &pipeline);

private:
  void *unwritten(void *block, size_t bytes);
  /// The call that has the device to itself.
  struct Call {
    xt_program *program = nullptr;
    xt_status *status = nullptr;
    Ticket *ticket = nullptr;
    const int64_t *extents = nullptr; // of the next launch
    std::vector<void *> temporaries;
    std::vector<std::vector<char>> zeros; // what a failed call works on
    bool failed = false;
  };

  void failCall();
  void makeSlots(std::vector<Slot *> &slots);
  Pipeline *pipelineOf(xt_kernel *kernel);
  bool addCopy(void *to, const void *from, size_t bytes);
  /// Sends what is written, and says so to the blocks that it touches.
  void flush();

  Gpu &gpu;
  Queue queue;
  Memory memory;
  Reports reports;
  Discards discards{queue};
  /// Held by a call from its begin to its end, and by whatever sends work.
  std::recursive_mutex lock;
  Call call;
  bool inCall = false;
  std::vector<Span> touched; // by the list that is being written
  int64_t recorded = 0, made = 0, held = 0;
};

} // namespace xtensor::metal
