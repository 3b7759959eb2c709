#include "DebugMemory.h"

#include <cstdlib>

static bool wanted() {
  const char *text = getenv("XTENSOR_DEBUG_MEMORY");
  return text && !strcmp(text, "1");
}

const bool xtensor::debugMemory = wanted();

/// Differs from byte to byte, so that a shifted copy of a guard is damage, too.
static unsigned char guardByte(ptrdiff_t offset) {
  return static_cast<unsigned char>(0xa5 ^ (offset * 29));
}

void xtensor::writeGuards(void *p, size_t bytes, size_t front) {
  auto *block = static_cast<unsigned char *>(p);
  auto end = static_cast<ptrdiff_t>(bytes);
  for (ptrdiff_t i = -static_cast<ptrdiff_t>(front); i < 0; ++i)
    block[i] = guardByte(i);
  for (ptrdiff_t i = end; i < end + static_cast<ptrdiff_t>(kGuard); ++i)
    block[i] = guardByte(i);
}

bool xtensor::findDamage(const void *p, size_t bytes, size_t front, ptrdiff_t &offset) {
  const auto *block = static_cast<const unsigned char *>(p);
  auto end = static_cast<ptrdiff_t>(bytes);
  for (ptrdiff_t i = -static_cast<ptrdiff_t>(front); i < end + static_cast<ptrdiff_t>(kGuard);
       i = i == -1 ? end : i + 1)
    if ((i < 0 || i >= end) && block[i] != guardByte(i)) {
      offset = i;
      return true;
    }
  return false;
}
