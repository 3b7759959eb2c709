// Opening a device, its memory, and copies to and from it.
#include "Device.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace xtensor;
using namespace xtensor::cuda;

static constexpr size_t kChunk = size_t(8) << 20;
/// What compiled code counts on: independent scheduling of threads came with it.
static constexpr int kOldest = 70;
/// Bytes of a kernel's parameters.
static constexpr int kParameterBytes = 4096;
static constexpr int kBuffers = 64;

Device::Device(const Driver &driver, DeviceNumber number) : stream(context) {
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
  reports = std::make_unique<Reports>(stream, *memory);
  info.memory_bytes = info.max_buffer_bytes = static_cast<int64_t>(memory->bytes());
  return true;
}

xt_device_counters Device::counters() {
  xt_device_counters result = {};
  result.submissions = static_cast<int64_t>(stream.last());
  result.records = recorded;
  result.replays = replayed;
  result.waits = stream.waits();
  result.kernels = kernelsMade;
  result.driver_bytes = context.driverBytes;
  return result;
}

void *Device::take(size_t bytes) {
  if (!context.usable())
    return nullptr;
  if (void *found = memory->take(bytes))
    return found;
  if (bytes > memory->bytes()) {
    fail("%s: no memory for %zu bytes at once; the limit is %zu", context.name.c_str(), bytes,
         memory->bytes());
    return nullptr;
  }
  {
    // Blocks of other sizes may be what is missing.
    std::lock_guard<std::recursive_mutex> guard(lock);
    trimLocked();
  }
  if (void *found = memory->take(bytes))
    return found;
  fail("%s: no memory for %zu bytes; it has %zu, of which %lld are in use", context.name.c_str(),
       bytes, memory->bytes(), static_cast<long long>(context.driverBytes.load()));
  return nullptr;
}

void *Device::alloc(size_t bytes) {
  if (bytes <= static_cast<size_t>(info.max_buffer_bytes))
    return take(bytes);
  fail("%s: an array of %zu bytes is over its limit of %lld", context.name.c_str(), bytes,
       static_cast<long long>(info.max_buffer_bytes));
  return nullptr;
}

void Device::free(void *address, size_t) {
  memory->put(address);
  // While another thread's call has the device, the next one sees to it.
  if (memory->full() && context.usable() && lock.try_lock()) {
    if (!inCall)
      memory->trim(memory->idleLimit());
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
  if (!context.usable())
    return;
  if (space.address && !inCall) {
    memory->put(std::exchange(space.address, nullptr));
    space.bytes = 0;
    ++space.generation;
  }
  memory->trim(0);
}

bool Device::makeChunk(Chunk &chunk) {
  if (!chunk.host)
    chunk.host = pinned(context, kChunk);
  return chunk.host;
}

bool Device::upload(void *to, const void *from, size_t bytes) {
  for (size_t done = 0, piece; done < bytes; done += piece) {
    Chunk *chunk = &uploads[nextUpload];
    if (kChunk - chunk->used < std::min(bytes - done, kChunk)) {
      nextUpload = (nextUpload + 1) % static_cast<int>(std::size(uploads));
      chunk = &uploads[nextUpload];
      if (!stream.wait(chunk->value))
        return false;
      chunk->used = 0;
    }
    piece = std::min(bytes - done, kChunk - chunk->used);
    if (!makeChunk(*chunk) || !stream.open())
      return false;
    char *host = chunk->host + chunk->used;
    memcpy(host, static_cast<const char *>(from) + done, piece);
    Current current(context);
    if (!context.check(context.api->MemcpyHtoDAsync(reinterpret_cast<Address>(to) + done, host,
                                                    piece, context.stream),
                       "a copy to the device"))
      return false;
    chunk->value = stream.close();
    if (!chunk->value)
      return false;
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
      std::lock_guard<std::recursive_mutex> guard(lock);
      if (!makeChunk(chunk) || !stream.open())
        return false;
      Current current(context);
      if (!context.check(
              context.api->MemcpyDtoHAsync(chunk.host, reinterpret_cast<Address>(from) + i * kChunk,
                                           std::min(kChunk, bytes - i * kChunk), context.stream),
              "a copy from the device"))
        return false;
      chunk.value = stream.close();
      if (!chunk.value)
        return false;
    }
    if (i > 0) {
      Chunk &chunk = chunks[(i - 1) % 2];
      if (!stream.wait(chunk.value))
        return false;
      memcpy(static_cast<char *>(to) + (i - 1) * kChunk, chunk.host,
             std::min(kChunk, bytes - (i - 1) * kChunk));
    }
  }
  return true;
}

int32_t Device::write(void *to, const void *from, size_t bytes) {
  Place place;
  if (!context.usable() || (bytes > 0 && !memory->find(to, bytes, place)))
    return 1;
  std::lock_guard<std::recursive_mutex> guard(lock);
  return upload(to, from, bytes) ? 0 : 1;
}

/// Commands of the call that this thread is in are not sent yet.
bool Device::betweenCalls() {
  std::lock_guard<std::recursive_mutex> guard(lock);
  return !inCall || fail("%s: arrays are copied between calls, not in the midst of one",
                         context.name.c_str()) == 0;
}

int32_t Device::read(void *to, const void *from, size_t bytes) {
  Place place;
  if (!context.usable() || !betweenCalls() || (bytes > 0 && !memory->find(from, bytes, place)))
    return 1;
  std::lock_guard<std::mutex> guard(readLock);
  return download(to, from, bytes, readChunks) ? 0 : 1;
}

int32_t Device::copy(void *to, const void *from, size_t bytes) {
  if (!context.usable() || !betweenCalls())
    return 1;
  if (bytes == 0)
    return 0;
  std::lock_guard<std::recursive_mutex> guard(lock);
  Recording once(context);
  return once.copy(*memory, to, from, bytes) && stream.open() && once.send() && stream.close() ? 0
                                                                                               : 1;
}

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
