// One NVIDIA GPU: its memory, its stream, and commands for them.
#pragma once

#include "Recording.h"

namespace xtensor::cuda {

class Device final : public RecordingDevice {
public:
  Device(const Driver &driver, DeviceNumber number);
  bool init();

  int64_t messages() override { return 0; } // there are no validation layers
  xt_device_counters counters() override;
  int32_t synchronize() override { return stream.wait(stream.last()) ? 0 : 1; }
  void quiesce(bool patient) override {
    patient ? stream.wait(stream.last()) : stream.wait(stream.last(), 5);
  }

  /// Compiled code is done with a kernel.
  void forget(Kernel &kernel);

private:
  bool usable() override { return context.usable(); }
  void *takeBlock(size_t bytes) override { return memory->take(bytes); }
  void putBlock(void *address) override { memory->put(address); }
  bool find(const void *address, size_t bytes, Range &range) override;
  size_t largestBlock() override { return memory->bound(); }
  size_t allBytes() override { return memory->bound(); }
  int64_t usedBytes() override { return static_cast<int64_t>(memory->heldBytes()); }
  size_t idleBytes() override { return memory->idleBytes(); }
  bool isFull() override { return memory->full(); }
  void giveBack(bool all) override { memory->trim(all); }

  std::unique_ptr<Record> startRecording() override;
  bool addLaunch(Record &recording, const Made &kernel, const xt_kernel &code,
                 const int64_t groups[3], void *const *buffers, const int64_t *extents,
                 const int32_t *numbers) override;
  bool addCopy(Record &recording, void *to, const void *from, size_t bytes) override;
  uint64_t send(Record &recording, Slot *dirty) override;
  std::unique_ptr<Made> makeKernel(const xt_kernel &kernel) override;

  bool makeChunk(Chunk &chunk, bool toDevice) override;
  uint64_t copyIn(void *to, const Chunk &chunk, size_t bytes) override;
  uint64_t copyOut(const Chunk &chunk, const void *from, size_t bytes) override;

  void describe();
  void makeSlots(std::vector<Slot *> &slots);

  Context context;
  Stream stream;
  std::unique_ptr<Memory> memory;
  std::atomic<int64_t> kernelsMade{0};
};

} // namespace xtensor::cuda
