/* Stands between xtensor and the Vulkan loader (XTENSOR_VULKAN_LIBRARY) and lets calls fail that no
 * driver fails on demand. The test says which: fault_set(kind, n) fails every call after the next
 * n. SLOW: whoever waits for a limited time waits in vain. */
#define VK_NO_PROTOTYPES
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <vulkan/vulkan.h>

enum { LOSE_ON_SUBMIT, NO_MEMORY, NO_ANSWER, SLOW, KINDS };
static long left[KINDS] = {-1, -1, -1, -1};

void fault_set(int kind, long calls) { left[kind] = calls; }

static int fails(int kind) {
  if (left[kind] < 0)
    return 0;
  if (left[kind] == 0)
    return 1;
  --left[kind];
  return 0;
}

static PFN_vkGetInstanceProcAddr instanceProc;
static PFN_vkGetDeviceProcAddr deviceProc;
static PFN_vkQueueSubmit queueSubmit;
static PFN_vkAllocateMemory allocateMemory;
static PFN_vkWaitSemaphores waitSemaphores;
static PFN_vkGetSemaphoreCounterValue counterValue;

/* The last that was sent. */
static VkSemaphore lastSemaphore;
static uint64_t lastValue;
static VkDevice lastDevice;

/* As a driver that registers what it takes apart as it comes to need it: work that is under way
 * then falls over it. */
static void take_apart(void) {
  uint64_t now = 0;
  counterValue(lastDevice, lastSemaphore, &now);
  if (now < lastValue) {
    fputs("the driver was taken apart under its work\n", stderr);
    _exit(3);
  }
}
int take_apart_at_exit(void) { return atexit(take_apart); }

static VkResult submit(VkQueue queue, uint32_t count, const VkSubmitInfo *infos, VkFence fence) {
  const VkTimelineSemaphoreSubmitInfo *numbers = infos->pNext;
  lastSemaphore = infos->pSignalSemaphores[0];
  lastValue = numbers->pSignalSemaphoreValues[0];
  return fails(LOSE_ON_SUBMIT) ? VK_ERROR_DEVICE_LOST : queueSubmit(queue, count, infos, fence);
}

static VkResult allocate(VkDevice device, const VkMemoryAllocateInfo *info,
                         const VkAllocationCallbacks *callbacks, VkDeviceMemory *memory) {
  return fails(NO_MEMORY) ? VK_ERROR_OUT_OF_DEVICE_MEMORY
                          : allocateMemory(device, info, callbacks, memory);
}

static VkResult wait(VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t timeout) {
  int in_vain = fails(NO_ANSWER) || (timeout != UINT64_MAX && fails(SLOW));
  return in_vain ? VK_TIMEOUT : waitSemaphores(device, info, timeout);
}

static PFN_vkVoidFunction getDeviceProc(VkDevice device, const char *name) {
  PFN_vkVoidFunction found = deviceProc(device, name);
  if (!strcmp(name, "vkQueueSubmit")) {
    queueSubmit = (PFN_vkQueueSubmit)found;
    return (PFN_vkVoidFunction)submit;
  }
  if (!strcmp(name, "vkAllocateMemory")) {
    allocateMemory = (PFN_vkAllocateMemory)found;
    return (PFN_vkVoidFunction)allocate;
  }
  if (!strcmp(name, "vkWaitSemaphores")) {
    waitSemaphores = (PFN_vkWaitSemaphores)found;
    counterValue = (PFN_vkGetSemaphoreCounterValue)deviceProc(device, "vkGetSemaphoreCounterValue");
    lastDevice = device;
    return (PFN_vkVoidFunction)wait;
  }
  return found;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance,
                                                               const char *name) {
  if (!instanceProc) {
    void *loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    instanceProc = (PFN_vkGetInstanceProcAddr)dlsym(loader, "vkGetInstanceProcAddr");
  }
  PFN_vkVoidFunction found = instanceProc(instance, name);
  if (!strcmp(name, "vkGetDeviceProcAddr")) {
    deviceProc = (PFN_vkGetDeviceProcAddr)found;
    return (PFN_vkVoidFunction)getDeviceProc;
  }
  return found;
}
