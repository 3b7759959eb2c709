// The driver's buffers, and the kind of memory that each of them uses.
#include "Memory.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace xtensor;
using namespace xtensor::vulkan;

static constexpr size_t kAlignment = kBlockAlignment;

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
  if (!made)
    vk.DestroyBuffer(context.device, buffer.handle, nullptr);
  if (!made && buffer.memory)
    vk.FreeMemory(context.device, buffer.memory, nullptr);
  return made;
}

void vulkan::destroyBuffer(Context &context, const Buffer &buffer) {
  context.vk.DestroyBuffer(context.device, buffer.handle, nullptr);
  context.vk.FreeMemory(context.device, buffer.memory, nullptr);
}

/// Some drivers know no limit; no size has more classes than there are.
static size_t largestOf(const Context &context) {
  size_t limit = std::min(context.limits.allocation, size_t(1) << 46);
  return limit / kAlignment * kAlignment - kAlignment;
}

/// The largest heap of the device's own.
static size_t heapOf(const Context &context) {
  size_t largest = 0;
  for (uint32_t i = 0; i < context.memory.memoryHeapCount; ++i)
    if (context.memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)
      largest = std::max<size_t>(largest, context.memory.memoryHeaps[i].size);
  return largest ? largest : SIZE_MAX;
}

/// Memory that the CPU shares is kept as by xt_free.
static size_t keptOf(const Context &context, bool mapped) {
  if (!mapped)
    return SIZE_MAX;
  size_t ram = size_t(sysconf(_SC_PHYS_PAGES)) * size_t(sysconf(_SC_PAGESIZE));
  return std::min(ram / 4, size_t(4) << 30);
}

Memory::Memory(Context &context, bool mapped)
    : Slabs(context.limits.name.c_str(), largestOf(context), heapOf(context),
            keptOf(context, mapped)),
      context(context), mapped(mapped) {}

std::unique_ptr<Slab> Memory::make(size_t blockBytes, uint32_t blocks) {
  return make(blockBytes, blocks, Kind::Device, mapped);
}

std::unique_ptr<Slab> Memory::make(size_t blockBytes, uint32_t blocks, Kind kind, bool mapped) {
  auto slab = std::make_unique<Slab>();
  slab->bytes = blockBytes * blocks;
  if (!makeBuffer(context, slab->bytes, kind, mapped, slab->buffer))
    return nullptr;
  slab->base = slab->buffer.host;
  if (!mapped) {
    void *range =
        mmap(nullptr, slab->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) {
      destroyBuffer(context, slab->buffer);
      return nullptr;
    }
    slab->base = static_cast<char *>(range);
  }
  slab->blockBytes = blockBytes;
  slab->blocks = blocks;
  slab->lastUse.reset(new std::atomic<uint64_t>[blocks]());
  return slab;
}

void Memory::destroy(Slab &slab) {
  if (!slab.buffer.host)
    munmap(slab.base, slab.bytes);
  destroyBuffer(context, slab.buffer);
}

Slab *Memory::makeReports() {
  std::unique_ptr<Slab> made = make(kAlignment, 64, Kind::Readback, true);
  return made ? add(std::move(made)) : nullptr;
}

std::vector<std::unique_ptr<Slab>> Memory::takeIdle(Queue *queue) {
  return Slabs::takeIdle(!queue, [&](const Slab &slab) {
    for (uint32_t block = 0; queue && block < slab.blocks; ++block)
      if (!queue->done(slab.lastUse[block]))
        return false;
    return true;
  });
}
