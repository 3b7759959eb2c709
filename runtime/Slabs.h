// Memory of a device: a driver's allocations, cut into blocks of fixed size classes (four per
// power of two, as on the CPU). Freed blocks are kept. Each backend says how the driver allocates,
// and what it stores about a block.
#pragma once

#include "Backend.h"
#include "BlockSizes.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

namespace xtensor {

/// One allocation of the driver's, in blocks of one size.
struct SlabBase {
  char *base = nullptr; // its first byte, as addresses of arrays name it
  size_t bytes = 0, blockBytes = 0;
  uint32_t blocks = 0, used = 0;
  int sizeClass = -1; // -1: none of these is handed out
};

/// What an address names.
template <typename Slab>
struct PlaceIn {
  Slab *slab;
  uint32_t block;
  size_t offset; // in the slab
  size_t rest;   // bytes up to the end of the block
};

template <typename Slab>
class Slabs {
public:
  using Place = PlaceIn<Slab>;

  /// `name`: the device's, for messages. `largest`: bytes of one block, `all`: of all of them,
  /// `kept`: of those that are idle, half of all at most; the environment may say otherwise.
  Slabs(const char *name, size_t largest, size_t all, size_t kept)
      : name(name), largestBlock(largest), byteBound(all), idleBound(kept),
        freeBlocks(kBlockClasses) {
    if (const char *text = getenv("XTENSOR_DEVICE_MEMORY"))
      byteBound = strtoull(text, nullptr, 10);
    idleBound = std::min(idleBound, byteBound / 2);
    if (const char *text = getenv("XTENSOR_CACHE_BYTES"))
      idleBound = strtoull(text, nullptr, 10);
  }
  virtual ~Slabs() = default;

  /// Null, without an error message, if no block is free: trim, and try again. The block that was
  /// freed last is used first.
  void *take(size_t bytes) {
    int sizeClass = DeviceBlocks::classOf(bytes);
    if (bytes > largestBlock || sizeClass >= kBlockClasses)
      return nullptr;
    std::lock_guard<std::mutex> guard(lock);
    std::vector<Free> &list = freeBlocks[sizeClass];
    if (list.empty()) {
      size_t each = std::min(DeviceBlocks::bytesOf(sizeClass), largestBlock);
      auto blocks = static_cast<uint32_t>(blocksAtOnce(each));
      std::unique_ptr<Slab> made;
      if (held + each * blocks <= byteBound)
        made = make(each, blocks);
      if (!made)
        return nullptr;
      made->sizeClass = sizeClass;
      for (uint32_t block = blocks; block-- > 0;)
        list.push_back({made.get(), block});
      idle += made->bytes;
      held += made->bytes;
      addLocked(std::move(made));
    }
    Free found = list.back();
    list.pop_back();
    ++found.slab->used;
    idle -= found.slab->blockBytes;
    return found.slab->base + found.block * found.slab->blockBytes;
  }

  void put(void *address) {
    Place place;
    if (!find(address, 0, place))
      return;
    std::lock_guard<std::mutex> guard(lock);
    --place.slab->used;
    idle += place.slab->blockBytes;
    freeBlocks[place.slab->sizeClass].push_back({place.slab, place.block});
  }

  /// False, with xt_device_error set, if nothing is there, or fewer than `bytes`.
  bool find(const void *address, size_t bytes, Place &place) {
    auto number = reinterpret_cast<uintptr_t>(address);
    std::lock_guard<std::mutex> guard(lock);
    auto next = slabs.upper_bound(number);
    if (next != slabs.begin()) {
      Slab *slab = std::prev(next)->second.get();
      size_t offset = number - reinterpret_cast<uintptr_t>(slab->base);
      if (offset < slab->bytes) {
        size_t block = offset / slab->blockBytes;
        place = {slab, static_cast<uint32_t>(block), offset,
                 (block + 1) * slab->blockBytes - offset};
        if (bytes <= place.rest)
          return true;
        return fail("%s: %zu bytes from %p on reach beyond their array (%zu bytes)", name, bytes,
                    address, place.rest) == 0;
      }
    }
    return fail("%s: %p is not memory of this device", name, address) == 0;
  }

  size_t idleBytes() const { return idle.load(std::memory_order_relaxed); }
  /// More than should be kept idle.
  bool full() const { return idleBytes() > idleBound; }
  /// All that the driver was asked for.
  size_t heldBytes() const { return held.load(std::memory_order_relaxed); }
  size_t largest() const { return largestBlock; }
  size_t bound() const { return byteBound; }

protected:
  /// Memory from the driver. Null, without an error message, if the driver has none left.
  virtual std::unique_ptr<Slab> make(size_t blockBytes, uint32_t blocks) = 0;

  /// Memory that is found, and not handed out.
  Slab *add(std::unique_ptr<Slab> slab) {
    slab->used = slab->blocks;
    std::lock_guard<std::mutex> guard(lock);
    return addLocked(std::move(slab));
  }

  /// Takes out slabs in which no block is in use and that `atRest` is true of: all, or those that
  /// are too many to keep.
  template <typename AtRest>
  std::vector<std::unique_ptr<Slab>> takeIdle(bool all, AtRest atRest) {
    std::lock_guard<std::mutex> guard(lock);
    std::vector<std::unique_ptr<Slab>> taken;
    std::set<const Slab *> gone;
    for (auto at = slabs.begin(); at != slabs.end() && (all || full());) {
      if (at->second->used > 0 || !atRest(*at->second)) {
        ++at;
        continue;
      }
      idle -= at->second->bytes;
      held -= at->second->bytes;
      gone.insert(at->second.get());
      taken.push_back(std::move(at->second));
      at = slabs.erase(at);
    }
    if (!taken.empty())
      for (std::vector<Free> &list : freeBlocks)
        list.erase(std::remove_if(list.begin(), list.end(),
                                  [&](const Free &block) { return gone.count(block.slab) > 0; }),
                   list.end());
    return taken;
  }

private:
  struct Free {
    Slab *slab;
    uint32_t block;
  };

  Slab *addLocked(std::unique_ptr<Slab> slab) {
    Slab *added = slab.get();
    slabs.emplace(reinterpret_cast<uintptr_t>(added->base), std::move(slab));
    return added;
  }

  const char *name;
  size_t largestBlock, byteBound, idleBound;
  std::atomic<size_t> idle{0}, held{0}; // bytes: of freeBlocks, of all but what was added
  std::mutex lock;
  std::map<uintptr_t, std::unique_ptr<Slab>> slabs; // by address
  std::vector<std::vector<Free>> freeBlocks;        // by class; what was freed last goes first
};

} // namespace xtensor
