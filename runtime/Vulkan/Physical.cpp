// Asks the driver for its devices and features. Every feature that compiled programs may use is
// enabled if the device has it. xt_device_info tells the compiler which features are missing.
#include "Physical.h"

#include "../Backend.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace xtensor;
using namespace xtensor::vulkan;

namespace {

int rank(VkPhysicalDeviceType type) {
  switch (type) {
  case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
    return 0;
  case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
    return 1;
  case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
    return 2;
  case VK_PHYSICAL_DEVICE_TYPE_CPU:
    return 3;
  default:
    return 4;
  }
}

/// By the numbers that PCI-SIG gave.
const char *vendorOf(const VkPhysicalDeviceProperties &device) {
  if (device.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU)
    return "software";
  switch (device.vendorID) {
  case 0x10de:
    return "nvidia";
  case 0x1002:
    return "amd";
  case 0x8086:
    return "intel";
  case 0x106b:
    return "apple";
  default:
    return "";
  }
}

/// What came after Vulkan 1.2, and is there.
struct Extras {
  bool subgroupSize, maintenance4, atomicFloat, matrices;
};

/// The structures of one query, chained. Those of extensions are linked in if the device has them.
struct Features {
  VkPhysicalDeviceFeatures2 core = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  VkPhysicalDeviceVulkan11Features v11 = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES};
  VkPhysicalDeviceVulkan12Features v12 = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  VkPhysicalDeviceSubgroupSizeControlFeatures subgroupSize = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES};
  VkPhysicalDeviceMaintenance4Features maintenance4 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES};
  VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomicFloat = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT};
  VkPhysicalDeviceCooperativeMatrixFeaturesKHR matrices = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR};

  explicit Features(const Extras &extras) {
    core.pNext = &v11;
    v11.pNext = &v12;
    void **tail = &v12.pNext;
    auto link = [&](auto &structure) {
      *tail = &structure;
      tail = &structure.pNext;
    };
    if (extras.subgroupSize)
      link(subgroupSize);
    if (extras.maintenance4)
      link(maintenance4);
    if (extras.atomicFloat)
      link(atomicFloat);
    if (extras.matrices)
      link(matrices);
  }
  Features(const Features &) = delete;
};

struct Properties {
  VkPhysicalDeviceProperties2 core = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  VkPhysicalDeviceVulkan11Properties v11 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES};
  VkPhysicalDeviceVulkan12Properties v12 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES};
  VkPhysicalDeviceSubgroupSizeControlProperties subgroupSize = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES};
  VkPhysicalDeviceMaintenance4Properties maintenance4 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES};

  Properties(Instance &instance, VkPhysicalDevice physical, const Extras &extras) {
    core.pNext = &v11;
    v11.pNext = &v12;
    if (extras.subgroupSize)
      v12.pNext = &subgroupSize;
    if (extras.maintenance4)
      (extras.subgroupSize ? subgroupSize.pNext : v12.pNext) = &maintenance4;
    instance.GetPhysicalDeviceProperties2(physical, &core);
  }
  Properties(const Properties &) = delete;
};

uint32_t featureBits(const Features &has, const Properties &p, bool discrete) {
  const auto &v12 = p.v12;
  auto subgroup = [&](VkSubgroupFeatureFlags operations) {
    return (p.v11.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) &&
           (p.v11.subgroupSupportedOperations & operations) == operations;
  };
  const struct {
    uint32_t bit;
    bool there;
  } all[] = {
      {XT_DEVICE_F64, has.core.features.shaderFloat64 != 0},
      {XT_DEVICE_I64, has.core.features.shaderInt64 != 0},
      {XT_DEVICE_F16, has.v12.shaderFloat16 != 0},
      {XT_DEVICE_I16, has.core.features.shaderInt16 != 0},
      {XT_DEVICE_I8, has.v12.shaderInt8 != 0},
      {XT_DEVICE_STORAGE_16, has.v11.storageBuffer16BitAccess != 0},
      {XT_DEVICE_STORAGE_8, has.v12.storageBuffer8BitAccess != 0},
      {XT_DEVICE_ATOMIC_ADD_F32, has.atomicFloat.shaderBufferFloat32AtomicAdd != 0},
      {XT_DEVICE_ATOMIC_ADD_F64, has.atomicFloat.shaderBufferFloat64AtomicAdd != 0},
      {XT_DEVICE_ATOMIC_I64, has.v12.shaderBufferInt64Atomics != 0},
      {XT_DEVICE_SUBGROUP_ARITHMETIC,
       subgroup(VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT)},
      {XT_DEVICE_SUBGROUP_SHUFFLE,
       subgroup(VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT)},
      {XT_DEVICE_SUBGROUP_ALL_TYPES, has.v12.shaderSubgroupExtendedTypes != 0},
      {XT_DEVICE_UNIFIED_MEMORY, !discrete},
      {XT_DEVICE_EXACT_SPECIALS_F16, v12.shaderSignedZeroInfNanPreserveFloat16 != 0},
      {XT_DEVICE_EXACT_SPECIALS_F32, v12.shaderSignedZeroInfNanPreserveFloat32 != 0},
      {XT_DEVICE_EXACT_SPECIALS_F64, v12.shaderSignedZeroInfNanPreserveFloat64 != 0},
      {XT_DEVICE_SUBNORMALS_F16, v12.shaderDenormPreserveFloat16 != 0},
      {XT_DEVICE_SUBNORMALS_F32, v12.shaderDenormPreserveFloat32 != 0},
      {XT_DEVICE_SUBNORMALS_F64, v12.shaderDenormPreserveFloat64 != 0},
  };
  uint32_t bits = 0;
  for (const auto &feature : all)
    bits |= feature.there ? feature.bit : 0;
  return bits;
}

/// What is enabled of what is there: no more, as some features (robust access) cost time.
void choose(Features &enabled, const Features &has) {
#define XT_ENABLE(member) enabled.member = has.member
  XT_ENABLE(core.features.shaderFloat64);
  XT_ENABLE(core.features.shaderInt64);
  XT_ENABLE(core.features.shaderInt16);
  XT_ENABLE(v11.storageBuffer16BitAccess);
  XT_ENABLE(v11.variablePointersStorageBuffer);
  XT_ENABLE(v11.variablePointers);
  XT_ENABLE(v12.storageBuffer8BitAccess);
  XT_ENABLE(v12.shaderBufferInt64Atomics);
  XT_ENABLE(v12.shaderSharedInt64Atomics);
  XT_ENABLE(v12.shaderFloat16);
  XT_ENABLE(v12.shaderInt8);
  XT_ENABLE(v12.scalarBlockLayout);
  XT_ENABLE(v12.shaderSubgroupExtendedTypes);
  XT_ENABLE(v12.timelineSemaphore);
  XT_ENABLE(v12.vulkanMemoryModel);
  XT_ENABLE(v12.vulkanMemoryModelDeviceScope);
  XT_ENABLE(subgroupSize.subgroupSizeControl);
  XT_ENABLE(subgroupSize.computeFullSubgroups);
  XT_ENABLE(maintenance4.maintenance4);
  XT_ENABLE(atomicFloat.shaderBufferFloat32Atomics);
  XT_ENABLE(atomicFloat.shaderBufferFloat32AtomicAdd);
  XT_ENABLE(atomicFloat.shaderBufferFloat64Atomics);
  XT_ENABLE(atomicFloat.shaderBufferFloat64AtomicAdd);
  XT_ENABLE(atomicFloat.shaderSharedFloat32Atomics);
  XT_ENABLE(atomicFloat.shaderSharedFloat32AtomicAdd);
  XT_ENABLE(matrices.cooperativeMatrix);
#undef XT_ENABLE
}

/// For tests: a driver that has everything stands for one that lacks what $XTENSOR_DEVICE_WITHOUT
/// lists, by the words of a profile ("i64,shuffle").
bool leftOut(const char *word) {
  const char *text = getenv("XTENSOR_DEVICE_WITHOUT");
  std::string list = std::string(",") + (text ? text : "") + ",";
  return list.find(std::string(",") + word + ",") != std::string::npos;
}

/// What is to be enabled is not, so validation sees its use.
void leaveOut(Features &has) {
  const struct {
    const char *word;
    VkBool32 *feature;
  } all[] = {{"f64", &has.core.features.shaderFloat64},
             {"i64", &has.core.features.shaderInt64},
             {"f16", &has.v12.shaderFloat16},
             {"i16", &has.core.features.shaderInt16},
             {"i8", &has.v12.shaderInt8},
             {"s16", &has.v11.storageBuffer16BitAccess},
             {"s8", &has.v12.storageBuffer8BitAccess},
             {"atomic_f32", &has.atomicFloat.shaderBufferFloat32AtomicAdd},
             {"atomic_f64", &has.atomicFloat.shaderBufferFloat64AtomicAdd},
             {"atomic_i64", &has.v12.shaderBufferInt64Atomics},
             {"unit_m", &has.matrices.cooperativeMatrix}};
  for (const auto &one : all)
    if (leftOut(one.word))
      *one.feature = VK_FALSE;
}

/// What is there without being enabled.
uint32_t leaveOut(uint32_t features) {
  const struct {
    const char *word;
    uint32_t bits;
  } all[] = {{"shuffle", XT_DEVICE_SUBGROUP_SHUFFLE},
             {"subgroup", XT_DEVICE_SUBGROUP_ARITHMETIC | XT_DEVICE_SUBGROUP_SHUFFLE},
             {"specials16", XT_DEVICE_EXACT_SPECIALS_F16},
             {"specials32", XT_DEVICE_EXACT_SPECIALS_F32},
             {"specials64", XT_DEVICE_EXACT_SPECIALS_F64},
             {"subnormals16", XT_DEVICE_SUBNORMALS_F16},
             {"subnormals32", XT_DEVICE_SUBNORMALS_F32},
             {"subnormals64", XT_DEVICE_SUBNORMALS_F64}};
  for (const auto &one : all)
    if (leftOut(one.word))
      features &= ~one.bits;
  return features;
}

void describe(const Properties &p, const VkPhysicalDeviceMemoryProperties &memory,
              xt_device_info &info, Limits &limits) {
  const VkPhysicalDeviceProperties &core = p.core.properties;
  const VkPhysicalDeviceLimits &has = core.limits;
  limits.name = core.deviceName;
  limits.driver = std::string(p.v12.driverName) + " " + p.v12.driverInfo;
  limits.discrete = core.deviceType == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU ||
                    core.deviceType == VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU;
  // For tests: a driver on the CPU takes the way of a card with memory of its own.
  if (const char *text = getenv("XTENSOR_DEVICE_STAGING"))
    limits.discrete = *text && *text != '0';
  limits.storageAlignment = has.minStorageBufferOffsetAlignment;
  limits.storageRange = has.maxStorageBufferRange;
  limits.allocation = p.v11.maxMemoryAllocationSize;
  if (p.maintenance4.maxBufferSize)
    limits.allocation = std::min<size_t>(limits.allocation, p.maintenance4.maxBufferSize);
  limits.spirvVersion = core.apiVersion >= VK_API_VERSION_1_3 ? 0x10600 : 0x10500;
  memcpy(limits.deviceId, p.v11.deviceUUID, VK_UUID_SIZE);
  memcpy(limits.driverId, p.v11.driverUUID, VK_UUID_SIZE);
  memcpy(limits.cacheId, core.pipelineCacheUUID, VK_UUID_SIZE);
  limits.vendor = core.vendorID;
  limits.product = core.deviceID;
  limits.driverVersion = core.driverVersion;

  info.backend = "vulkan";
  info.vendor = vendorOf(core);
  info.subgroup_size = static_cast<int32_t>(p.v11.subgroupSize);
  info.max_buffer_bytes =
      static_cast<int64_t>(std::min(limits.storageRange, limits.allocation) & ~3ull); // whole words
  info.workgroup_bytes = has.maxComputeSharedMemorySize;
  info.max_workgroup_threads = has.maxComputeWorkGroupInvocations;
  for (int i = 0; i < 3; ++i) {
    info.max_groups[i] = has.maxComputeWorkGroupCount[i];
    info.max_group_size[i] = static_cast<int32_t>(has.maxComputeWorkGroupSize[i]);
  }
  info.max_kernel_buffers = static_cast<int32_t>(std::min<uint32_t>(
      {has.maxPerStageDescriptorStorageBuffers, has.maxDescriptorSetStorageBuffers, 64}));
  info.max_kernel_numbers = static_cast<int32_t>(has.maxPushConstantsSize / 4);
  for (uint32_t i = 0; i < memory.memoryHeapCount; ++i)
    if (memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)
      info.memory_bytes =
          std::max(info.memory_bytes, static_cast<int64_t>(memory.memoryHeaps[i].size));
}

std::vector<VkExtensionProperties> extensionsOf(Instance &instance, VkPhysicalDevice physical) {
  uint32_t count = 0;
  instance.EnumerateDeviceExtensionProperties(physical, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> extensions(count);
  instance.EnumerateDeviceExtensionProperties(physical, nullptr, &count, extensions.data());
  return extensions;
}

/// The largest product of float16 with float16 that a subgroup sums in float32.
void findUnit(Instance &instance, VkPhysicalDevice physical, xt_device_info &info) {
  auto ask = instance.GetPhysicalDeviceCooperativeMatrixPropertiesKHR;
  uint32_t count = 0;
  if (!ask || ask(physical, &count, nullptr) != VK_SUCCESS)
    return;
  VkCooperativeMatrixPropertiesKHR none = {VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR};
  std::vector<VkCooperativeMatrixPropertiesKHR> all(count, none);
  ask(physical, &count, all.data());
  all.resize(count);
  uint64_t most = 0;
  for (const VkCooperativeMatrixPropertiesKHR &one : all) {
    const uint64_t size = uint64_t(one.MSize) * one.NSize * one.KSize;
    if (one.AType != VK_COMPONENT_TYPE_FLOAT16_KHR || one.BType != one.AType ||
        one.CType != VK_COMPONENT_TYPE_FLOAT32_KHR || one.ResultType != one.CType ||
        one.scope != VK_SCOPE_SUBGROUP_KHR || size <= most)
      continue;
    most = size;
    info.unit[0] = static_cast<int32_t>(one.MSize);
    info.unit[1] = static_cast<int32_t>(one.NSize);
    info.unit[2] = static_cast<int32_t>(one.KSize);
  }
}

bool computeFamily(Instance &instance, VkPhysicalDevice physical, uint32_t &family) {
  uint32_t count = 0;
  instance.GetPhysicalDeviceQueueFamilyProperties(physical, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  instance.GetPhysicalDeviceQueueFamilyProperties(physical, &count, families.data());
  for (family = 0; family < count; ++family)
    if (families[family].queueFlags & VK_QUEUE_COMPUTE_BIT)
      return true;
  return false;
}

} // namespace

std::vector<VkPhysicalDevice> vulkan::physicalDevices(Instance &instance) {
  uint32_t count = 0;
  instance.EnumeratePhysicalDevices(instance.handle, &count, nullptr);
  std::vector<VkPhysicalDevice> all(count), usable;
  instance.EnumeratePhysicalDevices(instance.handle, &count, all.data());
  all.resize(count);
  std::vector<int> ranks;
  std::string refused;
  for (VkPhysicalDevice physical : all) {
    VkPhysicalDeviceProperties2 properties = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    instance.GetPhysicalDeviceProperties2(physical, &properties);
    uint32_t version = properties.properties.apiVersion, family;
    if (version < VK_API_VERSION_1_2 || !computeFamily(instance, physical, family)) {
      refused += std::string(refused.empty() ? " (" : ", ") + properties.properties.deviceName +
                 " offers Vulkan " + std::to_string(VK_API_VERSION_MAJOR(version)) + "." +
                 std::to_string(VK_API_VERSION_MINOR(version));
      continue;
    }
    int place = rank(properties.properties.deviceType);
    auto at = std::upper_bound(ranks.begin(), ranks.end(), place);
    usable.insert(usable.begin() + (at - ranks.begin()), physical);
    ranks.insert(at, place);
  }
  if (usable.empty())
    fail("no device with compute queues and Vulkan 1.2 was found%s%s; Debian's "
         "mesa-vulkan-drivers has one that needs no GPU",
         refused.c_str(), refused.empty() ? "" : ")");
  return usable;
}

VkDevice vulkan::makeDevice(Instance &instance, VkPhysicalDevice physical, xt_device_info &info,
                            Limits &limits, uint32_t &family) {
  std::vector<VkExtensionProperties> extensions = extensionsOf(instance, physical);
  auto has = [&](const char *name) {
    return std::any_of(extensions.begin(), extensions.end(), [&](const VkExtensionProperties &e) {
      return !strcmp(e.extensionName, name);
    });
  };
  VkPhysicalDeviceProperties2 first = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  instance.GetPhysicalDeviceProperties2(physical, &first);
  bool v13 = first.properties.apiVersion >= VK_API_VERSION_1_3;
  std::vector<const char *> names;
  auto enable = [&](const char *name, bool core) {
    if (!core && has(name))
      names.push_back(name);
    return core || has(name);
  };
  Extras extras = {enable(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME, v13),
                   enable(VK_KHR_MAINTENANCE_4_EXTENSION_NAME, v13),
                   enable(VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME, false),
                   enable(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME, false)};
  const char *subset = "VK_KHR_portability_subset"; // must be enabled where it is there
  if (has(subset))
    names.push_back(subset);

  Features there(extras), enabled(extras);
  instance.GetPhysicalDeviceFeatures2(physical, &there.core);
  leaveOut(there);
  choose(enabled, there);
  Properties properties(instance, physical, extras);
  VkPhysicalDeviceMemoryProperties memory;
  instance.GetPhysicalDeviceMemoryProperties(physical, &memory);
  describe(properties, memory, info, limits);
  info.features = leaveOut(featureBits(enabled, properties, limits.discrete));
  const auto &sizes = properties.subgroupSize;
  limits.fixedSubgroups = enabled.subgroupSize.subgroupSizeControl &&
                          (sizes.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT);
  limits.fullSubgroups = enabled.subgroupSize.computeFullSubgroups;
  // Who exchanges values between the threads of a subgroup has to know how many there are.
  if (!limits.fixedSubgroups)
    info.features &= ~static_cast<uint32_t>(XT_DEVICE_SUBGROUP_SHUFFLE);
  // Shaders that multiply matrices are SPIR-V 1.6, in Vulkan's memory model, of whole subgroups.
  if (enabled.matrices.cooperativeMatrix && enabled.v12.vulkanMemoryModel &&
      limits.spirvVersion >= 0x10600 && limits.fixedSubgroups && limits.fullSubgroups)
    findUnit(instance, physical, info);
  if (!there.v12.timelineSemaphore) {
    fail("%s has no timeline semaphores, which this runtime needs", limits.name.c_str());
    return VK_NULL_HANDLE;
  }

  computeFamily(instance, physical, family);
  float priority = 1;
  VkDeviceQueueCreateInfo queue = {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queue.queueFamilyIndex = family;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  VkDeviceCreateInfo create = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  create.pNext = &enabled.core;
  create.queueCreateInfoCount = 1;
  create.pQueueCreateInfos = &queue;
  create.enabledExtensionCount = static_cast<uint32_t>(names.size());
  create.ppEnabledExtensionNames = names.data();
  VkDevice device = VK_NULL_HANDLE;
  VkResult result = instance.CreateDevice(physical, &create, nullptr, &device);
  if (result != VK_SUCCESS)
    fail("%s cannot be opened: %s", limits.name.c_str(), nameOf(result));
  return device;
}
