// Slots and tickets.
#include "Reports.h"

using namespace xtensor;
using namespace xtensor::cuda;

Slot *Reports::take() {
  std::lock_guard<std::mutex> guard(lock);
  if (free.empty()) {
    Slab *slab = memory.makeReports();
    if (!slab)
      return nullptr;
    for (uint32_t block = slab->blocks; block-- > 0;) {
      auto *slot = new Slot;
      slot->address = slab->base + block * slab->blockBytes;
      slot->words = reinterpret_cast<volatile uint32_t *>(slab->host + block * slab->blockBytes);
      free.push_back(slot);
    }
  }
  Slot *slot = free.back();
  free.pop_back();
  if (!slot->clean && stream.done(slot->lastUse)) {
    for (int i = 0; i < kWords; ++i)
      slot->words[i] = 0;
    slot->clean = true;
  }
  return slot;
}

void Reports::put(Slot *slot) {
  std::lock_guard<std::mutex> guard(lock);
  free.push_back(slot);
}

int32_t Ticket::wait(xt_status *status) {
  std::lock_guard<std::mutex> guard(lock);
  if (!known) {
    if (!reports->stream.wait(value))
      return 1;
    uint32_t words[Reports::kWords];
    for (int i = 0; i < Reports::kWords; ++i)
      words[i] = value ? slot->words[i] : 0;
    if (words[0]) {
      answer.code = 1;
      answer.site = static_cast<int32_t>(words[0] - 1);
      answer.index = static_cast<int64_t>(words[1] | uint64_t(words[2]) << 32);
      answer.size = static_cast<int64_t>(words[3] | uint64_t(words[4]) << 32);
    }
    known = true;
  }
  *status = answer;
  return 0;
}

Ticket::~Ticket() {
  if (value)
    slot->clean = known && answer.code == 0;
  reports->put(slot);
}
