// Where kernels report what is wrong, and the tickets by which it is learnt.
#pragma once

#include "Recording.h"

#include "../Backend.h"

namespace xtensor::vulkan {

class Reports;

/// Words of one call: site + 1, index (low, high), size (low, high).
struct Slot {
  Place place;
  volatile uint32_t *words; // as the CPU sees them
  bool clean = true;        // else they may hold what an earlier call reported
  std::unique_ptr<Recording> clearing;
};

struct Ticket final : xt_ticket {
  Reports *reports;
  Slot *slot;
  uint64_t value = 0; // the submission that may report; 0: nothing was sent
  std::mutex lock;
  bool known = false;
  xt_status answer = {};

  int32_t wait(xt_status *status) override;
  ~Ticket() override;
};

class Reports {
public:
  Reports(Queue &queue, Memory &memory) : queue(queue), memory(memory) {}

  /// The slot that was given back last, so that a call that is made again gets its own again.
  Slot *take();
  void put(Slot *slot);

private:
  friend struct Ticket;

  Queue &queue;
  Memory &memory;
  std::mutex lock;
  std::vector<Slot *> free;
};

} // namespace xtensor::vulkan
