// Blocks of device memory. All work is in one stream, so that a freed block can be used again for
// whatever is asked for later.
#include "Memory.h"

#include "../Backend.h"
#include "../BlockSizes.h"

#include <algorithm>
#include <cstdlib>

using namespace xtensor;
using namespace xtensor::cuda;

char *cuda::pinned(Context &context, size_t bytes) {
  Current current(context);
  void *host = nullptr;
  if (!context.check(context.api->MemHostAlloc(&host, bytes, kHostPortable | kHostMapped),
                     "taking memory to copy through"))
    return nullptr;
  return static_cast<char *>(host);
}

Memory::Memory(Context &context, size_t bytes)
    : context(context), byteBound(bytes), freeBlocks(kBlockClasses) {
  if (const char *text = getenv("XTENSOR_DEVICE_MEMORY"))
    byteBound = strtoull(text, nullptr, 10);
  idleBound = byteBound / 2;
  if (const char *text = getenv("XTENSOR_CACHE_BYTES"))
    idleBound = strtoull(text, nullptr, 10);
}

void *Memory::take(size_t bytes) {
  int sizeClass = DeviceBlocks::classOf(bytes);
  if (sizeClass >= kBlockClasses)
    return nullptr;
  std::lock_guard<std::mutex> guard(lock);
  auto &list = freeBlocks[sizeClass];
  if (list.empty()) {
    size_t each = DeviceBlocks::bytesOf(sizeClass), blocks = blocksAtOnce(each);
    if (static_cast<size_t>(context.driverBytes.load()) + each * blocks > byteBound)
      return nullptr;
    Current current(context);
    Address base = 0;
    if (context.api->MemAlloc(&base, each * blocks) != kSuccess)
      return nullptr;
    auto made = std::make_unique<Slab>();
    made->base = reinterpret_cast<char *>(static_cast<uintptr_t>(base));
    made->bytes = each * blocks;
    made->blockBytes = each;
    made->sizeClass = sizeClass;
    made->blocks = static_cast<uint32_t>(blocks);
    for (uint32_t block = made->blocks; block-- > 0;)
      list.push_back({made.get(), block});
    idle += made->bytes;
    context.driverBytes += static_cast<int64_t>(made->bytes);
    slabs.emplace(base, std::move(made));
  }
  Free found = list.back();
  list.pop_back();
  ++found.slab->used;
  idle -= found.slab->blockBytes;
  return found.slab->base + found.block * found.slab->blockBytes;
}

void Memory::put(void *address) {
  Place place;
  if (!find(address, 0, place))
    return;
  std::lock_guard<std::mutex> guard(lock);
  --place.slab->used;
  idle += place.slab->blockBytes;
  freeBlocks[place.slab->sizeClass].push_back({place.slab, place.block});
}

bool Memory::find(const void *address, size_t bytes, Place &place) {
  auto number = reinterpret_cast<uintptr_t>(address);
  std::lock_guard<std::mutex> guard(lock);
  auto next = slabs.upper_bound(number);
  if (next != slabs.begin()) {
    Slab *slab = std::prev(next)->second.get();
    size_t offset = number - reinterpret_cast<uintptr_t>(slab->base);
    if (offset < slab->bytes) {
      size_t block = offset / slab->blockBytes;
      place = {slab, static_cast<uint32_t>(block), (block + 1) * slab->blockBytes - offset};
      if (bytes <= place.rest)
        return true;
      return fail("%s: %zu bytes from %p on reach beyond their array (%zu bytes)",
                  context.name.c_str(), bytes, address, place.rest) == 0;
    }
  }
  return fail("%s: %p is no memory of this device", context.name.c_str(), address) == 0;
}

Slab *Memory::makeReports() {
  constexpr uint32_t kBlocks = 64;
  auto made = std::make_unique<Slab>();
  made->bytes = kBlocks * kBlockAlignment;
  made->host = pinned(context, made->bytes);
  Address base = 0;
  Current current(context);
  if (!made->host || !context.check(context.api->MemHostGetDevicePointer(&base, made->host, 0),
                                    "showing the device memory for what kernels report"))
    return nullptr;
  made->base = reinterpret_cast<char *>(static_cast<uintptr_t>(base));
  made->blockBytes = kBlockAlignment;
  made->sizeClass = -1;
  made->blocks = made->used = kBlocks;
  Slab *result = made.get();
  std::lock_guard<std::mutex> guard(lock);
  slabs.emplace(base, std::move(made));
  return result;
}

void Memory::trim(size_t keep) {
  std::lock_guard<std::mutex> guard(lock);
  Current current(context);
  for (auto at = slabs.begin(); at != slabs.end() && idle > keep;) {
    Slab &slab = *at->second;
    if (slab.used > 0) {
      ++at;
      continue;
    }
    idle -= slab.bytes;
    context.driverBytes -= static_cast<int64_t>(slab.bytes);
    context.api->MemFree(at->first);
    for (auto &list : freeBlocks)
      list.erase(std::remove_if(list.begin(), list.end(),
                                [&](const Free &block) { return block.slab == &slab; }),
                 list.end());
    at = slabs.erase(at);
  }
}
