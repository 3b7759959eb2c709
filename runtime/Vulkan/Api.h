// The Vulkan loader, found at run time: its functions, and the one instance of this process.
#pragma once

#include "CooperativeMatrix.h"

#include <atomic>
#include <vector>

#define XT_VULKAN_GLOBAL(DO)                                                                       \
  DO(EnumerateInstanceVersion)                                                                     \
  DO(EnumerateInstanceExtensionProperties)                                                         \
  DO(EnumerateInstanceLayerProperties)                                                             \
  DO(CreateInstance)

#define XT_VULKAN_INSTANCE(DO)                                                                     \
  DO(EnumeratePhysicalDevices)                                                                     \
  DO(GetPhysicalDeviceProperties2)                                                                 \
  DO(GetPhysicalDeviceFeatures2)                                                                   \
  DO(GetPhysicalDeviceMemoryProperties)                                                            \
  DO(GetPhysicalDeviceQueueFamilyProperties)                                                       \
  DO(EnumerateDeviceExtensionProperties)                                                           \
  DO(GetPhysicalDeviceCooperativeMatrixPropertiesKHR)                                              \
  DO(CreateDevice)                                                                                 \
  DO(GetDeviceProcAddr)

#define XT_VULKAN_DEVICE(DO)                                                                       \
  DO(GetDeviceQueue)                                                                               \
  DO(DestroyDevice)                                                                                \
  DO(CreateBuffer)                                                                                 \
  DO(DestroyBuffer)                                                                                \
  DO(GetBufferMemoryRequirements)                                                                  \
  DO(AllocateMemory)                                                                               \
  DO(FreeMemory)                                                                                   \
  DO(BindBufferMemory)                                                                             \
  DO(MapMemory)                                                                                    \
  DO(CreateSemaphore)                                                                              \
  DO(WaitSemaphores)                                                                               \
  DO(GetSemaphoreCounterValue)                                                                     \
  DO(QueueSubmit)                                                                                  \
  DO(CreateCommandPool)                                                                            \
  DO(AllocateCommandBuffers)                                                                       \
  DO(BeginCommandBuffer)                                                                           \
  DO(EndCommandBuffer)                                                                             \
  DO(CmdBindPipeline)                                                                              \
  DO(CmdBindDescriptorSets)                                                                        \
  DO(CmdPushConstants)                                                                             \
  DO(CmdDispatch)                                                                                  \
  DO(CmdPipelineBarrier)                                                                           \
  DO(CmdCopyBuffer)                                                                                \
  DO(CmdFillBuffer)                                                                                \
  DO(CreateDescriptorSetLayout)                                                                    \
  DO(CreatePipelineLayout)                                                                         \
  DO(CreateDescriptorPool)                                                                         \
  DO(ResetDescriptorPool)                                                                          \
  DO(AllocateDescriptorSets)                                                                       \
  DO(UpdateDescriptorSets)                                                                         \
  DO(CreateShaderModule)                                                                           \
  DO(DestroyShaderModule)                                                                          \
  DO(CreateComputePipelines)                                                                       \
  DO(DestroyPipeline)                                                                              \
  DO(CreatePipelineCache)                                                                          \
  DO(GetPipelineCacheData)                                                                         \
  DO(DestroyPipelineCache)

namespace xtensor::vulkan {

#define XT_VULKAN_MEMBER(name) PFN_vk##name name = nullptr;

struct Instance {
  PFN_vkGetInstanceProcAddr GetInstanceProcAddr = nullptr;
  XT_VULKAN_GLOBAL(XT_VULKAN_MEMBER)
  XT_VULKAN_INSTANCE(XT_VULKAN_MEMBER)
  VkInstance handle = VK_NULL_HANDLE;
  /// What the validation layers complained of.
  std::atomic<int64_t> messages{0};
};

/// The functions of one device, without the loader between.
struct Functions {
  XT_VULKAN_DEVICE(XT_VULKAN_MEMBER)
};

/// Null, with xt_device_error set, if no loader or no driver exists. A failed attempt is repeated.
Instance *instance();

bool loadFunctions(Functions &functions, const Instance &instance, VkDevice device);

/// "VK_ERROR_..." for messages.
const char *nameOf(VkResult result);

} // namespace xtensor::vulkan
