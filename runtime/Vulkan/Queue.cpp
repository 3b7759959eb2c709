// Submissions, numbered by a timeline semaphore.
#include "Queue.h"

#include "../Backend.h"

#include <cstdlib>

using namespace xtensor;
using namespace xtensor::vulkan;

/// Submissions under way at most: what lies in the queue holds memory of the driver's.
static constexpr uint64_t kUnderWay = 256;

bool Context::check(VkResult result, const char *what) {
  if (result == VK_SUCCESS)
    return true;
  if (result == VK_ERROR_DEVICE_LOST)
    *lost = true;
  if (*lost)
    return usable();
  fail("%s: %s failed: %s", limits.name.c_str(), what, nameOf(result));
  return false;
}

bool Context::usable() {
  if (!*lost)
    return true;
  fail("%s: the driver lost the device; its arrays are gone (open it again, or run with "
       "device=\"cpu\")",
       limits.name.c_str());
  return false;
}

bool Queue::init(uint32_t family) {
  context.vk.GetDeviceQueue(context.device, family, 0, &queue);
  VkSemaphoreTypeCreateInfo type = {VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO};
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo create = {VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type};
  const char *text = getenv("XTENSOR_DEVICE_TIMEOUT");
  double seconds = text ? atof(text) : 0;
  if (seconds > 0 && seconds < 1e9)
    timeout = static_cast<uint64_t>(seconds * 1e9);
  return context.check(context.vk.CreateSemaphore(context.device, &create, nullptr, &timeline),
                       "a semaphore");
}

uint64_t Queue::submit(const VkCommandBuffer *commands, uint32_t count) {
  uint64_t value = last() + 1;
  if (!context.usable() || (value > kUnderWay && !wait(value - kUnderWay)))
    return 0;
  VkTimelineSemaphoreSubmitInfo numbers = {VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO};
  numbers.signalSemaphoreValueCount = 1;
  numbers.pSignalSemaphoreValues = &value;
  VkSubmitInfo info = {VK_STRUCTURE_TYPE_SUBMIT_INFO, &numbers};
  info.commandBufferCount = count;
  info.pCommandBuffers = commands;
  info.signalSemaphoreCount = 1;
  info.pSignalSemaphores = &timeline;
  if (!context.check(context.vk.QueueSubmit(queue, 1, &info, VK_NULL_HANDLE), "sending work"))
    return 0;
  sent.store(value, std::memory_order_release);
  return value;
}

bool Queue::done(uint64_t value) {
  if (value <= completed.load(std::memory_order_acquire))
    return true;
  uint64_t now = 0;
  if (context.vk.GetSemaphoreCounterValue(context.device, timeline, &now) != VK_SUCCESS)
    return false;
  uint64_t before = completed.load(std::memory_order_relaxed);
  while (before < now && !completed.compare_exchange_weak(before, now))
    ;
  return value <= now;
}

bool Queue::wait(uint64_t value, uint64_t nanoseconds) {
  if (!context.usable())
    return false;
  if (done(value))
    return true;
  waited.fetch_add(1, std::memory_order_relaxed);
  VkSemaphoreWaitInfo info = {VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
  info.semaphoreCount = 1;
  info.pSemaphores = &timeline;
  info.pValues = &value;
  VkResult result = context.vk.WaitSemaphores(context.device, &info, nanoseconds);
  if (result == VK_TIMEOUT)
    return fail("%s: no answer within %g seconds (XTENSOR_DEVICE_TIMEOUT)",
                context.limits.name.c_str(), static_cast<double>(nanoseconds) * 1e-9) == 0;
  if (!context.check(result, "waiting"))
    return false;
  done(value);
  return true;
}
