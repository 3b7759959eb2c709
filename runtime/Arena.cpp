// Scratch memory for the temporaries of one call: a buffer of the pool that stores its size in
// front of its data.
#include "Status.h"
#include "runtime.h"

namespace {
constexpr size_t kHeader = 64; // keeps the alignment
}

void *xt_arena_acquire(int64_t bytes) {
  size_t total = (bytes > 0 ? static_cast<size_t>(bytes) : 0) + kHeader;
  auto *block = static_cast<char *>(xt_alloc(total));
  if (!block) {
    xtensor::reportNoMemory(bytes);
    return nullptr;
  }
  *reinterpret_cast<size_t *>(block) = total;
  return block + kHeader;
}

void xt_arena_release(void *p) {
  if (!p)
    return;
  char *block = static_cast<char *>(p) - kHeader;
  size_t bytes = *reinterpret_cast<size_t *>(block);
  ptrdiff_t offset;
  if (xt_damaged(block, bytes, &offset))
    xtensor::reportDamage(offset - static_cast<ptrdiff_t>(kHeader), bytes - kHeader);
  xt_free(block, bytes);
}
