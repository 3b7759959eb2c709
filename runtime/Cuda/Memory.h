// Memory of a device: the driver's allocations, cut into blocks of fixed classes of sizes, which
// are kept when they are freed.
#pragma once

#include "Stream.h"

#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace xtensor::cuda {

/// One allocation of the driver's, in blocks of one size.
struct Slab {
  char *base; // as the device sees it
  size_t bytes, blockBytes;
  int sizeClass;
  uint32_t blocks, used = 0;
  char *host = nullptr; // memory of the CPU's that the device sees: its own address
};

/// What an address names.
struct Place {
  Slab *slab;
  uint32_t block;
  size_t rest; // bytes up to the end of the block
};

/// Memory of the CPU's that the device copies to and from without the driver's help. Null, with
/// xt_device_error set, if there is none.
char *pinned(Context &context, size_t bytes);

class Memory {
public:
  Memory(Context &context, size_t bytes);

  /// Null, with nothing said, if there is none: trim, and try again.
  void *take(size_t bytes);
  void put(void *address);
  /// False, with xt_device_error set, if nothing is there, or fewer than `bytes`.
  bool find(const void *address, size_t bytes, Place &place);
  /// Blocks of 256 bytes of the CPU's that kernels write to.
  Slab *makeReports();

  size_t idleBytes() const { return idle.load(std::memory_order_relaxed); }
  /// More than should be kept idle.
  bool full() const { return idleBytes() > idleBound; }
  /// Gives slabs in which no block is in use back to the driver, until no more than `keep` bytes
  /// are idle. The driver waits for what is under way.
  void trim(size_t keep);
  size_t idleLimit() const { return idleBound; }
  /// All that may be taken.
  size_t bytes() const { return byteBound; }

private:
  struct Free {
    Slab *slab;
    uint32_t block;
  };

  Context &context;
  size_t byteBound, idleBound;
  std::atomic<size_t> idle{0}; // bytes of freeBlocks
  std::mutex lock;
  std::map<uintptr_t, std::unique_ptr<Slab>> slabs; // by address
  std::vector<std::vector<Free>> freeBlocks;        // by class; what was freed last goes first
};

} // namespace xtensor::cuda
