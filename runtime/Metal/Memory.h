// Memory of a device: Slabs.h on shared buffers.
#pragma once

#include "../Slabs.h"
#include "Api.h"

namespace xtensor::metal {

struct Slab : SlabBase {
  Buffer buffer;
  /// Per block: the number of the last list of commands that touches it.
  std::unique_ptr<std::atomic<uint64_t>[]> lastUse;
};

struct Span : PlaceIn<Slab> {
  Place place() const { return {&slab->buffer, offset}; }
  std::atomic<uint64_t> &lastUse() const { return slab->lastUse[block]; }
};

class Memory : public Slabs<Slab> {
public:
  explicit Memory(Gpu &gpu);

  /// Gives whole buffers in which nothing is used back to the driver. No work may be under way.
  void trim();

private:
  std::unique_ptr<Slab> make(size_t blockBytes, uint32_t blocks) override;

  Gpu &gpu;
};

} // namespace xtensor::metal
