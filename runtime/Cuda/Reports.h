// Where kernels report what is wrong, and the tickets by which it is learnt.
#pragma once

#include "Memory.h"

#include "../Backend.h"

namespace xtensor::cuda {

class Reports;

/// Words of one call: site + 1, index (low, high), size (low, high).
struct Slot {
  char *address;            // as the device sees them
  volatile uint32_t *words; // as the CPU sees them
  uint64_t lastUse = 0;     // the submission that may write them
  bool clean = false;       // else they may hold what an earlier call reported
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
  static constexpr int kWords = 5;

  Reports(Stream &stream, Memory &memory) : stream(stream), memory(memory) {}

  /// The slot that was given back last, so that a call that is made again gets its own again.
  Slot *take();
  void put(Slot *slot);

private:
  friend struct Ticket;

  Stream &stream;
  Memory &memory;
  std::mutex lock;
  std::vector<Slot *> free;
};

} // namespace xtensor::cuda
