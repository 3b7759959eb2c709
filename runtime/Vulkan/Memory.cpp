// Blocks of device memory in four classes of sizes per doubling, as on the CPU. Small ones share a
// buffer; large ones have one each.
#include "Memory.h"

#include "../Backend.h"
#include "../BlockSizes.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sys/mman.h>
#include <unistd.h>

using namespace xtensor;
using namespace xtensor::vulkan;

static constexpr size_t kAlignment = kBlockAlignment;

size_t Memory::blockBytes(int sizeClass) const {
  return std::min(DeviceBlocks::bytesOf(sizeClass), largestBlock);
}

/// The type among `allowed` that has all of `must`, most of `good`, and least of `bad`.
static int memoryType(const Context &context, uint32_t allowed, VkMemoryPropertyFlags must,
                      VkMemoryPropertyFlags good, VkMemoryPropertyFlags bad) {
  int best = -1, bestScore = 0;
  for (uint32_t i = 0; i < context.memory.memoryTypeCount; ++i) {
    VkMemoryPropertyFlags has = context.memory.memoryTypes[i].propertyFlags;
    if (!(allowed >> i & 1) || (has & must) != must)
      continue;
    int score = __builtin_popcount(has & good) - __builtin_popcount(has & bad);
    if (best < 0 || score > bestScore) {
      best = static_cast<int>(i);
      bestScore = score;
    }
  }
  return best;
}

static int memoryType(const Context &context, uint32_t allowed, Kind kind, bool mapped) {
  constexpr VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                                  visible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT,
                                  coherent = VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                                  cached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
  switch (kind) {
  case Kind::Device:
    return mapped ? memoryType(context, allowed, local | visible | coherent, cached, 0)
                  : memoryType(context, allowed, local, 0, visible | cached);
  case Kind::Upload:
    return memoryType(context, allowed, visible | coherent, 0, local | cached);
  case Kind::Readback:
    return memoryType(context, allowed, visible | coherent, cached, local);
  }
  return -1;
}

bool vulkan::makeBuffer(Context &context, size_t bytes, Kind kind, bool mapped, Buffer &buffer) {
  auto &vk = context.vk;
  buffer = {};
  VkBufferCreateInfo create = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  create.size = bytes;
  create.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  if (vk.CreateBuffer(context.device, &create, nullptr, &buffer.handle) != VK_SUCCESS)
    return false;
  VkMemoryRequirements needs;
  vk.GetBufferMemoryRequirements(context.device, buffer.handle, &needs);
  int type = memoryType(context, needs.memoryTypeBits, kind, mapped);
  VkMemoryAllocateInfo allocate = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  // Drivers map at 64 bytes and more; what is missing up to our alignment is skipped.
  allocate.allocationSize = needs.size + (mapped && needs.alignment < kAlignment ? kAlignment : 0);
  allocate.memoryTypeIndex = static_cast<uint32_t>(type);
  buffer.bytes = bytes;
  buffer.kind = kind;
  VkDeviceSize skip = 0;
  bool made = type >= 0 &&
              vk.AllocateMemory(context.device, &allocate, nullptr, &buffer.memory) == VK_SUCCESS;
  if (made && mapped) {
    void *host = nullptr;
    made = vk.MapMemory(context.device, buffer.memory, 0, VK_WHOLE_SIZE, 0, &host) == VK_SUCCESS;
    buffer.host = static_cast<char *>(host);
    if (needs.alignment < kAlignment)
      skip = roundUp(reinterpret_cast<uintptr_t>(host), kAlignment) -
             reinterpret_cast<uintptr_t>(host);
    buffer.host += skip;
  }
  made =
      made && vk.BindBufferMemory(context.device, buffer.handle, buffer.memory, skip) == VK_SUCCESS;
  if (made && kind == Kind::Device)
    context.driverBytes += static_cast<int64_t>(bytes);
  if (!made)
    vk.DestroyBuffer(context.device, buffer.handle, nullptr);
  if (!made && buffer.memory)
    vk.FreeMemory(context.device, buffer.memory, nullptr);
  return made;
}

void vulkan::destroyBuffer(Context &context, const Buffer &buffer) {
  context.vk.DestroyBuffer(context.device, buffer.handle, nullptr);
  context.vk.FreeMemory(context.device, buffer.memory, nullptr);
  if (buffer.kind == Kind::Device)
    context.driverBytes -= static_cast<int64_t>(buffer.bytes);
}

Memory::Memory(Context &context, bool mapped)
    : context(context), mapped(mapped), freeBlocks(kBlockClasses) {
  // Some drivers know no limit; no size has more classes than there are.
  size_t limit = std::min(context.limits.allocation, size_t(1) << 46);
  largestBlock = limit / kAlignment * kAlignment - kAlignment;
  byteBound = SIZE_MAX;
  for (uint32_t i = 0; i < context.memory.memoryHeapCount; ++i)
    if (context.memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)
      byteBound = byteBound == SIZE_MAX
                      ? context.memory.memoryHeaps[i].size
                      : std::max<size_t>(byteBound, context.memory.memoryHeaps[i].size);
  if (const char *text = getenv("XTENSOR_DEVICE_MEMORY"))
    byteBound = strtoull(text, nullptr, 10);
  // Memory that the CPU shares is kept as by xt_free.
  idleBound = byteBound / 2;
  if (mapped) {
    size_t ram = size_t(sysconf(_SC_PHYS_PAGES)) * size_t(sysconf(_SC_PAGESIZE));
    idleBound = std::min(ram / 4, size_t(4) << 30);
  }
  if (const char *text = getenv("XTENSOR_CACHE_BYTES"))
    idleBound = strtoull(text, nullptr, 10);
}

std::unique_ptr<Slab> Memory::make(size_t blockBytes, uint32_t blocks, int sizeClass, Kind kind,
                                   bool mapped) {
  auto slab = std::make_unique<Slab>();
  size_t bytes = blockBytes * blocks;
  if (!makeBuffer(context, bytes, kind, mapped, slab->buffer))
    return nullptr;
  slab->base = slab->buffer.host;
  if (!mapped) {
    void *range =
        mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) {
      destroyBuffer(context, slab->buffer);
      return nullptr;
    }
    slab->base = static_cast<char *>(range);
  }
  slab->blockBytes = blockBytes;
  slab->blocks = blocks;
  slab->sizeClass = sizeClass;
  slab->lastUse.reset(new std::atomic<uint64_t>[blocks]());
  return slab;
}

void Memory::destroy(Slab &slab) {
  if (!slab.buffer.host)
    munmap(slab.base, slab.buffer.bytes);
  destroyBuffer(context, slab.buffer);
}

void *Memory::take(size_t bytes) {
  if (bytes > largestBlock)
    return nullptr;
  int sizeClass = DeviceBlocks::classOf(bytes);
  std::lock_guard<std::mutex> guard(lock);
  auto &list = freeBlocks[sizeClass];
  if (list.empty()) {
    size_t each = blockBytes(sizeClass);
    auto blocks = static_cast<uint32_t>(blocksAtOnce(each));
    if (static_cast<size_t>(context.driverBytes.load()) + each * blocks > byteBound)
      return nullptr;
    std::unique_ptr<Slab> made = make(each, blocks, sizeClass, Kind::Device, mapped);
    if (!made)
      return nullptr;
    for (uint32_t block = blocks; block-- > 0;)
      list.push_back({made.get(), block});
    idle += made->buffer.bytes;
    uintptr_t key = reinterpret_cast<uintptr_t>(made->base);
    slabs.emplace(key, std::move(made));
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
  uintptr_t number = reinterpret_cast<uintptr_t>(address);
  std::lock_guard<std::mutex> guard(lock);
  auto next = slabs.upper_bound(number);
  if (next != slabs.begin()) {
    Slab *slab = std::prev(next)->second.get();
    size_t offset = number - reinterpret_cast<uintptr_t>(slab->base);
    if (offset < slab->buffer.bytes) {
      size_t block = offset / slab->blockBytes;
      place = {slab, static_cast<uint32_t>(block), offset, (block + 1) * slab->blockBytes - offset};
      if (bytes <= place.rest)
        return true;
      return fail("%s: %zu bytes from %p on reach beyond their array (%zu bytes)",
                  context.limits.name.c_str(), bytes, address, place.rest) == 0;
    }
  }
  return fail("%s: %p is no memory of this device", context.limits.name.c_str(), address) == 0;
}

Slab *Memory::makeReports() {
  std::lock_guard<std::mutex> guard(lock);
  std::unique_ptr<Slab> made = make(kAlignment, 64, -1, Kind::Readback, true);
  if (!made)
    return nullptr;
  made->used = made->blocks;
  Slab *result = made.get();
  slabs.emplace(reinterpret_cast<uintptr_t>(made->base), std::move(made));
  return result;
}

std::vector<std::unique_ptr<Slab>> Memory::takeIdle(Queue *queue) {
  std::lock_guard<std::mutex> guard(lock);
  auto atRest = [&](const Slab &slab) {
    for (uint32_t block = 0; queue && block < slab.blocks; ++block)
      if (!queue->done(slab.lastUse[block]))
        return false;
    return true;
  };
  std::vector<std::unique_ptr<Slab>> taken;
  std::set<const Slab *> gone;
  for (auto at = slabs.begin(); at != slabs.end() && (!queue || full());) {
    if (at->second->used > 0 || !atRest(*at->second)) {
      ++at;
      continue;
    }
    idle -= at->second->buffer.bytes;
    gone.insert(at->second.get());
    taken.push_back(std::move(at->second));
    at = slabs.erase(at);
  }
  if (!taken.empty())
    for (auto &list : freeBlocks)
      list.erase(std::remove_if(list.begin(), list.end(),
                                [&](const Free &block) { return gone.count(block.slab) > 0; }),
                 list.end());
  return taken;
}
