// Kernels, prepared for a device: pipelines and the layouts that they share.
#pragma once

#include "Queue.h"

#include "../Backend.h"

#include <map>
#include <memory>

namespace xtensor::vulkan {

/// What kernels with the same number of buffers and numbers share.
struct Layout {
  VkDescriptorSetLayout set = VK_NULL_HANDLE;
  VkPipelineLayout pipeline = VK_NULL_HANDLE;
};

/// A kernel on one device.
struct Pipeline : Made {
  VkPipeline handle = VK_NULL_HANDLE;
  const Layout *layout = nullptr;
  ~Pipeline() override;
};

class Kernels {
public:
  explicit Kernels(Context &context, const xt_device_info &info) : context(context), info(info) {}

  /// Null, with xt_device_error set, if it cannot run here.
  std::unique_ptr<Pipeline> make(const xt_kernel &kernel);

  int64_t made = 0, cached = 0;

private:
  bool check(const xt_kernel &kernel);
  const Layout *layoutFor(int32_t buffers, int32_t numbers);

  Context &context;
  const xt_device_info &info;
  std::map<std::pair<int32_t, int32_t>, Layout> layouts;
};

} // namespace xtensor::vulkan
