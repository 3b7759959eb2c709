// Opening a device, its memory, and copies to and from it.
#include "Device.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

using namespace xtensor;
using namespace xtensor::vulkan;

static constexpr size_t kChunk = size_t(8) << 20;

Device::Device(Instance &instance, VkPhysicalDevice physical) : queue(context) {
  context.instance = &instance;
  context.physical = physical;
  context.lost = &lost;
}

bool Device::init() {
  uint32_t family;
  context.device = makeDevice(*context.instance, context.physical, info, context.limits, family);
  if (!context.device)
    return false;
  info.name = context.limits.name.c_str();
  info.driver = context.limits.driver.c_str();
  context.instance->GetPhysicalDeviceMemoryProperties(context.physical, &context.memory);
  if (!loadFunctions(context.vk, *context.instance, context.device))
    return false;
  memory = std::make_unique<Memory>(context, (info.features & XT_DEVICE_UNIFIED_MEMORY) != 0);
  recorder = std::make_unique<Recorder>(context, *memory);
  kernels = std::make_unique<Kernels>(context, info);
  reports = std::make_unique<Reports>(queue, *memory);
  info.max_buffer_bytes = std::min(info.max_buffer_bytes, static_cast<int64_t>(memory->largest()));
  info.memory_bytes = static_cast<int64_t>(memory->bound());
  return queue.init(family) && recorder->init(family);
}

xt_device_counters Device::counters() {
  std::lock_guard<std::recursive_mutex> guard(lock);
  xt_device_counters result = {};
  result.submissions = static_cast<int64_t>(queue.last());
  result.records = recorded;
  result.replays = replayed;
  result.waits = queue.waits();
  result.kernels = kernels->made;
  result.cached_kernels = kernels->cached;
  result.barriers = recorder->barriers;
  result.driver_bytes = context.driverBytes;
  return result;
}

void *Device::take(size_t bytes) {
  if (!context.usable())
    return nullptr;
  if (void *found = memory->take(bytes))
    return found;
  if (bytes > memory->largest()) {
    fail("%s: no memory for %zu bytes at once; the limit is %zu", context.limits.name.c_str(),
         bytes, memory->largest());
    return nullptr;
  }
  {
    // Blocks of other sizes may be what is missing.
    std::lock_guard<std::recursive_mutex> guard(lock);
    trimLocked();
  }
  if (void *found = memory->take(bytes))
    return found;
  fail("%s: no memory for %zu bytes; it has %zu, of which %lld are in use",
       context.limits.name.c_str(), bytes, memory->bound(),
       static_cast<long long>(context.driverBytes.load()));
  return nullptr;
}

void *Device::alloc(size_t bytes) {
  if (bytes > static_cast<size_t>(info.max_buffer_bytes)) {
    fail("%s: an array of %zu bytes is over its limit of %lld", context.limits.name.c_str(), bytes,
         static_cast<long long>(info.max_buffer_bytes));
    return nullptr;
  }
  return take(bytes);
}

void Device::free(void *address, size_t) {
  memory->put(address);
  // While another thread's call has the device, there is nothing to be had: the next one sees to
  // it.
  if (memory->full() && context.usable() && lock.try_lock()) {
    if (!inCall)
      destroy(memory->takeIdle(&queue));
    lock.unlock();
  }
}

size_t Device::cachedBytes() {
  std::lock_guard<std::recursive_mutex> guard(lock);
  return memory->idleBytes() + space.bytes;
}

void Device::trim() {
  std::lock_guard<std::recursive_mutex> guard(lock);
  trimLocked();
}

void Device::trimLocked() {
  if (!queue.wait(queue.last()))
    return;
  if (space.address && !inCall) {
    memory->put(std::exchange(space.address, nullptr));
    space.bytes = 0;
    ++space.generation;
  }
  destroy(memory->takeIdle());
}

void Device::destroy(const std::vector<std::unique_ptr<Slab>> &slabs) {
  std::set<const Slab *> gone;
  for (const auto &slab : slabs)
    gone.insert(slab.get());
  for (Replays *replays : programs) {
    std::vector<std::unique_ptr<Recording>> kept;
    for (auto &recording : replays->recordings) {
      bool stale = std::any_of(recording->uses.begin(), recording->uses.end(),
                               [&](const Recording::Use &use) { return gone.count(use.slab); });
      if (stale)
        retire(std::move(recording));
      else
        kept.push_back(std::move(recording));
    }
    replays->recordings = std::move(kept);
  }
  for (const auto &slab : slabs)
    memory->destroy(*slab);
}

std::unique_ptr<Recording> Device::recording() {
  while (!retired.empty() && queue.done(retired.front()->value)) {
    spare.push_back(std::move(retired.front()));
    retired.pop_front();
  }
  if (spare.empty())
    return recorder->make();
  std::unique_ptr<Recording> found = std::move(spare.back());
  spare.pop_back();
  return found;
}

void Device::retire(std::unique_ptr<Recording> recording) {
  auto later =
      std::upper_bound(retired.begin(), retired.end(), recording->value,
                       [](uint64_t value, const auto &other) { return value < other->value; });
  retired.insert(later, std::move(recording));
}

uint64_t Device::send(Recording &recording, VkCommandBuffer first) {
  VkCommandBuffer both[] = {first, recording.commands};
  uint64_t value = queue.submit(first ? both : both + 1, first ? 2 : 1);
  if (!value)
    return 0;
  recording.value = value;
  for (const Recording::Use &use : recording.uses)
    use.slab->lastUse[use.block].store(value, std::memory_order_release);
  return value;
}

template <typename Record>
uint64_t Device::sendOnce(Record record) {
  if (recorder->active()) {
    fail("%s: arrays are copied between calls, not in the midst of one",
         context.limits.name.c_str());
    return 0;
  }
  std::unique_ptr<Recording> once = recording();
  if (!once || !recorder->begin(*once))
    return 0;
  bool good = record();
  uint64_t value = recorder->end() && good ? send(*once) : 0;
  retire(std::move(once));
  return value;
}

bool Device::makeChunk(Chunk &chunk, Kind kind) {
  return chunk.buffer.handle || makeBuffer(context, kChunk, kind, true, chunk.buffer) ||
         fail("%s: no memory to copy through", context.limits.name.c_str()) == 0;
}

bool Device::upload(void *to, const void *from, size_t bytes) {
  for (size_t done = 0, piece; done < bytes; done += piece) {
    Chunk *chunk = &uploads[nextUpload];
    if (kChunk - chunk->used < std::min(bytes - done, kChunk)) {
      nextUpload = (nextUpload + 1) % std::size(uploads);
      chunk = &uploads[nextUpload];
      if (!queue.wait(chunk->value))
        return false;
      chunk->used = 0;
    }
    Place place;
    piece = std::min(bytes - done, kChunk - chunk->used);
    if (!makeChunk(*chunk, Kind::Upload) ||
        !memory->find(static_cast<char *>(to) + done, piece, place))
      return false;
    memcpy(chunk->buffer.host + chunk->used, static_cast<const char *>(from) + done, piece);
    uint64_t value =
        sendOnce([&] { return recorder->upload(place, chunk->buffer, chunk->used, piece); });
    if (!value)
      return false;
    chunk->value = value;
    chunk->used = (chunk->used + piece + 255) & ~size_t(255);
  }
  return true;
}

bool Device::download(void *to, const void *from, size_t bytes, Chunk (&chunks)[2]) {
  // While the CPU copies one chunk, the device fills the other one.
  size_t pieces = (bytes + kChunk - 1) / kChunk;
  for (size_t i = 0; i <= pieces; ++i) {
    if (i < pieces) {
      Chunk &chunk = chunks[i % 2];
      Place place;
      size_t piece = std::min(kChunk, bytes - i * kChunk);
      if (!makeChunk(chunk, Kind::Readback) ||
          !memory->find(static_cast<const char *>(from) + i * kChunk, piece, place))
        return false;
      std::lock_guard<std::recursive_mutex> guard(lock);
      chunk.value = sendOnce([&] { return recorder->download(chunk.buffer, 0, place, piece); });
      if (!chunk.value)
        return false;
    }
    if (i > 0) {
      Chunk &chunk = chunks[(i - 1) % 2];
      if (!queue.wait(chunk.value))
        return false;
      memcpy(static_cast<char *>(to) + (i - 1) * kChunk, chunk.buffer.host,
             std::min(kChunk, bytes - (i - 1) * kChunk));
    }
  }
  return true;
}

int32_t Device::write(void *to, const void *from, size_t bytes) {
  Place place;
  if (!context.usable() || (bytes > 0 && !memory->find(to, bytes, place)))
    return 1;
  if (bytes == 0)
    return 0;
  if (place.mapped() && queue.done(place.lastUse())) {
    memcpy(to, from, bytes);
    return 0;
  }
  std::lock_guard<std::recursive_mutex> guard(lock);
  return upload(to, from, bytes) ? 0 : 1;
}

int32_t Device::read(void *to, const void *from, size_t bytes) {
  Place place;
  if (!context.usable() || (bytes > 0 && !memory->find(from, bytes, place)))
    return 1;
  if (bytes == 0)
    return 0;
  if (!place.mapped()) {
    std::lock_guard<std::mutex> guard(readLock);
    return download(to, from, bytes, readChunks) ? 0 : 1;
  }
  if (!queue.wait(place.lastUse()))
    return 1;
  memcpy(to, from, bytes);
  return 0;
}

int32_t Device::copy(void *to, const void *from, size_t bytes) {
  if (!context.usable())
    return 1;
  if (bytes == 0)
    return 0;
  std::lock_guard<std::recursive_mutex> guard(lock);
  return sendOnce([&] { return recorder->copy(to, from, bytes); }) ? 0 : 1;
}

static int32_t countDevices() {
  Instance *made = instance();
  return made ? static_cast<int32_t>(physicalDevices(*made).size()) : 0;
}

static xt_device *openDevice(int32_t index) {
  Instance *made = instance();
  auto *device = new Device(*made, physicalDevices(*made)[index]);
  return device->init() ? device : nullptr; // what did not start is left alone: it may yet run
}

const Backend xtensor::vulkanBackend = {"vulkan", countDevices, preferredDevice, openDevice};
