// What the driver offers: its devices in order of preference, and the features of each.
#pragma once

#include "Api.h"

#include "../Device.h"

#include <string>
#include <vector>

namespace xtensor::vulkan {

/// Limits that this runtime keeps to, and the texts that xt_device_info points to.
struct Limits {
  std::string name, driver;
  bool discrete;           // has memory of its own that the CPU had better not read
  size_t storageAlignment; // of the start of a kernel's buffer
  size_t storageRange;     // of one buffer as a kernel sees it
  size_t allocation;       // bytes of one allocation
  bool fixedSubgroups;     // their size can be asked for: drivers may choose another otherwise
  bool fullSubgroups;
  uint32_t spirvVersion; // as in the header of a module
  uint8_t deviceId[VK_UUID_SIZE], driverId[VK_UUID_SIZE], cacheId[VK_UUID_SIZE];
  uint32_t vendor, product, driverVersion;
};

/// The devices that can be used, best first; if the list is empty, xt_device_error says why.
std::vector<VkPhysicalDevice> physicalDevices(Instance &instance);

/// Asks what it can do and makes a device with all of that enabled, and one queue.
VkDevice makeDevice(Instance &instance, VkPhysicalDevice physical, xt_device_info &info,
                    Limits &limits, uint32_t &family);

} // namespace xtensor::vulkan
