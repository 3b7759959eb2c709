// A Vulkan device: what xt_device and xt_call ask for.
#pragma once

#include "Recording.h"
#include "Reports.h"

#include <deque>

namespace xtensor::vulkan {

class Device;

/// The calls of a program that are on record on one device, the latest first.
struct Replays : Made {
  std::vector<std::unique_ptr<Recording>> recordings;
  ~Replays() override;
};

class Device final : public xt_device {
public:
  Device(Instance &instance, VkPhysicalDevice physical);
  bool init();

  int64_t messages() override { return context.instance->messages; }
  xt_device_counters counters() override;
  void *alloc(size_t bytes) override;
  void free(void *address, size_t bytes) override;
  size_t cachedBytes() override;
  void trim() override;
  int32_t write(void *to, const void *from, size_t bytes) override;
  int32_t read(void *to, const void *from, size_t bytes) override;
  int32_t copy(void *to, const void *from, size_t bytes) override;
  int32_t synchronize() override { return queue.wait(queue.last()) ? 0 : 1; }

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

  void quiesce() override { queue.wait(queue.last(), uint64_t(5e9)); }

  /// Of a program, of a kernel that compiled code is done with.
  void forget(Replays &replays);
  void forget(Pipeline &pipeline);

private:
  /// The call that has the device to itself.
  struct Call {
    xt_program *program = nullptr;
    xt_status *status = nullptr;
    Ticket *ticket = nullptr;
    std::vector<int64_t> key;
    std::unique_ptr<Recording> recording;
    const int64_t *extents = nullptr; // of the next launch
    uint64_t lastSent = 0;
    size_t arenaUsed = 0;
    uint64_t arena = 0;
    std::vector<void *> extras;        // temporaries that the arena did not hold
    bool failed = false, whole = true; // whole: its recording holds all of its commands
  };
  struct Chunk {
    Buffer buffer;
    size_t used = 0;
    uint64_t value = 0;
  };

  void *take(size_t bytes);
  void trimLocked();
  /// Gives them back to the driver, and forgets the recordings that name them.
  void destroy(const std::vector<std::unique_ptr<Slab>> &slabs);
  std::unique_ptr<Recording> recording();
  void retire(std::unique_ptr<Recording> recording);
  /// Sends it and says so to the blocks it touches. 0 on failure.
  uint64_t send(Recording &recording, VkCommandBuffer first = VK_NULL_HANDLE);
  template <typename Record>
  uint64_t sendOnce(Record record);
  bool upload(void *to, const void *from, size_t bytes);
  bool download(void *to, const void *from, size_t bytes, Chunk (&chunks)[2]);
  bool makeChunk(Chunk &chunk, Kind kind);

  bool recordingCall();
  void dropRecording();
  bool prepare(Slot &slot);
  bool flush();
  void failCall();
  Replays &replaysOf(xt_program *program);
  bool replay(Replays &replays);

  Context context;
  Queue queue;
  std::unique_ptr<Memory> memory;
  std::unique_ptr<Recorder> recorder;
  std::unique_ptr<Kernels> kernels;
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
  std::vector<Replays *> programs;
  std::deque<std::unique_ptr<Recording>> retired; // by the number of their submission
  std::vector<std::unique_ptr<Recording>> spare;
  Chunk uploads[4];
  int nextUpload = 0;
  Chunk mapChunks[2]; // guarded by `lock`, which a call that reads holds
  std::mutex readLock;
  Chunk readChunks[2];
  int64_t recorded = 0, replayed = 0;
};

} // namespace xtensor::vulkan
