// Loads libvulkan and creates the instance, with the validation layers if they are requested.
#include "Api.h"

#include "../Backend.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <memory>
#include <string>

using namespace xtensor;
using namespace xtensor::vulkan;

namespace {

#if defined(__APPLE__)
const char *const kLibraries[] = {"libvulkan.1.dylib", "libvulkan.dylib", "libMoltenVK.dylib"};
#else
const char *const kLibraries[] = {"libvulkan.so.1", "libvulkan.so"};
#endif

VKAPI_ATTR VkBool32 VKAPI_CALL complain(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                        VkDebugUtilsMessageTypeFlagsEXT,
                                        const VkDebugUtilsMessengerCallbackDataEXT *data,
                                        void *instance) {
  static_cast<Instance *>(instance)->messages.fetch_add(1, std::memory_order_relaxed);
  fprintf(stderr, "vulkan: %s\n", data->pMessage);
  return VK_FALSE;
}

PFN_vkGetInstanceProcAddr loader() {
  std::string tried;
  void *library = nullptr;
  if (const char *given = getenv("XTENSOR_VULKAN_LIBRARY")) {
    library = dlopen(given, RTLD_NOW | RTLD_LOCAL);
    tried = given;
  } else {
    for (const char *name : kLibraries)
      if (!library)
        library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    tried = kLibraries[0];
  }
  if (!library) {
    fail("no Vulkan: the loader %s was not found (Debian: libvulkan1, with mesa-vulkan-drivers for "
         "a driver); programs run with device=\"cpu\"",
         tried.c_str());
    return nullptr;
  }
  auto found = reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library, "vkGetInstanceProcAddr"));
  if (!found)
    fail("no Vulkan: %s is not a Vulkan loader", tried.c_str());
  return found;
}

bool hasLayer(const Instance &made, const char *name) {
  uint32_t count = 0;
  made.EnumerateInstanceLayerProperties(&count, nullptr);
  std::vector<VkLayerProperties> layers(count);
  made.EnumerateInstanceLayerProperties(&count, layers.data());
  for (const VkLayerProperties &layer : layers)
    if (!strcmp(layer.layerName, name))
      return true;
  return false;
}

bool hasExtension(const Instance &made, const char *name, const char *layer = nullptr) {
  uint32_t count = 0;
  made.EnumerateInstanceExtensionProperties(layer, &count, nullptr);
  std::vector<VkExtensionProperties> extensions(count);
  made.EnumerateInstanceExtensionProperties(layer, &count, extensions.data());
  for (const VkExtensionProperties &extension : extensions)
    if (!strcmp(extension.extensionName, name))
      return true;
  return false;
}

std::unique_ptr<Instance> make() {
  auto made = std::make_unique<Instance>();
  made->GetInstanceProcAddr = loader();
  if (!made->GetInstanceProcAddr)
    return nullptr;
#define XT_LOAD(name)                                                                              \
  made->name = reinterpret_cast<PFN_vk##name>(made->GetInstanceProcAddr(nullptr, "vk" #name));
  XT_VULKAN_GLOBAL(XT_LOAD)
#undef XT_LOAD
  uint32_t version = VK_API_VERSION_1_0;
  if (made->EnumerateInstanceVersion)
    made->EnumerateInstanceVersion(&version);
  if (version < VK_API_VERSION_1_2) {
    fail("the Vulkan loader is of version %u.%u; 1.2 is needed", VK_API_VERSION_MAJOR(version),
         VK_API_VERSION_MINOR(version));
    return nullptr;
  }

  VkApplicationInfo application = {VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.pApplicationName = application.pEngineName = "xtensor";
  application.apiVersion = VK_API_VERSION_1_3;
  VkInstanceCreateInfo create = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  create.pApplicationInfo = &application;
  std::vector<const char *> layers, extensions;
  if (hasExtension(*made, VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME)) {
    extensions.push_back(VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME);
    create.flags |= VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
  }

  const char *layer = "VK_LAYER_KHRONOS_validation";
  VkDebugUtilsMessengerCreateInfoEXT messenger = {
      VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT};
  messenger.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                              VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  messenger.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                          VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
  messenger.pfnUserCallback = complain;
  messenger.pUserData = made.get();
  // Hazards between commands are looked for as well: barriers are ours to get right.
  VkValidationFeatureEnableEXT synchronization =
      VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
  VkValidationFeaturesEXT features = {VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT};
  features.pEnabledValidationFeatures = &synchronization;
  features.enabledValidationFeatureCount = 1;
  features.pNext = &messenger;
  const char *asked = getenv("XTENSOR_VALIDATE");
  bool validate = asked && *asked && strcmp(asked, "0") != 0;
  if (validate && !hasLayer(*made, layer)) {
    fail("XTENSOR_VALIDATE is set, and %s is not there (Debian: vulkan-validationlayers)", layer);
    return nullptr;
  }
  if (validate) {
    layers.push_back(layer);
    extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
    create.pNext = &messenger;
    if (hasExtension(*made, VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME, layer)) {
      extensions.push_back(VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME);
      create.pNext = &features;
    }
  }
  create.enabledLayerCount = static_cast<uint32_t>(layers.size());
  create.ppEnabledLayerNames = layers.data();
  create.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  create.ppEnabledExtensionNames = extensions.data();
  VkResult result = made->CreateInstance(&create, nullptr, &made->handle);
  if (result != VK_SUCCESS) {
    // The loader says no more of files that are not there, or that it cannot read.
    const char *named = nullptr;
    for (const char *variable : {"VK_DRIVER_FILES", "VK_ICD_FILENAMES"})
      if (const char *files = getenv(variable); files && *files && !named)
        named = variable;
    if (named)
      fail("no Vulkan driver starts (%s): $%s says where they are, and their files must be there "
           "and "
           "whole; programs run with device=\"cpu\"",
           nameOf(result), named);
    else
      fail(
          result == VK_ERROR_INCOMPATIBLE_DRIVER
              ? "no Vulkan driver was found (%s; Debian: mesa-vulkan-drivers has one that needs no "
                "GPU); programs run with device=\"cpu\""
              : "Vulkan does not start: %s",
          nameOf(result));
    return nullptr;
  }
#define XT_LOAD(name)                                                                              \
  made->name = reinterpret_cast<PFN_vk##name>(made->GetInstanceProcAddr(made->handle, "v"          \
                                                                                      "k" #name));
  XT_VULKAN_INSTANCE(XT_LOAD)
#undef XT_LOAD
  if (validate) {
    auto createMessenger = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(
        made->GetInstanceProcAddr(made->handle, "vkCreateDebugUtilsMessengerEXT"));
    VkDebugUtilsMessengerEXT never;
    createMessenger(made->handle, &messenger, nullptr, &never);
  }
  return made;
}

} // namespace

Instance *vulkan::instance() {
  static Instance *made = nullptr; // guarded by the table of devices
  if (!made)
    made = make().release();
  return made;
}

bool vulkan::loadFunctions(Functions &functions, const Instance &instance, VkDevice device) {
#define XT_LOAD(name)                                                                              \
  functions.name = reinterpret_cast<PFN_vk##name>(instance.GetDeviceProcAddr(device, "vk" #name)); \
  if (!functions.name)                                                                             \
    return fail("the Vulkan driver lacks vk" #name) == 0;
  XT_VULKAN_DEVICE(XT_LOAD)
#undef XT_LOAD
  return true;
}

const char *vulkan::nameOf(VkResult result) {
  switch (result) {
#define XT_CASE(name)                                                                              \
  case name:                                                                                       \
    return #name;
    XT_CASE(VK_SUCCESS)
    XT_CASE(VK_NOT_READY)
    XT_CASE(VK_TIMEOUT)
    XT_CASE(VK_INCOMPLETE)
    XT_CASE(VK_ERROR_OUT_OF_HOST_MEMORY)
    XT_CASE(VK_ERROR_OUT_OF_DEVICE_MEMORY)
    XT_CASE(VK_ERROR_INITIALIZATION_FAILED)
    XT_CASE(VK_ERROR_DEVICE_LOST)
    XT_CASE(VK_ERROR_MEMORY_MAP_FAILED)
    XT_CASE(VK_ERROR_LAYER_NOT_PRESENT)
    XT_CASE(VK_ERROR_EXTENSION_NOT_PRESENT)
    XT_CASE(VK_ERROR_FEATURE_NOT_PRESENT)
    XT_CASE(VK_ERROR_INCOMPATIBLE_DRIVER)
    XT_CASE(VK_ERROR_TOO_MANY_OBJECTS)
    XT_CASE(VK_ERROR_FRAGMENTED_POOL)
    XT_CASE(VK_ERROR_OUT_OF_POOL_MEMORY)
    XT_CASE(VK_ERROR_UNKNOWN)
#undef XT_CASE
  default:
    return "an error of the driver's own";
  }
}
