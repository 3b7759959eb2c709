// The one stream of a device. Work runs in the order in which it is submitted. Each submission has
// a number, for which a thread can wait.
#pragma once

#include "../Reports.h"
#include "Api.h"

#include <atomic>
#include <string>

namespace xtensor::cuda {

/// What everything on one device needs.
struct Context {
  const Driver *api;
  DeviceNumber device;
  ContextHandle handle = nullptr;
  StreamHandle stream = nullptr;
  std::string name, driverName;
  std::atomic<bool> *lost;
  std::atomic<const char *> lostBy{"no reason known"};

  /// True on success, else xt_device_error says that `what` failed.
  bool check(Result result, const char *what);
  bool usable();
};

/// While one lives, the driver's calls of this thread are for this device: other libraries may use
/// the driver in the same thread.
class Current {
public:
  explicit Current(const Context &context) : api(context.api) {
    api->CtxPushCurrent(context.handle);
  }
  ~Current() {
    ContextHandle before;
    api->CtxPopCurrent(&before);
  }
  Current(const Current &) = delete;

private:
  const Driver *api;
};

class Stream final : public Timeline {
public:
  explicit Stream(Context &context) : context(context) {}
  bool init();

  /// Before something is sent: waits while too much is under way.
  bool open();
  /// The number of what was sent since open(), or 0.
  uint64_t close();
  uint64_t last() const override { return sent.load(std::memory_order_acquire); }
  bool done(uint64_t value) override;
  bool wait(uint64_t value) override { return wait(value, timeout); }
  bool wait(uint64_t value, double seconds);
  int64_t waits() const { return waited.load(std::memory_order_relaxed); }

private:
  /// Submissions under way at most.
  static constexpr uint64_t kUnderWay = 256;

  void passed(uint64_t value);

  Context &context;
  EventHandle events[kUnderWay] = {};
  std::atomic<uint64_t> sent{0}, completed{0};
  std::atomic<int64_t> waited{0};
  double timeout = 0; // seconds; 0: none
};

} // namespace xtensor::cuda
