// The compiled form of a kernel that the driver made, on disk.
#pragma once

#include "Queue.h"

namespace xtensor::vulkan {

/// One kernel's file under $XTENSOR_CACHE_DIR (or ~/.cache/xtensor; empty: nowhere), named by the
/// hash of its SPIR-V, the device and the driver.
class PipelineFile {
public:
  PipelineFile(Context &context, const xt_kernel &kernel);
  ~PipelineFile();

  VkPipelineCache cache() const { return handle; }
  /// Whether it was there, and whole.
  bool found() const { return loaded; }
  /// Keeps what the driver put into the cache, if it was not there. A failure costs time only.
  void write();

private:
  Context &context;
  std::string folder, path;
  VkPipelineCache handle = VK_NULL_HANDLE;
  bool loaded = false;
};

} // namespace xtensor::vulkan
