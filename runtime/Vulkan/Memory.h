// Memory of a device: Slabs.h on the driver's buffers.
#pragma once

#include "../Slabs.h"
#include "Queue.h"

namespace xtensor::vulkan {

enum class Kind {
  Device,   // arrays
  Upload,   // the CPU writes, the device reads
  Readback, // the device writes, the CPU reads
};

/// One buffer of the driver's.
struct Buffer {
  VkBuffer handle = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  char *host = nullptr; // where the CPU sees it, if it does
};

/// False, without an error message, if memory is exhausted.
bool makeBuffer(Context &context, size_t bytes, Kind kind, bool mapped, Buffer &buffer);
void destroyBuffer(Context &context, const Buffer &buffer);

struct Slab : SlabBase {
  Buffer buffer; // where the CPU sees none of it, `base` is of addresses that nothing has
  /// Number of the submission that last touched each block.
  std::unique_ptr<std::atomic<uint64_t>[]> lastUse;
};

struct Place : PlaceIn<Slab> {
  std::atomic<uint64_t> &lastUse() const { return slab->lastUse[block]; }
  bool mapped() const { return slab->buffer.host; }
};

class Memory : public Slabs<Slab> {
public:
  /// mapped: the CPU follows the addresses of arrays.
  Memory(Context &context, bool mapped);

  /// Blocks of 256 bytes that the CPU sees for what kernels report.
  Slab *makeReports();
  /// Takes slabs out in which no block is in use: all of them, or, given the queue, those that it
  /// is done with until no more is idle than should be.
  std::vector<std::unique_ptr<Slab>> takeIdle(Queue *queue = nullptr);
  void destroy(Slab &slab);

private:
  std::unique_ptr<Slab> make(size_t blockBytes, uint32_t blocks) override;
  std::unique_ptr<Slab> make(size_t blockBytes, uint32_t blocks, Kind kind, bool mapped);

  Context &context;
  bool mapped;
};

} // namespace xtensor::vulkan
