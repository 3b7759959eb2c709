// From SPIR-V to pipelines. A kernel that exceeds a limit of the device is refused with that
// limit, before the driver sees it.
#include "Kernels.h"

#include "PipelineFile.h"

#include <cstring>

using namespace xtensor;
using namespace xtensor::vulkan;

bool Kernels::check(const xt_kernel &kernel) {
  const char *device = context.limits.name.c_str(), *name = kernel.name;
  uint32_t head[2] = {};
  if (kernel.code_bytes >= 20 && kernel.code_bytes % 4 == 0)
    memcpy(head, kernel.code, sizeof head);
  if (head[0] != 0x07230203)
    return fail("%s: the code of kernel %s (%lld bytes) is not SPIR-V", device, name,
                static_cast<long long>(kernel.code_bytes)) == 0;
  if (head[1] > context.limits.spirvVersion)
    return fail("%s: kernel %s is SPIR-V %u.%u, the device takes %u.%u at most", device, name,
                head[1] >> 16, head[1] >> 8 & 255, context.limits.spirvVersion >> 16,
                context.limits.spirvVersion >> 8 & 255) == 0;
  return checkLimits(info, kernel);
}

const Layout *Kernels::layoutFor(int32_t buffers, int32_t numbers) {
  Layout &layout = layouts[{buffers, numbers}];
  if (layout.pipeline)
    return &layout;
  std::vector<VkDescriptorSetLayoutBinding> bindings(buffers);
  for (int32_t i = 0; i < buffers; ++i)
    bindings[i] = {static_cast<uint32_t>(i), VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1,
                   VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
  VkDescriptorSetLayoutCreateInfo set = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  set.bindingCount = static_cast<uint32_t>(buffers);
  set.pBindings = bindings.data();
  if (!layout.set && !context.check(context.vk.CreateDescriptorSetLayout(context.device, &set,
                                                                         nullptr, &layout.set),
                                    "a layout of buffers"))
    return nullptr;
  VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, static_cast<uint32_t>(4 * numbers)};
  VkPipelineLayoutCreateInfo pipeline = {VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  pipeline.setLayoutCount = 1;
  pipeline.pSetLayouts = &layout.set;
  pipeline.pushConstantRangeCount = numbers > 0;
  pipeline.pPushConstantRanges = &range;
  if (!context.check(
          context.vk.CreatePipelineLayout(context.device, &pipeline, nullptr, &layout.pipeline),
          "a layout of numbers"))
    return nullptr;
  return &layout;
}

std::unique_ptr<Pipeline> Kernels::make(const xt_kernel &kernel) {
  auto &vk = context.vk;
  if (!context.usable() || !check(kernel))
    return nullptr;
  const Layout *layout = layoutFor(kernel.buffers, kernel.numbers);
  if (!layout)
    return nullptr;

  // A copy, as constants of a program need not lie at multiples of four.
  std::vector<uint32_t> code(static_cast<size_t>(kernel.code_bytes) / 4);
  memcpy(code.data(), kernel.code, 4 * code.size());
  VkShaderModuleCreateInfo module = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  module.codeSize = 4 * code.size();
  module.pCode = code.data();
  VkComputePipelineCreateInfo create = {VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  create.layout = layout->pipeline;
  create.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
  create.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  create.stage.pName = kernel.name;
  // Compiled code counts on the size of subgroups that xt_device_info tells.
  VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroups = {
      VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO};
  subgroups.requiredSubgroupSize = static_cast<uint32_t>(info.subgroup_size);
  if (context.limits.fixedSubgroups)
    create.stage.pNext = &subgroups;
  if (context.limits.fullSubgroups && kernel.threads[0] % info.subgroup_size == 0)
    create.stage.flags |= VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
  std::string what = std::string("making kernel ") + kernel.name;
  if (!context.check(vk.CreateShaderModule(context.device, &module, nullptr, &create.stage.module),
                     what.c_str()))
    return nullptr;
  auto result = std::make_unique<Pipeline>();
  result->layout = layout;
  PipelineFile file(context, kernel);
  VkResult done =
      vk.CreateComputePipelines(context.device, file.cache(), 1, &create, nullptr, &result->handle);
  vk.DestroyShaderModule(context.device, create.stage.module, nullptr);
  if (!context.check(done, what.c_str()))
    return nullptr;
  file.write();
  ++made;
  cached += file.found();
  return result;
}
