// Recorded commands, and the recorder that writes them. It tracks the buffers that each command
// uses, and adds a barrier where one command needs what another one wrote.
#pragma once

#include "../RecordingDevice.h"
#include "Kernels.h"
#include "Memory.h"

namespace xtensor::vulkan {

struct Recording final : Record {
  VkCommandBuffer commands = VK_NULL_HANDLE;
  std::vector<VkDescriptorPool> pools;
  struct Use {
    Slab *slab;
    uint32_t block;
  };
  std::vector<Use> uses;
  uint64_t value = 0; // number of its last submission
};

class Recorder {
public:
  Recorder(Context &context, Memory &memory) : context(context), memory(memory) {}
  bool init(uint32_t family);

  /// One that is not under way.
  std::unique_ptr<Recording> make();
  bool begin(Recording &recording);
  bool end();
  bool active() const { return current; }

  bool launch(const Pipeline &pipeline, const xt_kernel &kernel, const int64_t groups[3],
              void *const *buffers, const int64_t *extents, const int32_t *numbers);
  bool copy(void *to, const void *from, size_t bytes);
  bool upload(const Place &to, const Buffer &from, size_t offset, size_t bytes);
  bool download(const Buffer &to, size_t offset, const Place &from, size_t bytes);
  void clear(const Place &place, size_t bytes);

  std::atomic<int64_t> barriers{0};

private:
  struct Range {
    uintptr_t begin, end;
    bool written;
  };

  void touch(const Place &place, const void *address, size_t bytes, bool written);
  /// A barrier if the ranges touched since the last order() meet those before.
  void order();
  VkDescriptorSet descriptorSet(const Layout &layout, uint32_t buffers);

  Context &context;
  Memory &memory;
  VkCommandPool pool = VK_NULL_HANDLE;
  Recording *current = nullptr;
  std::vector<Range> before, now;
  size_t poolsUsed = 0;
};

} // namespace xtensor::vulkan
