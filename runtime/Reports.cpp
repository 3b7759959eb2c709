// Slots and tickets.
#include "Reports.h"

#include <algorithm>

using namespace xtensor;

void Slot::clear() {
  for (int i = 0; i < kWords; ++i)
    words[i] = 0;
  clean = true;
}

bool Reports::refill() {
  if (free.empty())
    make(free);
  return !free.empty();
}

Slot *Reports::take() {
  std::lock_guard<std::mutex> guard(lock);
  if (!refill())
    return nullptr;
  Slot *slot = free.back();
  free.pop_back();
  if (!slot->clean && timeline.done(slot->lastUse))
    slot->clear();
  return slot;
}

Slot *Reports::takeClean() {
  std::lock_guard<std::mutex> guard(lock);
  auto atRest = [&](Slot *slot) { return slot->clean || timeline.done(slot->lastUse); };
  auto found = std::find_if(free.begin(), free.end(), atRest);
  if (found == free.end()) {
    size_t before = free.size();
    make(free);
    if (free.size() == before)
      return nullptr;
    found = free.begin() + static_cast<ptrdiff_t>(before);
  }
  Slot *slot = *found;
  free.erase(found);
  slot->clear();
  return slot;
}

void Reports::put(Slot *slot) {
  std::lock_guard<std::mutex> guard(lock);
  free.push_back(slot);
}

int32_t Ticket::wait(xt_status *status) {
  std::lock_guard<std::mutex> guard(lock);
  if (!known) {
    if (!reports.timeline.wait(value))
      return 1;
    uint32_t words[Slot::kWords];
    for (int i = 0; i < Slot::kWords; ++i)
      words[i] = value ? slot->words[i] : 0;
    if (words[0]) {
      answer.code = words[0] == Slot::kTooManySteps ? 4 : 1;
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
  reports.put(slot);
}
