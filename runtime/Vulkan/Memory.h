// Memory of a device: buffers of the driver's, cut into blocks of fixed classes of sizes, which are
// kept when they are freed.
#pragma once

#include "Queue.h"

#include <map>
#include <memory>
#include <mutex>

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
  size_t bytes = 0;
  Kind kind = Kind::Device;
  char *host = nullptr; // where the CPU sees it, if it does
};

/// False, with nothing said, if there is no memory.
bool makeBuffer(Context &context, size_t bytes, Kind kind, bool mapped, Buffer &buffer);
void destroyBuffer(Context &context, const Buffer &buffer);

/// A buffer in blocks of one size.
struct Slab {
  Buffer buffer;
  char *base; // address of its first byte: as the CPU sees it, else addresses that nothing has
  size_t blockBytes;
  int sizeClass;
  uint32_t blocks, used = 0;
  /// Number of the submission that last touched each block.
  std::unique_ptr<std::atomic<uint64_t>[]> lastUse;
};

/// What an address names.
struct Place {
  Slab *slab;
  uint32_t block;
  size_t offset; // in the slab's buffer
  size_t rest;   // bytes up to the end of the block

  std::atomic<uint64_t> &lastUse() const { return slab->lastUse[block]; }
  bool mapped() const { return slab->buffer.host; }
};

class Memory {
public:
  /// mapped: the CPU follows the addresses of arrays.
  Memory(Context &context, bool mapped);

  /// Null, with nothing said, if there is none: trim, and try again.
  void *take(size_t bytes);
  void put(void *address);
  /// False, with xt_device_error set, if nothing is there, or fewer than `bytes`.
  bool find(const void *address, size_t bytes, Place &place);
  /// Blocks of 256 bytes that the CPU sees for what kernels report.
  Slab *makeReports();

  size_t idleBytes() const { return idle.load(std::memory_order_relaxed); }
  /// More than should be kept idle.
  bool full() const { return idleBytes() > idleBound; }
  /// Takes slabs out in which no block is in use: all of them, or, given the queue, those that it
  /// is done with until no more is idle than should be.
  std::vector<std::unique_ptr<Slab>> takeIdle(Queue *queue = nullptr);
  void destroy(Slab &slab);

  size_t largest() const { return largestBlock; }
  size_t bound() const { return byteBound; }

private:
  struct Free {
    Slab *slab;
    uint32_t block;
  };

  std::unique_ptr<Slab> make(size_t blockBytes, uint32_t blocks, int sizeClass, Kind kind,
                             bool mapped);
  size_t blockBytes(int sizeClass) const;

  Context &context;
  bool mapped;
  size_t largestBlock, byteBound, idleBound;
  std::atomic<size_t> idle{0}; // bytes of freeBlocks
  std::mutex lock;
  std::map<uintptr_t, std::unique_ptr<Slab>> slabs; // by address
  std::vector<std::vector<Free>> freeBlocks;        // by class; what was freed last goes first
};

} // namespace xtensor::vulkan
