// The one queue of a device. Work runs in the order in which it is submitted. Each submission has
// a number, for which a thread can wait.
#pragma once

#include "../Reports.h"
#include "Physical.h"

namespace xtensor::vulkan {

/// What everything on one device needs.
struct Context {
  Instance *instance;
  VkPhysicalDevice physical;
  VkDevice device;
  Functions vk;
  Limits limits;
  VkPhysicalDeviceMemoryProperties memory;
  std::atomic<bool> *lost;

  /// True on success, else xt_device_error says that `what` failed.
  bool check(VkResult result, const char *what);
  bool usable();
};

class Queue final : public Timeline {
public:
  explicit Queue(Context &context) : context(context) {}
  bool init(uint32_t family);

  /// The number of the submission, or 0. Waits while too many are under way.
  uint64_t submit(const VkCommandBuffer *commands, uint32_t count);
  uint64_t last() const override { return sent.load(std::memory_order_acquire); }
  bool done(uint64_t value) override;
  bool wait(uint64_t value) override { return wait(value, timeout); }
  bool wait(uint64_t value, uint64_t nanoseconds);
  int64_t waits() const { return waited.load(std::memory_order_relaxed); }

private:
  Context &context;
  VkQueue queue = VK_NULL_HANDLE;
  VkSemaphore timeline = VK_NULL_HANDLE;
  std::atomic<uint64_t> sent{0}, completed{0};
  std::atomic<int64_t> waited{0};
  uint64_t timeout = UINT64_MAX; // nanoseconds
};

} // namespace xtensor::vulkan
