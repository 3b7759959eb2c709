// One NVIDIA GPU: its memory, its stream, and the calls of programs on it.
#pragma once

#include "Recording.h"
#include "Reports.h"

namespace xtensor::cuda {

class Device;

/// The calls of a program that are on record on one device, the latest first.
struct Replays : Made {
  std::vector<std::unique_ptr<Recording>> recordings;
  ~Replays() override;
};

class Device final : public xt_device {
public:
  Device(const Driver &driver, DeviceNumber number);
  bool init();

  int64_t messages() override { return 0; } // there are no validation layers
  xt_device_counters counters() override;
  void *alloc(size_t bytes) override;
  void free(void *address, size_t bytes) override;
  size_t cachedBytes() override;
  void trim() override;
  int32_t write(void *to, const void *from, size_t bytes) override;
  int32_t read(void *to, const void *from, size_t bytes) override;
  int32_t copy(void *to, const void *from, size_t bytes) override;
  int32_t synchronize() override { return stream.wait(stream.last()) ? 0 : 1; }

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

  void quiesce() override { stream.wait(stream.last(), 5); }

  /// Of a program, of a kernel that compiled code is done with.
  void forget(Replays &replays);
  void forget(Kernel &kernel);

private:
  /// The call that has the device to itself.
  struct Call {
    xt_program *program = nullptr;
    xt_status *status = nullptr;
    Ticket *ticket = nullptr;
    std::vector<int64_t> key;
    std::unique_ptr<Recording> recording;
    const int64_t *extents = nullptr; // of the next launch
    bool cleared = false;             // what an earlier call reported
    size_t arenaUsed = 0;
    uint64_t arena = 0;
    std::vector<void *> extras;        // temporaries that the arena did not hold
    bool failed = false, whole = true; // whole: its recording holds all of its commands
  };
  /// Memory that the device copies from or to, used piece after piece.
  struct Chunk {
    char *host = nullptr;
    size_t used = 0;
    uint64_t value = 0;
  };

  void describe();
  void *take(size_t bytes);
  void trimLocked();
  bool makeChunk(Chunk &chunk);
  bool betweenCalls();
  bool upload(void *to, const void *from, size_t bytes);
  bool download(void *to, const void *from, size_t bytes, Chunk (&chunks)[2]);

  bool recordingCall();
  bool send(Recording &recording);
  bool flush();
  void failCall();
  Replays &replaysOf(xt_program *program);
  bool replay(Replays &replays);

  Context context;
  Stream stream;
  std::unique_ptr<Memory> memory;
  std::unique_ptr<Reports> reports;

  /// Held by a call from its begin to its end, and by whatever sends work.
  std::recursive_mutex lock;
  Call call;
  bool inCall = false;
  struct {
    void *address = nullptr;
    size_t bytes = 0, wanted = 0;
    uint64_t generation = 1;
  } space;
  Chunk uploads[4];
  int nextUpload = 0;
  Chunk mapChunks[2]; // guarded by `lock`, which a call that reads holds
  std::mutex readLock;
  Chunk readChunks[2];
  std::atomic<int64_t> recorded{0}, replayed{0}, kernelsMade{0};
};

} // namespace xtensor::cuda
