// Calls of programs: their commands are looked for on record, or recorded.
#include "Device.h"

#include "../runtime.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace xtensor;
using namespace xtensor::cuda;

/// Calls on record per program: arrays of a loop take turns in few buffers.
static constexpr size_t kReplays = 8;

Replays::~Replays() { static_cast<Device *>(device)->forget(*this); }
Kernel::~Kernel() {
  if (module && device)
    static_cast<Device *>(device)->forget(*this);
}

void Device::forget(Replays &replays) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  replays.recordings.clear();
}

void Device::forget(Kernel &kernel) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  stream.wait(stream.last());
  Current current(context);
  context.api->ModuleUnload(kernel.module);
}

Replays &Device::replaysOf(xt_program *program) {
  if (Made *found = findMade(program->handle, this))
    return *static_cast<Replays *>(found);
  auto *made = new Replays;
  made->device = this;
  addMade(program->handle, made);
  return *made;
}

int32_t Device::begin(xt_program *program, void **buffers, const int64_t *sizes, xt_status *status,
                      xt_ticket *&ticket) {
  lock.lock();
  if (inCall) {
    fail("%s: a call of %s in the midst of one of %s, on one thread", context.name.c_str(),
         program->name, call.program->name);
    status->code = 3;
    lock.unlock();
    return 1;
  }
  call.program = program;
  call.status = status;
  call.ticket = nullptr;
  call.extents = nullptr;
  call.arenaUsed = call.arena = 0;
  call.failed = call.cleared = false;
  call.whole = true;
  call.recording.reset();
  call.key.assign(sizes, sizes + program->sizes);
  for (int32_t i = 0; i < program->inputs + program->outputs; ++i)
    call.key.push_back(reinterpret_cast<int64_t>(buffers[i]));
  if (!context.usable())
    failCall();
  if (program->reports && !call.failed) {
    if (Slot *slot = reports->take()) {
      auto *made = new Ticket;
      made->reports = reports.get();
      made->slot = slot;
      ticket = call.ticket = made;
      call.key.push_back(reinterpret_cast<int64_t>(slot));
    } else {
      failCall();
    }
  }
  if (call.failed || (program->replayable && replay(replaysOf(program)))) {
    lock.unlock();
    return 1;
  }
  inCall = true;
  return 0;
}

bool Device::replay(Replays &replays) {
  auto &all = replays.recordings;
  for (size_t i = 0; i < all.size(); ++i) {
    Recording &found = *all[i];
    if (found.key != call.key || (found.arena && found.arena != space.generation))
      continue;
    std::rotate(all.begin(), all.begin() + i, all.begin() + i + 1);
    if (send(found))
      ++replayed;
    else
      failCall();
    return true;
  }
  return false;
}

void Device::failCall() {
  call.failed = true;
  if (call.status->code == 0)
    call.status->code = 3;
}

/// Something can be recorded: the call has not failed.
bool Device::recordingCall() {
  if (!call.failed && !call.recording)
    call.recording = std::make_unique<Recording>(context);
  return !call.failed;
}

/// As one submission. What an earlier call reported, if it may not have been done when this one
/// began, is cleared first.
bool Device::send(Recording &recording) {
  if (!stream.open())
    return false;
  Slot *slot = call.ticket ? call.ticket->slot : nullptr;
  if (slot && !slot->clean && !call.cleared) {
    Current current(context);
    if (!context.check(context.api->MemsetD8Async(reinterpret_cast<Address>(slot->address), 0,
                                                  4 * Reports::kWords, context.stream),
                       "clearing reports"))
      return false;
  }
  if (!recording.send())
    return false;
  uint64_t value = stream.close();
  if (value && slot) {
    call.cleared = true;
    slot->lastUse = call.ticket->value = value;
  }
  return value;
}

/// Sends what was recorded up to here.
bool Device::flush() {
  if (call.failed || !call.recording || call.recording->empty())
    return !call.failed;
  if (send(*call.recording))
    return true;
  failCall();
  return false;
}

void Device::launch(xt_kernel *kernel, const int64_t groups[3], void *const *buffers,
                    const int32_t *numbers) {
  const int64_t *extents = std::exchange(call.extents, nullptr);
  if (groups[0] <= 0 || groups[1] <= 0 || groups[2] <= 0 || !recordingCall())
    return;
  for (int i = 0; i < 3; ++i)
    if (groups[i] > info.max_groups[i]) {
      fail("%s: kernel %s wants %lld workgroups in dimension %d, the limit is %lld",
           context.name.c_str(), kernel->name, static_cast<long long>(groups[i]), i,
           static_cast<long long>(info.max_groups[i]));
      return failCall();
    }
  auto *made = static_cast<Kernel *>(findMade(kernel->handle, this));
  if (!made) {
    std::unique_ptr<Kernel> fresh = makeKernel(context, info, *kernel);
    if (!fresh)
      return failCall();
    fresh->device = this;
    made = fresh.release();
    addMade(kernel->handle, made);
    ++kernelsMade;
  }
  if (!call.recording->launch(*memory, *made, *kernel, groups, buffers, extents, numbers))
    failCall();
}

void Device::callCopy(void *to, const void *from, int64_t bytes) {
  if (bytes <= 0 || !recordingCall())
    return;
  if (!call.recording->copy(*memory, to, from, static_cast<size_t>(bytes)))
    failCall();
}

void *Device::arena(int64_t bytes) {
  if (call.failed)
    return nullptr;
  size_t wanted = (static_cast<size_t>(std::max<int64_t>(bytes, 1)) + 255) & ~size_t(255);
  if (call.arenaUsed == 0 && space.bytes < std::max(wanted, space.wanted)) {
    size_t total = std::max(wanted, space.wanted);
    if (space.address)
      memory->put(space.address);
    ++space.generation;
    space.address = take(total);
    if (!space.address && total > wanted)
      space.address = take(total = wanted);
    space.bytes = space.address ? total : 0;
  }
  call.arenaUsed += wanted;
  space.wanted = std::max(space.wanted, call.arenaUsed);
  if (call.arenaUsed <= space.bytes) {
    call.arena = space.generation;
    return static_cast<char *>(space.address) + call.arenaUsed - wanted;
  }
  // The next call finds an arena that holds all of it.
  void *extra = space.bytes || call.arenaUsed > wanted ? take(wanted) : nullptr;
  if (!extra) {
    space.wanted = 0;
    if (!lost && call.status->code == 0) { // as on the CPU
      call.status->code = 2;
      call.status->size = bytes;
    }
    failCall();
    return nullptr;
  }
  call.extras.push_back(extra);
  call.whole = false;
  return extra;
}

void *Device::report() { return call.ticket ? call.ticket->slot->address : nullptr; }

void *Device::map(void *address, int64_t bytes, int32_t mode) {
  auto wanted = static_cast<size_t>(std::max<int64_t>(bytes, 0));
  Place place;
  bool good = flush();
  call.whole = false;
  call.recording.reset();
  if (good && wanted > 0 && !memory->find(address, wanted, place))
    good = false;
  void *host = xt_alloc(std::max<size_t>(wanted, 1));
  if (!host) {
    fail("no memory for %zu bytes on the host", wanted);
    failCall();
    return nullptr;
  }
  bool readable = good && wanted > 0;
  if (!readable || !(mode & 1) || !download(host, address, wanted, mapChunks)) {
    memset(host, 0, wanted);
    if (wanted > 0 && (!readable || mode & 1))
      failCall();
  }
  return host;
}

void Device::unmap(void *address, int64_t bytes, int32_t mode, void *host) {
  if (!host)
    return;
  auto wanted = static_cast<size_t>(std::max<int64_t>(bytes, 0));
  if ((mode & 2) && wanted > 0 && flush()) {
    call.recording.reset();
    if (!upload(address, host, wanted))
      failCall();
  }
  xt_free(host, std::max<size_t>(wanted, 1));
}

void Device::end() {
  bool sent = flush();
  recorded += call.recording != nullptr;
  if (call.recording && sent && call.whole && call.program->replayable) {
    auto &all = replaysOf(call.program).recordings;
    if (all.size() == kReplays)
      all.pop_back();
    call.recording->key = call.key;
    call.recording->arena = call.arena;
    all.insert(all.begin(), std::move(call.recording));
  }
  call.recording.reset();
  for (void *extra : call.extras)
    memory->put(extra);
  call.extras.clear();
  inCall = false;
  lock.unlock();
}
