// Opens a device; its memory and commands.
#include "Device.h"

#include <algorithm>
#include <set>

using namespace xtensor;
using namespace xtensor::vulkan;

Device::Device(Instance &instance, VkPhysicalDevice physical)
    : RecordingDevice(queue), queue(context) {
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
  reports = std::make_unique<Reports>(queue, [&](std::vector<Slot *> &slots) { makeSlots(slots); });
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
  result.driver_bytes = usedBytes();
  result.kernels_held = held;
  return result;
}

Pipeline::~Pipeline() {
  if (handle)
    static_cast<Device *>(device)->forget(*this);
}

void Device::forget(Pipeline &pipeline) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  --held;
  context.vk.DestroyPipeline(context.device, pipeline.handle, nullptr);
}

//===- memory ----------------------------------------------------------------===//

bool Device::find(const void *address, size_t bytes, Range &range) {
  Place place;
  if (!memory->find(address, bytes, place))
    return false;
  range = {place.mapped(), place.lastUse()};
  return true;
}

void Device::makeSlots(std::vector<Slot *> &slots) {
  Slab *slab = memory->makeReports();
  if (!slab) {
    fail("no memory for what kernels report");
    return;
  }
  for (uint32_t block = slab->blocks; block-- > 0;) {
    char *address = slab->base + block * slab->blockBytes;
    slots.push_back(new Slot{address, reinterpret_cast<volatile uint32_t *>(address)});
  }
}

void Device::destroy(const std::vector<std::unique_ptr<Slab>> &slabs) {
  std::set<const Slab *> gone;
  for (const auto &slab : slabs)
    gone.insert(slab.get());
  for (Replays *replays : programs) {
    std::vector<std::unique_ptr<Record>> kept;
    for (auto &recording : replays->recordings) {
      const auto &uses = static_cast<Recording &>(*recording).uses;
      bool stale = std::any_of(uses.begin(), uses.end(),
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

//===- commands --------------------------------------------------------------===//

std::unique_ptr<Record> Device::startRecording() {
  while (!retired.empty() && queue.done(retired.front()->value)) {
    spare.push_back(std::move(retired.front()));
    retired.pop_front();
  }
  std::unique_ptr<Recording> found;
  if (spare.empty()) {
    found = recorder->make();
  } else {
    found = std::move(spare.back());
    spare.pop_back();
  }
  if (!found || !recorder->begin(*found))
    return nullptr;
  return found;
}

void Device::retire(std::unique_ptr<Record> recording) {
  std::unique_ptr<Recording> own(static_cast<Recording *>(recording.release()));
  auto later =
      std::upper_bound(retired.begin(), retired.end(), own->value,
                       [](uint64_t value, const auto &other) { return value < other->value; });
  retired.insert(later, std::move(own));
}

std::unique_ptr<Made> Device::makeKernel(const xt_kernel &kernel) { return kernels->make(kernel); }

bool Device::addLaunch(Record &, const Made &kernel, const xt_kernel &code, const int64_t groups[3],
                       void *const *buffers, const int64_t *extents, const int32_t *numbers) {
  return recorder->launch(static_cast<const Pipeline &>(kernel), code, groups, buffers, extents,
                          numbers);
}

Recording *Device::clearingOf(Slot &slot) {
  std::unique_ptr<Recording> &known = clearings[&slot];
  Place place;
  if (known || !memory->find(slot.address, 4 * Slot::kWords, place))
    return known.get();
  std::unique_ptr<Recording> made = recorder->make();
  if (!made || !recorder->begin(*made))
    return nullptr;
  recorder->clear(place, 4 * Slot::kWords);
  if (recorder->end())
    known = std::move(made);
  return known.get();
}

uint64_t Device::send(Record &recording, Slot *dirty) {
  auto &own = static_cast<Recording &>(recording);
  VkCommandBuffer commands[2];
  uint32_t count = 0;
  if (dirty) {
    Recording *clearing = clearingOf(*dirty);
    if (!clearing)
      return 0;
    commands[count++] = clearing->commands;
  }
  commands[count++] = own.commands;
  uint64_t value = queue.submit(commands, count);
  if (!value)
    return 0;
  own.value = value;
  for (const Recording::Use &use : own.uses)
    use.slab->lastUse[use.block].store(value, std::memory_order_release);
  return value;
}

//===- copies ----------------------------------------------------------------===//

template <typename Write>
uint64_t Device::sendOnce(Write write) {
  std::unique_ptr<Record> once = startRecording();
  if (!once)
    return 0;
  bool good = write();
  uint64_t value = recorder->end() && good ? send(*once, nullptr) : 0;
  retire(std::move(once));
  return value;
}

bool Device::makeChunk(Chunk &chunk, bool toDevice) {
  auto made = std::make_unique<Buffer>();
  if (!makeBuffer(context, kChunk, toDevice ? Kind::Upload : Kind::Readback, true, *made))
    return fail("%s: no memory to copy through", info.name) == 0;
  chunk.host = made->host;
  chunk.buffer = made.release(); // kept, as the device is
  return true;
}

uint64_t Device::copyIn(void *to, const Chunk &chunk, size_t bytes) {
  Place place;
  if (!memory->find(to, bytes, place))
    return 0;
  const Buffer &buffer = *static_cast<Buffer *>(chunk.buffer);
  return sendOnce([&] { return recorder->upload(place, buffer, chunk.used, bytes); });
}

uint64_t Device::copyOut(const Chunk &chunk, const void *from, size_t bytes) {
  Place place;
  if (!memory->find(from, bytes, place))
    return 0;
  const Buffer &buffer = *static_cast<Buffer *>(chunk.buffer);
  return sendOnce([&] { return recorder->download(buffer, 0, place, bytes); });
}

//===- devices ---------------------------------------------------------------===//

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
