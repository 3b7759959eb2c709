// A Vulkan device: its memory, its queue, and commands for them.
#pragma once

#include "Recording.h"

#include <deque>
#include <unordered_map>

namespace xtensor::vulkan {

class Device final : public RecordingDevice {
public:
  Device(Instance &instance, VkPhysicalDevice physical);
  bool init();

  int64_t messages() override { return context.instance->messages; }
  xt_device_counters counters() override;
  int32_t synchronize() override { return queue.wait(queue.last()) ? 0 : 1; }
  void quiesce(bool patient) override {
    patient ? queue.wait(queue.last()) : queue.wait(queue.last(), uint64_t(5e9));
  }

  /// Compiled code is done with a kernel.
  void forget(Pipeline &pipeline);

private:
  bool usable() override { return context.usable(); }
  void *takeBlock(size_t bytes) override { return memory->take(bytes); }
  void putBlock(void *address) override { memory->put(address); }
  bool find(const void *address, size_t bytes, Range &range) override;
  size_t largestBlock() override { return memory->largest(); }
  size_t allBytes() override { return memory->bound(); }
  int64_t usedBytes() override { return static_cast<int64_t>(memory->heldBytes()); }
  size_t idleBytes() override { return memory->idleBytes(); }
  bool isFull() override { return memory->full(); }
  void giveBack(bool all) override { destroy(memory->takeIdle(all ? nullptr : &queue)); }

  std::unique_ptr<Record> startRecording() override;
  bool addLaunch(Record &recording, const Made &kernel, const xt_kernel &code,
                 const int64_t groups[3], void *const *buffers, const int64_t *extents,
                 const int32_t *numbers) override;
  bool addCopy(Record &, void *to, const void *from, size_t bytes) override {
    return recorder->copy(to, from, bytes);
  }
  bool finish(Record &) override { return recorder->end(); }
  uint64_t send(Record &recording, Slot *dirty) override;
  void retire(std::unique_ptr<Record> recording) override;
  std::unique_ptr<Made> makeKernel(const xt_kernel &kernel) override;

  bool makeChunk(Chunk &chunk, bool toDevice) override;
  uint64_t copyIn(void *to, const Chunk &chunk, size_t bytes) override;
  uint64_t copyOut(const Chunk &chunk, const void *from, size_t bytes) override;

  void makeSlots(std::vector<Slot *> &slots);
  /// Commands that clear what was reported there, or null.
  Recording *clearingOf(Slot &slot);
  /// Gives them back to the driver, and forgets the recordings that name them.
  void destroy(const std::vector<std::unique_ptr<Slab>> &slabs);
  template <typename Write>
  uint64_t sendOnce(Write write);

  Context context;
  Queue queue;
  std::unique_ptr<Memory> memory;
  std::unique_ptr<Recorder> recorder;
  std::unique_ptr<Kernels> kernels;
  std::deque<std::unique_ptr<Recording>> retired; // by the number of their submission
  std::vector<std::unique_ptr<Recording>> spare;
  std::unordered_map<Slot *, std::unique_ptr<Recording>> clearings;
};

} // namespace xtensor::vulkan
