// Calls of programs on devices that record them, and the memory of such devices.
#include "RecordingDevice.h"

#include "DebugMemory.h"
#include "runtime.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace xtensor;

/// Calls on record per program: arrays of a loop take turns in few buffers.
static constexpr size_t kReplays = 8;

Replays::~Replays() { static_cast<RecordingDevice *>(device)->forget(*this); }

void RecordingDevice::forget(Replays &replays) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  programs.erase(std::remove(programs.begin(), programs.end(), &replays), programs.end());
  for (auto &recording : replays.recordings)
    retire(std::move(recording));
  replays.recordings.clear();
}

//===- memory ----------------------------------------------------------------===//

/// In the debug mode; only what the CPU may write at once, so that no call waits or is recorded
/// anew.
void *RecordingDevice::unwritten(void *block, size_t bytes) {
  Range range;
  if (debugMemory && block && find(block, bytes, range) && range.mapped &&
      timeline.done(range.lastUse))
    fillUnwritten(block, bytes);
  return block;
}

void *RecordingDevice::take(size_t bytes) {
  if (!usable())
    return nullptr;
  if (void *found = takeBlock(bytes))
    return found;
  if (bytes > largestBlock()) {
    fail("%s: no memory for %zu bytes at once; the limit is %zu", info.name, bytes, largestBlock());
    return nullptr;
  }
  {
    // Blocks of other sizes may be what is missing.
    std::lock_guard<std::recursive_mutex> guard(lock);
    trimLocked();
  }
  if (void *found = takeBlock(bytes))
    return found;
  fail("%s: no memory for %zu bytes; it has %zu, of which %lld are in use", info.name, bytes,
       allBytes(), static_cast<long long>(usedBytes()));
  return nullptr;
}

void *RecordingDevice::alloc(size_t bytes) {
  if (bytes <= static_cast<size_t>(info.max_buffer_bytes))
    return unwritten(take(bytes), bytes);
  fail("%s: an array of %zu bytes is over its limit of %lld", info.name, bytes,
       static_cast<long long>(info.max_buffer_bytes));
  return nullptr;
}

void RecordingDevice::free(void *address, size_t) {
  putBlock(address);
  // While another thread's call has the device, there is nothing to be had: the next one sees to
  // it.
  if (isFull() && usable() && lock.try_lock()) {
    if (!inCall)
      giveBack(false);
    lock.unlock();
  }
}

size_t RecordingDevice::cachedBytes() {
  std::lock_guard<std::recursive_mutex> guard(lock);
  return idleBytes() + space.bytes;
}

void RecordingDevice::trim() {
  std::lock_guard<std::recursive_mutex> guard(lock);
  trimLocked();
}

void RecordingDevice::trimLocked() {
  if (synchronize() != 0)
    return;
  if (!inCall)
    discards.sweep();
  if (space.address && !inCall) {
    putBlock(std::exchange(space.address, nullptr));
    space.bytes = 0;
    ++space.generation;
  }
  giveBack(true);
}

//===- copies ----------------------------------------------------------------===//

bool RecordingDevice::upload(void *to, const void *from, size_t bytes) {
  for (size_t done = 0, piece; done < bytes; done += piece) {
    Chunk *chunk = &uploads[nextUpload];
    if (kChunk - chunk->used < std::min(bytes - done, kChunk)) {
      nextUpload = (nextUpload + 1) % std::size(uploads);
      chunk = &uploads[nextUpload];
      if (!timeline.wait(chunk->value))
        return false;
      chunk->used = 0;
    }
    piece = std::min(bytes - done, kChunk - chunk->used);
    if (!chunk->host && !makeChunk(*chunk, true))
      return false;
    memcpy(chunk->host + chunk->used, static_cast<const char *>(from) + done, piece);
    uint64_t value = copyIn(static_cast<char *>(to) + done, *chunk, piece);
    if (!value)
      return false;
    chunk->value = value;
    chunk->used = (chunk->used + piece + 255) & ~size_t(255);
  }
  return true;
}

bool RecordingDevice::download(void *to, const void *from, size_t bytes, Chunk (&chunks)[2]) {
  // While the CPU copies one chunk, the device fills the other one.
  size_t pieces = (bytes + kChunk - 1) / kChunk;
  for (size_t i = 0; i <= pieces; ++i) {
    if (i < pieces) {
      Chunk &chunk = chunks[i % 2];
      std::lock_guard<std::recursive_mutex> guard(lock);
      if (!chunk.host && !makeChunk(chunk, false))
        return false;
      chunk.value = copyOut(chunk, static_cast<const char *>(from) + i * kChunk,
                            std::min(kChunk, bytes - i * kChunk));
      if (!chunk.value)
        return false;
    }
    if (i > 0) {
      Chunk &chunk = chunks[(i - 1) % 2];
      if (!timeline.wait(chunk.value))
        return false;
      memcpy(static_cast<char *>(to) + (i - 1) * kChunk, chunk.host,
             std::min(kChunk, bytes - (i - 1) * kChunk));
    }
  }
  return true;
}

/// Commands of the call that this thread is in are not sent yet.
bool RecordingDevice::betweenCalls() {
  std::lock_guard<std::recursive_mutex> guard(lock);
  return !inCall || fail("%s: arrays are copied between calls, not during one", info.name) == 0;
}

int32_t RecordingDevice::write(void *to, const void *from, size_t bytes) {
  Range range;
  if (!usable() || (bytes > 0 && !find(to, bytes, range)))
    return 1;
  if (bytes == 0)
    return 0;
  if (range.mapped && timeline.done(range.lastUse)) {
    memcpy(to, from, bytes);
    return 0;
  }
  std::lock_guard<std::recursive_mutex> guard(lock);
  // In a call, a constant of its program: there from now on.
  if (inCall && !cut())
    return 1;
  return upload(to, from, bytes) ? 0 : 1;
}

int32_t RecordingDevice::read(void *to, const void *from, size_t bytes) {
  Range range;
  if (!usable() || (bytes > 0 && !find(from, bytes, range)))
    return 1;
  if (bytes == 0)
    return 0;
  if (!range.mapped) {
    if (!betweenCalls())
      return 1;
    std::lock_guard<std::mutex> guard(readLock);
    return download(to, from, bytes, readChunks) ? 0 : 1;
  }
  if (!timeline.wait(range.lastUse))
    return 1;
  memcpy(to, from, bytes);
  return 0;
}

int32_t RecordingDevice::copy(void *to, const void *from, size_t bytes) {
  if (!usable() || !betweenCalls())
    return 1;
  if (bytes == 0)
    return 0;
  std::lock_guard<std::recursive_mutex> guard(lock);
  std::unique_ptr<Record> once = startRecording();
  if (!once)
    return 1;
  bool good = addCopy(*once, to, from, bytes);
  good = finish(*once) && good && send(*once, nullptr) != 0;
  retire(std::move(once));
  return good ? 0 : 1;
}

//===- calls -----------------------------------------------------------------===//

Replays &RecordingDevice::replaysOf(xt_program *program) {
  if (Made *found = findMade(program->handle, this))
    return *static_cast<Replays *>(found);
  auto *made = new Replays;
  made->device = this;
  addMade(program->handle, made);
  programs.push_back(made);
  return *made;
}

int32_t RecordingDevice::begin(xt_program *program, void **buffers, const int64_t *sizes,
                               xt_status *status, xt_ticket *&ticket) {
  lock.lock();
  if (inCall) {
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
  call.arenaUsed = call.arena = 0;
  call.failed = call.open = call.cleared = false;
  call.whole = true;
  call.key.assign(sizes, sizes + program->sizes);
  for (int32_t i = 0; i < program->inputs + program->outputs; ++i)
    call.key.push_back(reinterpret_cast<int64_t>(buffers[i]));
  if (!usable())
    failCall();
  if (program->reports && !call.failed) {
    if (Slot *slot = reports->take()) {
      ticket = call.ticket = new Ticket(*reports, slot);
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

bool RecordingDevice::replay(Replays &replays) {
  auto &all = replays.recordings;
  for (size_t i = 0; i < all.size(); ++i) {
    Record &found = *all[i];
    if (found.key != call.key || (found.arena && found.arena != space.generation))
      continue;
    std::rotate(all.begin(), all.begin() + i, all.begin() + i + 1);
    if (sendForCall(found))
      ++replayed;
    else
      failCall();
    return true;
  }
  return false;
}

void RecordingDevice::failCall(int32_t code, int64_t size) {
  call.failed = true;
  if (call.status->code)
    return;
  call.status->code = code;
  call.status->size = size;
}

/// Something can be recorded: the call has not failed, and there is a recording.
bool RecordingDevice::recordingCall() {
  if (call.failed)
    return false;
  if (call.recording)
    return true;
  call.recording = startRecording();
  call.open = call.recording != nullptr;
  if (!call.recording)
    failCall();
  return call.open;
}

/// What an earlier call reported, if it may not have been done when this one began, is cleared
/// first.
uint64_t RecordingDevice::sendForCall(Record &recording) {
  Slot *slot = call.ticket ? call.ticket->slot : nullptr;
  uint64_t value = send(recording, slot && !slot->clean && !call.cleared ? slot : nullptr);
  if (value && slot) {
    call.cleared = true;
    call.ticket->sent(value);
  }
  return value;
}

/// Sends what was recorded up to here.
bool RecordingDevice::flush() {
  if (call.failed || !call.recording)
    return !call.failed;
  call.open = false;
  if (finish(*call.recording) && sendForCall(*call.recording))
    return true;
  failCall();
  return false;
}

/// What comes next goes into a new one.
void RecordingDevice::dropRecording() {
  if (call.recording && std::exchange(call.open, false))
    finish(*call.recording); // of a call that failed: never sent
  if (call.recording)
    retire(std::move(call.recording));
}

/// The CPU does something in the midst of the call.
bool RecordingDevice::cut() {
  bool good = flush();
  call.whole = false;
  dropRecording();
  return good;
}

void RecordingDevice::launch(xt_kernel *kernel, const int64_t groups[3], void *const *buffers,
                             const int32_t *numbers) {
  const int64_t *extents = std::exchange(call.extents, nullptr);
  if (groups[0] <= 0 || groups[1] <= 0 || groups[2] <= 0 || !recordingCall())
    return;
  for (int i = 0; i < 3; ++i)
    if (groups[i] > info.max_groups[i]) {
      fail("%s: kernel %s wants %lld workgroups in dimension %d, the limit is %lld", info.name,
           kernel->name, static_cast<long long>(groups[i]), i,
           static_cast<long long>(info.max_groups[i]));
      return failCall();
    }
  // Arrays are refused when they are made: this is one of the call's own.
  for (int i = 0; extents && i < kernel->buffers; ++i)
    if (extents[i] > info.max_buffer_bytes) {
      fail("%s: buffer %d of kernel %s has %lld bytes, the limit is %lld", info.name, i,
           kernel->name, static_cast<long long>(extents[i]),
           static_cast<long long>(info.max_buffer_bytes));
      return failCall(2, extents[i]);
    }
  Made *made = findMade(kernel->handle, this);
  if (!made) {
    std::unique_ptr<Made> fresh = makeKernel(*kernel);
    if (!fresh)
      return failCall();
    fresh->device = this;
    made = fresh.release();
    addKernel(call.program, kernel, made);
    ++held;
  }
  if (!addLaunch(*call.recording, *made, *kernel, groups, buffers, extents, numbers))
    failCall();
}

void RecordingDevice::callCopy(void *to, const void *from, int64_t bytes) {
  if (bytes <= 0 || !recordingCall())
    return;
  if (!addCopy(*call.recording, to, from, static_cast<size_t>(bytes)))
    failCall();
}

void *RecordingDevice::arena(int64_t bytes) {
  if (call.failed)
    return nullptr;
  size_t wanted = (static_cast<size_t>(std::max<int64_t>(bytes, 1)) + 255) & ~size_t(255);
  if (call.arenaUsed == 0 && space.bytes < std::max(wanted, space.wanted)) {
    size_t total = std::max(wanted, space.wanted);
    if (space.address)
      putBlock(space.address);
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
    return unwritten(static_cast<char *>(space.address) + call.arenaUsed - wanted, wanted);
  }
  // The next call finds an arena that holds all of it.
  void *extra = space.bytes || call.arenaUsed > wanted ? take(wanted) : nullptr;
  if (!extra) {
    space.wanted = 0;
    failCall(lost ? 3 : 2, bytes); // 2: as on the CPU
    return nullptr;
  }
  call.extras.push_back(extra);
  call.whole = false;
  return unwritten(extra, wanted);
}

void *RecordingDevice::report() { return call.ticket ? call.ticket->slot->address : nullptr; }

void *RecordingDevice::map(void *address, int64_t bytes, int32_t mode) {
  auto wanted = static_cast<size_t>(std::max<int64_t>(bytes, 0));
  Range range;
  bool good = cut() && (wanted == 0 || find(address, wanted, range));
  if (good && range.mapped && timeline.wait(range.lastUse))
    return address;
  void *host = xt_alloc(std::max<size_t>(wanted, 1));
  if (!host) {
    fail("no memory for %zu bytes on the host", wanted);
    failCall();
    return nullptr;
  }
  bool readable = good && wanted > 0 && !range.mapped;
  if (!readable || !(mode & 1) || !download(host, address, wanted, mapChunks)) {
    memset(host, 0, wanted);
    if (wanted > 0 && (!readable || mode & 1))
      failCall();
  }
  return host;
}

void RecordingDevice::unmap(void *address, int64_t bytes, int32_t mode, void *host) {
  if (!host || host == address)
    return;
  auto wanted = static_cast<size_t>(std::max<int64_t>(bytes, 0));
  if ((mode & 2) && wanted > 0 && cut() && !upload(address, host, wanted))
    failCall();
  xt_free(host, std::max<size_t>(wanted, 1));
}

void RecordingDevice::end() {
  bool sent = flush();
  recorded += call.recording != nullptr;
  if (call.recording && sent && call.whole && call.program->replayable) {
    auto &all = replaysOf(call.program).recordings;
    if (all.size() == kReplays) {
      retire(std::move(all.back()));
      all.pop_back();
    }
    call.recording->key = call.key;
    call.recording->arena = call.arena;
    all.insert(all.begin(), std::move(call.recording));
  } else {
    dropRecording();
  }
  for (void *extra : call.extras)
    putBlock(extra);
  call.extras.clear();
  inCall = false;
  lock.unlock();
}
