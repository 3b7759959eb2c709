// Opens a device; its memory and commands.
#include "Device.h"

#include <algorithm>

using namespace xtensor;
using namespace xtensor::cuda;

/// What compiled code counts on: independent scheduling of threads came with it.
static constexpr int kOldest = 70;
/// Bytes of a kernel's parameters.
static constexpr int kParameterBytes = 4096;
static constexpr int kBuffers = 64;

Device::Device(const Driver &driver, DeviceNumber number)
    : RecordingDevice(stream), stream(context) {
  context.api = &driver;
  context.device = number;
  context.lost = &lost;
}

void Device::describe() {
  const Driver &api = *context.api;
  auto ask = [&](int attribute) {
    int value = 0;
    api.DeviceGetAttribute(&value, attribute, context.device);
    return value;
  };
  char name[256] = "an NVIDIA GPU";
  api.DeviceGetName(name, sizeof name, context.device);
  context.name = name;
  context.driverName =
      "CUDA " + std::to_string(api.version / 1000) + "." + std::to_string(api.version % 1000 / 10);
  size_t bytes = 0;
  api.DeviceTotalMem(&bytes, context.device);
  info.backend = "cuda";
  info.vendor = "nvidia";
  info.name = context.name.c_str();
  info.driver = context.driverName.c_str();
  info.features = XT_DEVICE_F64 | XT_DEVICE_I64 | XT_DEVICE_F16 | XT_DEVICE_I16 | XT_DEVICE_I8 |
                  XT_DEVICE_STORAGE_16 | XT_DEVICE_STORAGE_8 | XT_DEVICE_ATOMIC_ADD_F32 |
                  XT_DEVICE_ATOMIC_ADD_F64 | XT_DEVICE_ATOMIC_I64 | XT_DEVICE_SUBGROUP_ARITHMETIC |
                  XT_DEVICE_SUBGROUP_SHUFFLE | XT_DEVICE_SUBGROUP_ALL_TYPES |
                  XT_DEVICE_EXACT_SPECIALS_F16 | XT_DEVICE_EXACT_SPECIALS_F32 |
                  XT_DEVICE_EXACT_SPECIALS_F64 | XT_DEVICE_SUBNORMALS_F16 |
                  XT_DEVICE_SUBNORMALS_F32 | XT_DEVICE_SUBNORMALS_F64;
  info.subgroup_size = ask(kWarpSize);
  info.workgroup_bytes = ask(kSharedBytes);
  info.max_workgroup_threads = ask(kMaxThreads);
  info.memory_bytes = static_cast<int64_t>(bytes);
  for (int i = 0; i < 3; ++i) {
    info.max_groups[i] = ask(kMaxGridX + i);
    info.max_group_size[i] = ask(kMaxBlockX + i);
  }
  info.max_kernel_buffers = kBuffers;
  info.max_kernel_numbers = (kParameterBytes - 8 * kBuffers) / 4;
  info.architecture = 10 * ask(kComputeMajor) + ask(kComputeMinor);
}

bool Device::init() {
  describe();
  if (info.architecture < kOldest)
    return fail("%s has compute capability %d.%d; code is made for 7.0 and newer",
                context.name.c_str(), info.architecture / 10, info.architecture % 10) == 0;
  if (!context.check(context.api->PrimaryCtxRetain(&context.handle, context.device),
                     "opening the device") ||
      !stream.init())
    return false;
  memory = std::make_unique<Memory>(context, static_cast<size_t>(info.memory_bytes));
  reports =
      std::make_unique<Reports>(stream, [&](std::vector<Slot *> &slots) { makeSlots(slots); });
  info.memory_bytes = info.max_buffer_bytes = static_cast<int64_t>(memory->bound());
  return true;
}

xt_device_counters Device::counters() {
  xt_device_counters result = {};
  result.submissions = static_cast<int64_t>(stream.last());
  result.records = recorded;
  result.replays = replayed;
  result.waits = stream.waits();
  result.kernels = kernelsMade;
  result.driver_bytes = usedBytes();
  result.kernels_held = held;
  return result;
}

Kernel::~Kernel() {
  if (module && device)
    static_cast<Device *>(device)->forget(*this);
}

void Device::forget(Kernel &kernel) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  --held;
  Current current(context);
  context.api->ModuleUnload(kernel.module);
}

//===- memory ----------------------------------------------------------------===//

bool Device::find(const void *address, size_t bytes, Range &) {
  Place place;
  return memory->find(address, bytes, place);
}

void Device::makeSlots(std::vector<Slot *> &slots) {
  Slab *slab = memory->makeReports();
  for (uint32_t block = slab ? slab->blocks : 0; block-- > 0;) {
    size_t offset = block * slab->blockBytes;
    slots.push_back(
        new Slot{slab->base + offset, reinterpret_cast<volatile uint32_t *>(slab->host + offset)});
  }
}

//===- commands --------------------------------------------------------------===//

std::unique_ptr<Record> Device::startRecording() { return std::make_unique<Recording>(context); }

std::unique_ptr<Made> Device::makeKernel(const xt_kernel &kernel) {
  std::unique_ptr<Kernel> made = cuda::makeKernel(context, info, kernel);
  kernelsMade += made != nullptr;
  return made;
}

bool Device::addLaunch(Record &recording, const Made &kernel, const xt_kernel &code,
                       const int64_t groups[3], void *const *buffers, const int64_t *extents,
                       const int32_t *numbers) {
  return static_cast<Recording &>(recording).launch(*memory, static_cast<const Kernel &>(kernel),
                                                    code, groups, buffers, extents, numbers);
}

bool Device::addCopy(Record &recording, void *to, const void *from, size_t bytes) {
  return static_cast<Recording &>(recording).copy(*memory, to, from, bytes);
}

uint64_t Device::send(Record &recording, Slot *dirty) {
  if (!stream.open())
    return 0;
  if (dirty) {
    Current current(context);
    if (!context.check(context.api->MemsetD8Async(reinterpret_cast<Address>(dirty->address), 0,
                                                  4 * Slot::kWords, context.stream),
                       "clearing reports"))
      return 0;
  }
  return static_cast<Recording &>(recording).send() ? stream.close() : 0;
}

//===- copies ----------------------------------------------------------------===//

bool Device::makeChunk(Chunk &chunk, bool) {
  chunk.host = pinned(context, kChunk);
  return chunk.host;
}

uint64_t Device::copyIn(void *to, const Chunk &chunk, size_t bytes) {
  if (!stream.open())
    return 0;
  Current current(context);
  Result result = context.api->MemcpyHtoDAsync(reinterpret_cast<Address>(to),
                                               chunk.host + chunk.used, bytes, context.stream);
  return context.check(result, "a copy to the device") ? stream.close() : 0;
}

uint64_t Device::copyOut(const Chunk &chunk, const void *from, size_t bytes) {
  if (!stream.open())
    return 0;
  Current current(context);
  Result result = context.api->MemcpyDtoHAsync(chunk.host, reinterpret_cast<Address>(from), bytes,
                                               context.stream);
  return context.check(result, "a copy from the device") ? stream.close() : 0;
}

//===- devices ---------------------------------------------------------------===//

static int32_t countDevices() {
  const Driver *api = driver();
  int count = 0;
  if (!api)
    return 0;
  Result result = api->DeviceGetCount(&count);
  if (result != kSuccess)
    fail("the driver of NVIDIA GPUs cannot count them: %s (%s)", api->nameOf(result),
         api->meaningOf(result));
  else if (count == 0)
    fail("the driver of NVIDIA GPUs is here, but no GPU that it may use (CUDA_VISIBLE_DEVICES "
         "hides what it does not name)");
  return result == kSuccess ? count : 0;
}

static xt_device *openDevice(int32_t index) {
  const Driver *api = driver();
  DeviceNumber number;
  if (Result result = api->DeviceGet(&number, index); result != kSuccess) {
    fail("NVIDIA GPU %d cannot be opened: %s (%s)", index, api->nameOf(result),
         api->meaningOf(result));
    return nullptr;
  }
  auto *device = new Device(*api, number);
  return device->init() ? device : nullptr; // what did not start is left alone: it may yet run
}

const Backend xtensor::cudaBackend = {"cuda", countDevices, preferredDevice, openDevice};
