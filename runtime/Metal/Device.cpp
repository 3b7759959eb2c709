// Metal devices: their memory, and calls of programs. Every call writes a new list of commands,
// because indirect command buffers of Metal can hold neither copies nor numbers.
#include "Device.h"
#include "../DebugMemory.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace xtensor;
using namespace xtensor::metal;

/// Metal binds 31 buffers; the last one holds the numbers.
static constexpr int32_t kMaxBuffers = 30;

Device::Device(Gpu &gpu)
    : gpu(gpu), queue(gpu, lost), memory(gpu),
      reports(queue, [this](std::vector<Slot *> &slots) { makeSlots(slots); }) {
  info.backend = "metal";
  info.vendor = "apple";
  info.name = gpu.limits.name;
  info.driver = gpu.limits.driver;
  info.features = XT_DEVICE_I64 | XT_DEVICE_F16 | XT_DEVICE_I16 | XT_DEVICE_I8 |
                  XT_DEVICE_STORAGE_16 | XT_DEVICE_STORAGE_8 | XT_DEVICE_UNIFIED_MEMORY;
  info.subgroup_size = 32;
  info.max_buffer_bytes = gpu.limits.maxBufferBytes;
  info.workgroup_bytes = gpu.limits.workgroupBytes;
  info.max_workgroup_threads = gpu.limits.maxThreads;
  info.memory_bytes = gpu.limits.memoryBytes;
  for (int i = 0; i < 3; ++i) {
    info.max_groups[i] = INT32_MAX;
    info.max_group_size[i] = static_cast<int32_t>(gpu.limits.maxThreads);
  }
  info.max_kernel_buffers = kMaxBuffers;
  info.max_kernel_numbers = 1024; // Metal copies 4 KB at most
}

xt_device_counters Device::counters() {
  std::lock_guard<std::recursive_mutex> guard(lock);
  xt_device_counters result = {};
  result.submissions = static_cast<int64_t>(queue.last());
  result.records = recorded;
  result.waits = queue.waits;
  result.kernels = made;
  result.kernels_held = held;
  result.driver_bytes = static_cast<int64_t>(memory.heldBytes());
  return result;
}

//===- memory ----------------------------------------------------------------===//

/// In the debug mode; only what the CPU may write at once, so that no call waits.
void *Device::unwritten(void *block, size_t bytes) {
  Span span;
  if (debugMemory && memory.find(block, bytes, span) && queue.done(span.lastUse()))
    fillUnwritten(block, bytes);
  return block;
}

void *Device::alloc(size_t bytes) {
  if (bytes > static_cast<size_t>(info.max_buffer_bytes)) {
    fail("%s: an array of %zu bytes is over its limit of %lld", info.name, bytes,
         static_cast<long long>(info.max_buffer_bytes));
    return nullptr;
  }
  if (lost) {
    fail("%s: the device was lost", info.name);
    return nullptr;
  }
  if (void *found = memory.take(bytes))
    return unwritten(found, bytes);
  trim(); // blocks of other sizes may be what is missing
  if (void *found = memory.take(bytes))
    return unwritten(found, bytes);
  fail("%s: no memory for %zu bytes; %zu are in use", info.name, bytes, memory.heldBytes());
  return nullptr;
}

void Device::free(void *address, size_t) {
  memory.put(address);
  // Beyond a bound, what is idle goes back to the driver as soon as nothing runs.
  if (memory.full() && queue.done(queue.last()) && lock.try_lock()) {
    if (!inCall)
      trim();
    lock.unlock();
  }
}

void Device::trim() {
  std::lock_guard<std::recursive_mutex> guard(lock);
  if (inCall && call.failed)
    return;
  flush(); // what a call in progress has written so far names blocks, too
  if (!queue.wait(queue.last()))
    return;
  if (!inCall)
    discards.sweep();
  memory.trim();
}

void Device::flush() {
  uint64_t number = queue.send();
  for (const Span &span : touched)
    span.lastUse() = number;
  touched.clear();
  if (call.ticket)
    call.ticket->sent(number);
}

bool Device::addCopy(void *to, const void *from, size_t bytes) {
  Span target, source;
  if (!memory.find(to, bytes, target) || !memory.find(from, bytes, source))
    return false;
  void *commands = queue.commands();
  if (!commands)
    return false;
  gpu.copy(commands, target.place(), source.place(), bytes);
  touched.push_back(target);
  touched.push_back(source);
  return true;
}

int32_t Device::write(void *to, const void *from, size_t bytes) {
  Span target;
  if (lost)
    return fail("%s: the device was lost", info.name);
  if (bytes == 0)
    return 0;
  if (!memory.find(to, bytes, target))
    return 1;
  if (queue.done(target.lastUse())) {
    memcpy(to, from, bytes);
    return 0;
  }
  // Its turn comes later.
  std::lock_guard<std::recursive_mutex> guard(lock);
  if (inCall) {
    // A constant of the program that is being called.
    if (!queue.wait(target.lastUse()))
      return 1;
    memcpy(to, from, bytes);
    return 0;
  }
  void *stage = alloc(bytes);
  Span staged;
  if (!stage || !memory.find(stage, bytes, staged) || !queue.wait(staged.lastUse()))
    return 1;
  memcpy(stage, from, bytes);
  bool good = addCopy(to, stage, bytes);
  flush();
  memory.put(stage);
  return good ? 0 : 1;
}

int32_t Device::read(void *to, const void *from, size_t bytes) {
  Span source;
  if (lost)
    return fail("%s: the device was lost", info.name);
  if (bytes == 0)
    return 0;
  if (!memory.find(from, bytes, source) || !queue.wait(source.lastUse()))
    return 1;
  memcpy(to, from, bytes);
  return 0;
}

int32_t Device::copy(void *to, const void *from, size_t bytes) {
  if (bytes == 0)
    return 0;
  std::lock_guard<std::recursive_mutex> guard(lock);
  if (inCall)
    return fail("%s: arrays are copied between calls, not during one", info.name);
  bool good = addCopy(to, from, bytes);
  flush();
  return good ? 0 : 1;
}

//===- kernels ---------------------------------------------------------------===//

Pipeline::~Pipeline() {
  if (handle)
    static_cast<Device *>(device)->forget(*this);
}

void Device::forget(Pipeline &pipeline) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  --held;
  gpu.dropKernel(pipeline.handle);
}

Pipeline *Device::pipelineOf(xt_kernel *kernel) {
  if (Made *found = findMade(kernel->handle, this))
    return static_cast<Pipeline *>(found);
  if (!checkLimits(info, *kernel))
    return nullptr;
  std::string error;
  void *handle = gpu.makeKernel(*kernel, error);
  if (!handle) {
    fail("%s: kernel %s: %s", info.name, kernel->name, error.c_str());
    return nullptr;
  }
  ++made, ++held;
  auto *pipeline = new Pipeline;
  pipeline->device = this;
  pipeline->handle = handle;
  addKernel(call.program, kernel, pipeline);
  return pipeline;
}

//===- calls -----------------------------------------------------------------===//

void Device::failCall() {
  call.failed = true;
  if (call.status->code == 0)
    call.status->code = 3;
}

/// What kernels report: the CPU clears it, so that no list of commands has to.
void Device::makeSlots(std::vector<Slot *> &slots) {
  constexpr int kSlots = 16, kApart = 64;
  auto *words = static_cast<char *>(alloc(kSlots * kApart));
  for (int i = words ? kSlots : 0; i-- > 0;)
    slots.push_back(
        new Slot{words + i * kApart, reinterpret_cast<volatile uint32_t *>(words + i * kApart)});
}

int32_t Device::begin(xt_program *program, void **, const int64_t *, xt_status *status,
                      xt_ticket *&ticket) {
  lock.lock();
  if (inCall || lost) {
    if (lost)
      fail("%s: the device was lost", info.name);
    else
      fail(kNestedCall, info.name, program->name, call.program->name);
    status->code = 3;
    lock.unlock();
    return 1;
  }
  discards.sweep();
  call.program = program;
  call.status = status;
  call.ticket = nullptr;
  call.extents = nullptr;
  call.failed = false;
  if (program->reports) {
    Slot *slot = reports.takeClean();
    if (!slot) {
      failCall();
      lock.unlock();
      return 1;
    }
    ticket = call.ticket = new Ticket(reports, slot);
  }
  inCall = true;
  return 0;
}

void Device::launch(xt_kernel *kernel, const int64_t groups[3], void *const *buffers,
                    const int32_t *numbers) {
  const int64_t *extents = std::exchange(call.extents, nullptr);
  if (call.failed || groups[0] <= 0 || groups[1] <= 0 || groups[2] <= 0)
    return;
  Pipeline *pipeline = pipelineOf(kernel);
  if (!pipeline)
    return failCall();
  Place places[kMaxBuffers];
  for (int32_t i = 0; i < kernel->buffers; ++i) {
    Span span;
    // What is empty may begin where its memory ends.
    if (extents && extents[i] == 0)
      continue;
    if (!memory.find(buffers[i], extents ? static_cast<size_t>(extents[i]) : 1, span))
      return failCall();
    places[i] = span.place();
    touched.push_back(span);
  }
  void *commands = queue.commands();
  if (!commands)
    return failCall();
  gpu.launch(commands, pipeline->handle, *kernel, groups, places, numbers);
}

void Device::callCopy(void *to, const void *from, int64_t bytes) {
  if (!call.failed && bytes > 0 && !addCopy(to, from, static_cast<size_t>(bytes)))
    failCall();
}

void *Device::arena(int64_t bytes) {
  if (call.failed)
    return nullptr;
  void *found = alloc(static_cast<size_t>(std::max<int64_t>(bytes, 1)));
  if (found) {
    call.temporaries.push_back(found);
    return found;
  }
  if (!lost && call.status->code == 0) { // as on the CPU
    call.status->code = 2;
    call.status->size = bytes;
  }
  call.failed = true;
  return nullptr;
}

void *Device::report() { return call.ticket ? call.ticket->slot->address : nullptr; }

void *Device::map(void *address, int64_t bytes, int32_t) {
  auto wanted = static_cast<size_t>(std::max<int64_t>(bytes, 0));
  Span span;
  if (!call.failed) {
    flush();
    if (wanted == 0 || (memory.find(address, wanted, span) && queue.wait(span.lastUse())))
      return address;
    failCall();
  }
  return call.zeros.emplace_back(wanted + 1).data();
}

void Device::end() {
  if (call.failed) {
    queue.forget();
    touched.clear();
  }
  recorded += queue.writing();
  flush();
  // What comes next is after this in the queue.
  for (void *temporary : std::exchange(call.temporaries, {}))
    memory.put(temporary);
  call.zeros.clear();
  call.ticket = nullptr;
  inCall = false;
  lock.unlock();
}
