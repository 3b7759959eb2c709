// Device memory in blocks of size classes, and where an address lies.
#pragma once

#include "Api.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace xtensor::metal {

/// One buffer, cut into blocks of one size.
struct Slab {
  Buffer buffer;
  size_t blockBytes = 0;
  /// Per block: the number of the last list of commands that touches it.
  std::vector<std::atomic<uint64_t>> lastUse;
  size_t idle = 0; // blocks
};

/// Bytes that a block holds.
struct Span {
  Slab *slab = nullptr;
  size_t offset = 0;

  Place place() const { return {&slab->buffer, offset}; }
  std::atomic<uint64_t> &lastUse() const { return slab->lastUse[offset / slab->blockBytes]; }
};

class Memory {
public:
  explicit Memory(Gpu &gpu);

  /// Null if there is none. What was put last comes back first.
  void *take(size_t bytes);
  void put(void *address);
  /// False, with xt_device_error set, unless one block holds all of it.
  bool find(const void *address, size_t bytes, Span &span);
  /// Gives whole buffers in which nothing is used back to the driver. No work may be under way.
  void trim();

  size_t idleBytes();
  size_t heldBytes();
  /// More is idle than should be kept.
  bool full() { return idleBytes() > bound; }

private:
  Slab *slabOf(const char *address);

  Gpu &gpu;
  size_t bound;
  std::mutex lock;
  size_t idleTotal = 0;
  std::map<const char *, std::unique_ptr<Slab>> slabs; // by where they begin
  std::map<size_t, std::vector<char *>> idle;          // by size of the block
};

} // namespace xtensor::metal
