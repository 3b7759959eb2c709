#include "Memory.h"

#include "../Backend.h"
#include "../BlockSizes.h"

#include <algorithm>
#include <cstdlib>

using namespace xtensor;
using namespace xtensor::metal;

Memory::Memory(Gpu &gpu) : gpu(gpu), bound(static_cast<size_t>(gpu.limits.memoryBytes) / 4) {
  if (const char *text = getenv("XTENSOR_CACHE_BYTES"))
    bound = strtoull(text, nullptr, 10);
}

void *Memory::take(size_t bytes) {
  size_t size = DeviceBlocks::bytesOf(DeviceBlocks::classOf(bytes));
  std::lock_guard<std::mutex> guard(lock);
  std::vector<char *> &free = idle[size];
  if (free.empty()) {
    auto slab = std::make_unique<Slab>();
    size_t blocks = blocksAtOnce(size);
    if (!gpu.makeBuffer(blocks * size, slab->buffer))
      return nullptr;
    slab->blockBytes = size;
    slab->lastUse = std::vector<std::atomic<uint64_t>>(blocks);
    slab->idle = blocks;
    idleTotal += blocks * size;
    for (size_t i = blocks; i-- > 0;)
      free.push_back(slab->buffer.contents + i * size);
    slabs[slab->buffer.contents] = std::move(slab);
  }
  char *found = free.back();
  free.pop_back();
  idleTotal -= size;
  --slabOf(found)->idle;
  return found;
}

void Memory::put(void *address) {
  std::lock_guard<std::mutex> guard(lock);
  auto *block = static_cast<char *>(address);
  Slab *slab = slabOf(block);
  if (!slab)
    return;
  ++slab->idle;
  idleTotal += slab->blockBytes;
  idle[slab->blockBytes].push_back(block);
}

Slab *Memory::slabOf(const char *address) {
  auto after = slabs.upper_bound(address);
  if (after == slabs.begin())
    return nullptr;
  Slab *slab = std::prev(after)->second.get();
  return address < slab->buffer.contents + slab->buffer.bytes ? slab : nullptr;
}

bool Memory::find(const void *address, size_t bytes, Span &span) {
  std::lock_guard<std::mutex> guard(lock);
  auto *from = static_cast<const char *>(address);
  Slab *slab = slabOf(from);
  size_t offset = slab ? static_cast<size_t>(from - slab->buffer.contents) : 0;
  if (!slab || offset % slab->blockBytes + bytes > slab->blockBytes)
    return fail("%s: %zu bytes at %p are no memory of it", gpu.limits.name, bytes, address) == 0;
  span = {slab, offset};
  return true;
}

void Memory::trim() {
  std::lock_guard<std::mutex> guard(lock);
  for (auto it = slabs.begin(); it != slabs.end();) {
    Slab &slab = *it->second;
    if (slab.idle < slab.lastUse.size()) {
      ++it;
      continue;
    }
    const char *begin = slab.buffer.contents, *end = begin + slab.buffer.bytes;
    std::vector<char *> &free = idle[slab.blockBytes];
    free.erase(std::remove_if(free.begin(), free.end(),
                              [&](char *block) { return begin <= block && block < end; }),
               free.end());
    idleTotal -= slab.buffer.bytes;
    gpu.dropBuffer(slab.buffer);
    it = slabs.erase(it);
  }
}

size_t Memory::idleBytes() {
  std::lock_guard<std::mutex> guard(lock);
  return idleTotal;
}

size_t Memory::heldBytes() {
  std::lock_guard<std::mutex> guard(lock);
  size_t total = 0;
  for (const auto &[begin, slab] : slabs)
    total += slab->buffer.bytes;
  return total;
}
