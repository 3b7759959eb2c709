// What devices with recorded calls share. If the commands of a call equal those of an earlier
// call, they are submitted again; otherwise they are recorded. This file also holds the arena, and
// the copies to and from the device.
#pragma once

#include "Discards.h"

#include <memory>

namespace xtensor {

/// Commands of a call.
struct Record {
  std::vector<int64_t> key; // addresses and sizes of the call
  uint64_t arena = 0;       // which one its commands name; 0: none

  virtual ~Record() = default;
};

class RecordingDevice;

/// The calls of a program that are on record on one device, the latest first.
struct Replays final : Made {
  std::vector<std::unique_ptr<Record>> recordings;
  ~Replays() override;
};

class RecordingDevice : public xt_device {
public:
  void *alloc(size_t bytes) override;
  void free(void *address, size_t bytes) override;
  size_t cachedBytes() override;
  void trim() override;
  int32_t write(void *to, const void *from, size_t bytes) override;
  int32_t read(void *to, const void *from, size_t bytes) override;
  int32_t copy(void *to, const void *from, size_t bytes) override;

  int32_t begin(xt_program *program, void **buffers, const int64_t *sizes, xt_status *status,
                xt_ticket *&ticket) override;
  void launch(xt_kernel *kernel, const int64_t groups[3], void *const *buffers,
              const int32_t *numbers) override;
  void extents(const int64_t *bytes) override { call.extents = bytes; }
  void callCopy(void *to, const void *from, int64_t bytes) override;
  void *arena(int64_t bytes) override;
  void *report() override;
  void *map(void *address, int64_t bytes, int32_t mode) override;
  void unmap(void *address, int64_t bytes, int32_t mode, void *host) override;
  void end() override;
  void discard(Made *made) override { discards.add(made, lock, inCall); }

  /// Compiled code is done with a program.
  void forget(Replays &replays);

protected:
  /// Memory that the CPU sees, and which the device copies from or to piece after piece.
  struct Chunk {
    char *host = nullptr;
    void *buffer = nullptr; // the device's own
    size_t used = 0;
    uint64_t value = 0; // of the last copy
  };
  static constexpr size_t kChunk = size_t(8) << 20;
  /// What is known of some bytes of the device.
  struct Range {
    bool mapped = false; // the CPU sees them, at their address
    uint64_t lastUse = 0;
  };

  explicit RecordingDevice(Timeline &timeline) : discards(timeline), timeline(timeline) {}
  ~RecordingDevice() = default;

  /// False, with xt_device_error set, if the device was lost.
  virtual bool usable() = 0;

  //===- memory -------------------------------------------------------------===//
  /// Null, without an error message, if no memory is left.
  virtual void *takeBlock(size_t bytes) = 0;
  virtual void putBlock(void *address) = 0;
  /// False, with xt_device_error set, if nothing is there, or fewer bytes.
  virtual bool find(const void *address, size_t bytes, Range &range) = 0;
  /// The largest size of one block, the total memory, and the memory in use.
  virtual size_t largestBlock() = 0;
  virtual size_t allBytes() = 0;
  virtual int64_t usedBytes() = 0;
  virtual size_t idleBytes() = 0;
  /// More is idle than should be kept.
  virtual bool isFull() = 0;
  /// Gives what is idle back to the driver: all of it, or what is too much.
  virtual void giveBack(bool all) = 0;

  //===- commands ------------------------------------------------------------===//
  /// One that commands can be added to, or null, with xt_device_error set; one at a time.
  virtual std::unique_ptr<Record> startRecording() = 0;
  virtual bool addLaunch(Record &recording, const Made &kernel, const xt_kernel &code,
                         const int64_t groups[3], void *const *buffers, const int64_t *extents,
                         const int32_t *numbers) = 0;
  virtual bool addCopy(Record &recording, void *to, const void *from, size_t bytes) = 0;
  /// Nothing more is added.
  virtual bool finish(Record &) { return true; }
  /// The number of the submission, or 0. What `dirty` holds, unless it is null, is cleared first.
  virtual uint64_t send(Record &recording, Slot *dirty) = 0;
  /// Nobody sends it any more; it may still be running.
  virtual void retire(std::unique_ptr<Record>) {}
  virtual std::unique_ptr<Made> makeKernel(const xt_kernel &kernel) = 0;

  //===- copies --------------------------------------------------------------===//
  /// With `kChunk` bytes; `toDevice`: that the CPU writes.
  virtual bool makeChunk(Chunk &chunk, bool toDevice) = 0;
  /// Numbers of submissions, or 0.
  virtual uint64_t copyIn(void *to, const Chunk &chunk, size_t bytes) = 0;
  virtual uint64_t copyOut(const Chunk &chunk, const void *from, size_t bytes) = 0;

  /// Held by a call from its begin to its end, and by whatever sends work.
  std::recursive_mutex lock;
  std::unique_ptr<Reports> reports;
  std::vector<Replays *> programs;
  std::atomic<int64_t> recorded{0}, replayed{0}, held{0};

private:
  /// The call that has the device to itself.
  struct Call {
    xt_program *program = nullptr;
    xt_status *status = nullptr;
    Ticket *ticket = nullptr;
    std::vector<int64_t> key;
    std::unique_ptr<Record> recording;
    const int64_t *extents = nullptr; // of the next launch
    size_t arenaUsed = 0;
    uint64_t arena = 0;
    std::vector<void *> extras; // temporaries that the arena did not hold
    bool failed = false;
    bool open = false;    // commands may be added to its recording
    bool cleared = false; // what an earlier call reported
    bool whole = true;    // its recording holds all of its commands
  };

  void *unwritten(void *block, size_t bytes);
  void *take(size_t bytes);
  void trimLocked();
  bool betweenCalls();
  bool upload(void *to, const void *from, size_t bytes);
  bool download(void *to, const void *from, size_t bytes, Chunk (&chunks)[2]);

  bool recordingCall();
  uint64_t sendForCall(Record &recording);
  bool flush();
  bool cut();
  void dropRecording();
  /// With a status code of runtime.h.
  void failCall(int32_t code = 3, int64_t size = 0);
  Replays &replaysOf(xt_program *program);
  bool replay(Replays &replays);

  Discards discards;
  Timeline &timeline;
  Call call;
  bool inCall = false;
  struct {
    void *address = nullptr;
    size_t bytes = 0, wanted = 0;
    uint64_t generation = 1;
  } space;
  Chunk uploads[4];
  size_t nextUpload = 0;
  Chunk mapChunks[2]; // guarded by `lock`, which a call that reads holds
  std::mutex readLock;
  Chunk readChunks[2];
};

} // namespace xtensor
