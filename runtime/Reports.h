// The slots in which kernels report errors, and the tickets by which a thread reads them.
#pragma once

#include "Backend.h"

#include <functional>
#include <vector>

namespace xtensor {

/// The submissions of a device, done in the order in which they are sent; each has a number.
class Timeline {
public:
  virtual bool done(uint64_t number) = 0;
  /// False, with xt_device_error set, on timeout and if the device is lost.
  virtual bool wait(uint64_t number) = 0;
  /// The number of the latest.
  virtual uint64_t last() const = 0;

protected:
  ~Timeline() = default;
};

/// Words of one call: site + 1, index (low, high), size (low, high).
struct Slot {
  static constexpr int kWords = 5;
  /// Instead of a site: a loop took more steps than the device takes, which `size` is.
  static constexpr uint32_t kTooManySteps = 0x7fffffff;

  void *address;            // as the device sees them
  volatile uint32_t *words; // as the CPU sees them
  uint64_t lastUse = 0;     // the submission that may write them
  bool clean = false;       // else they may hold what an earlier call reported

  void clear();
};

class Reports {
public:
  /// `make` adds slots, or sets xt_device_error.
  Reports(Timeline &timeline, std::function<void(std::vector<Slot *> &)> make)
      : timeline(timeline), make(std::move(make)) {}

  /// The slot that was given back last, so that a call that is made again gets its own again. It
  /// may have to be cleared by the device, in order.
  Slot *take();
  /// A clean one.
  Slot *takeClean();
  void put(Slot *slot);

private:
  friend struct Ticket;
  bool refill();

  Timeline &timeline;
  std::function<void(std::vector<Slot *> &)> make;
  std::mutex lock;
  std::vector<Slot *> free;
};

struct Ticket final : xt_ticket {
  Ticket(Reports &reports, Slot *slot) : reports(reports), slot(slot) {}

  int32_t wait(xt_status *status) override;
  ~Ticket() override;

  /// Work of the call was sent.
  void sent(uint64_t number) { slot->lastUse = value = number; }

  Reports &reports;
  Slot *const slot;

private:
  uint64_t value = 0; // the submission that may report; 0: nothing was sent
  std::mutex lock;
  bool known = false;
  xt_status answer = {};
};

} // namespace xtensor
