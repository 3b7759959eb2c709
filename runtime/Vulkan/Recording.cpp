// Writes command buffers.
#include "Recording.h"

#include <algorithm>

using namespace xtensor;
using namespace xtensor::vulkan;

/// Ranges kept between two barriers; beyond that, comparing costs more than the barrier.
static constexpr size_t kRanges = 128;
static constexpr uint32_t kSetsPerPool = 32;

bool Recorder::init(uint32_t family) {
  VkCommandPoolCreateInfo create = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  create.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  create.queueFamilyIndex = family;
  return context.check(context.vk.CreateCommandPool(context.device, &create, nullptr, &pool),
                       "a pool of commands");
}

std::unique_ptr<Recording> Recorder::make() {
  auto made = std::make_unique<Recording>();
  VkCommandBufferAllocateInfo allocate = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  allocate.commandPool = pool;
  allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  allocate.commandBufferCount = 1;
  if (!context.check(context.vk.AllocateCommandBuffers(context.device, &allocate, &made->commands),
                     "a buffer of commands"))
    return nullptr;
  return made;
}

static void barrier(Context &context, VkCommandBuffer commands, VkPipelineStageFlags to,
                    VkAccessFlags access) {
  VkMemoryBarrier memory = {VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  memory.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
  memory.dstAccessMask = access;
  context.vk.CmdPipelineBarrier(
      commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT, to, 0, 1,
      &memory, 0, nullptr, 0, nullptr);
}

static void deviceBarrier(Context &context, VkCommandBuffer commands) {
  barrier(context, commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
          VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT |
              VK_ACCESS_TRANSFER_WRITE_BIT);
}

bool Recorder::begin(Recording &recording) {
  current = &recording;
  recording.uses.clear();
  recording.key.clear();
  recording.arena = recording.value = 0;
  before.clear();
  now.clear();
  poolsUsed = 0;
  for (VkDescriptorPool pool : recording.pools)
    context.vk.ResetDescriptorPool(context.device, pool, 0);
  VkCommandBufferBeginInfo begin = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  // A replay is sent while the last one may still run.
  begin.flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
  if (!context.check(context.vk.BeginCommandBuffer(recording.commands, &begin), "recording")) {
    current = nullptr;
    return false;
  }
  // What was sent before is done with its buffers before this touches any.
  deviceBarrier(context, recording.commands);
  return true;
}

bool Recorder::end() {
  VkCommandBuffer commands = current->commands;
  current = nullptr;
  // The CPU reads results, and what was reported, without a copy where it can.
  barrier(context, commands, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
  return context.check(context.vk.EndCommandBuffer(commands), "recording");
}

void Recorder::touch(const Place &place, const void *address, size_t bytes, bool written) {
  uintptr_t begin = reinterpret_cast<uintptr_t>(address);
  now.push_back({begin, begin + bytes, written});
  for (const Recording::Use &use : current->uses)
    if (use.slab == place.slab && use.block == place.block)
      return;
  current->uses.push_back({place.slab, place.block});
}

void Recorder::order() {
  bool meets = before.size() + now.size() > kRanges;
  for (size_t i = 0; i < now.size() && !meets; ++i)
    for (const Range &range : before)
      meets |=
          (range.written || now[i].written) && range.begin < now[i].end && now[i].begin < range.end;
  if (meets) {
    deviceBarrier(context, current->commands);
    barriers.fetch_add(1, std::memory_order_relaxed);
    before.clear();
  }
  before.insert(before.end(), now.begin(), now.end());
  now.clear();
}

VkDescriptorSet Recorder::descriptorSet(const Layout &layout, uint32_t buffers) {
  VkDescriptorSetAllocateInfo allocate = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  allocate.descriptorSetCount = 1;
  allocate.pSetLayouts = &layout.set;
  VkDescriptorSet set = VK_NULL_HANDLE;
  for (;; ++poolsUsed) {
    bool fresh = poolsUsed == current->pools.size();
    if (fresh) {
      VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                   std::max(8 * kSetsPerPool, buffers)};
      VkDescriptorPoolCreateInfo create = {VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
      create.maxSets = kSetsPerPool;
      create.poolSizeCount = 1;
      create.pPoolSizes = &size;
      VkDescriptorPool pool;
      if (!context.check(context.vk.CreateDescriptorPool(context.device, &create, nullptr, &pool),
                         "a pool of buffers' names"))
        return VK_NULL_HANDLE;
      current->pools.push_back(pool);
    }
    allocate.descriptorPool = current->pools[poolsUsed];
    VkResult result = context.vk.AllocateDescriptorSets(context.device, &allocate, &set);
    if (result == VK_SUCCESS)
      return set;
    bool full = result == VK_ERROR_OUT_OF_POOL_MEMORY || result == VK_ERROR_FRAGMENTED_POOL;
    if (fresh || !full) {
      context.check(result, "naming buffers");
      return VK_NULL_HANDLE;
    }
  }
}

bool Recorder::launch(const Pipeline &pipeline, const xt_kernel &kernel, const int64_t groups[3],
                      void *const *buffers, const int64_t *extents, const int32_t *numbers) {
  VkDescriptorBufferInfo infos[64];
  VkWriteDescriptorSet writes[64];
  auto count = static_cast<uint32_t>(kernel.buffers);
  for (uint32_t i = 0; i < count; ++i) {
    Place place;
    // Elements of 8 and 16 bits may be read by the word.
    size_t extent =
        extents ? (static_cast<size_t>(std::max<int64_t>(extents[i], 1)) + 3) & ~3ull : 4;
    if (!memory.find(buffers[i], extent, place))
      return false;
    if (place.offset % context.limits.storageAlignment)
      return fail("%s: buffer %u of kernel %s begins at %p, which is not a multiple of %zu",
                  context.limits.name.c_str(), i, kernel.name, buffers[i],
                  context.limits.storageAlignment) == 0;
    size_t bytes = extents ? extent : std::min(place.rest, context.limits.storageRange) & ~3ull;
    infos[i] = {place.slab->buffer.handle, place.offset, bytes};
    writes[i] = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    writes[i].dstBinding = i;
    writes[i].descriptorCount = 1;
    writes[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    writes[i].pBufferInfo = &infos[i];
    touch(place, buffers[i], bytes, kernel.writes >> i & 1);
  }
  VkDescriptorSet set = descriptorSet(*pipeline.layout, count);
  if (!set)
    return false;
  for (uint32_t i = 0; i < count; ++i)
    writes[i].dstSet = set;
  auto &vk = context.vk;
  vk.UpdateDescriptorSets(context.device, count, writes, 0, nullptr);
  order();
  VkCommandBuffer commands = current->commands;
  vk.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.handle);
  vk.CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.layout->pipeline, 0,
                           1, &set, 0, nullptr);
  if (kernel.numbers > 0)
    vk.CmdPushConstants(commands, pipeline.layout->pipeline, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                        static_cast<uint32_t>(4 * kernel.numbers), numbers);
  vk.CmdDispatch(commands, static_cast<uint32_t>(groups[0]), static_cast<uint32_t>(groups[1]),
                 static_cast<uint32_t>(groups[2]));
  return true;
}

bool Recorder::copy(void *to, const void *from, size_t bytes) {
  Place target, source;
  if (!memory.find(to, bytes, target) || !memory.find(from, bytes, source))
    return false;
  if (target.slab == source.slab && target.offset < source.offset + bytes &&
      source.offset < target.offset + bytes)
    return fail("%s: a copy of %zu bytes from %p to %p overlaps itself",
                context.limits.name.c_str(), bytes, from, to) == 0;
  touch(target, to, bytes, true);
  touch(source, from, bytes, false);
  order();
  VkBufferCopy region = {source.offset, target.offset, bytes};
  context.vk.CmdCopyBuffer(current->commands, source.slab->buffer.handle,
                           target.slab->buffer.handle, 1, &region);
  return true;
}

bool Recorder::upload(const Place &to, const Buffer &from, size_t offset, size_t bytes) {
  touch(to, to.slab->base + to.offset, bytes, true);
  order();
  VkBufferCopy region = {offset, to.offset, bytes};
  context.vk.CmdCopyBuffer(current->commands, from.handle, to.slab->buffer.handle, 1, &region);
  return true;
}

bool Recorder::download(const Buffer &to, size_t offset, const Place &from, size_t bytes) {
  touch(from, from.slab->base + from.offset, bytes, false);
  order();
  VkBufferCopy region = {from.offset, offset, bytes};
  context.vk.CmdCopyBuffer(current->commands, from.slab->buffer.handle, to.handle, 1, &region);
  return true;
}

void Recorder::clear(const Place &place, size_t bytes) {
  touch(place, place.slab->base + place.offset, bytes, true);
  order();
  context.vk.CmdFillBuffer(current->commands, place.slab->buffer.handle, place.offset, bytes, 0);
}
