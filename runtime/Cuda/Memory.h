// Memory of a device: Slabs.h on the driver's allocations.
#pragma once

#include "../Slabs.h"
#include "Stream.h"

namespace xtensor::cuda {

struct Slab : SlabBase {
  char *host = nullptr; // memory of the CPU's that the device sees: its own address
};
using Place = PlaceIn<Slab>;

/// CPU memory that the device copies to and from without the driver's help. Null, with
/// xt_device_error set, if it cannot be allocated.
char *pinned(Context &context, size_t bytes);

class Memory : public Slabs<Slab> {
public:
  Memory(Context &context, size_t bytes);

  /// Blocks of 256 bytes of the CPU's that kernels write to.
  Slab *makeReports();
  /// Gives slabs in which no block is in use back to the driver: all, or those that are too many
  /// to keep. The driver waits for what is under way.
  void trim(bool all);

private:
  std::unique_ptr<Slab> make(size_t blockBytes, uint32_t blocks) override;

  Context &context;
};

} // namespace xtensor::cuda
