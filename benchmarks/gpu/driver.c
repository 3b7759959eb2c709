/* What a dispatch costs in the driver: a plain Vulkan host, with nothing of the runtime's in
 * between. Commands are recorded once and sent again, and a fence is waited for: no dispatch, one,
 * five with a barrier between neighbours, five without. launches.sh builds and runs it. */
#include <vulkan/vulkan.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 64, BYTES = 1 << 20, TIMES = 2000 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e6 * t.tv_sec + 1e-3 * t.tv_nsec;
}

static void need(VkResult result, const char *what) {
  if (result == VK_SUCCESS)
    return;
  fprintf(stderr, "%s: %d\n", what, result);
  exit(1);
}

static int order(const void *a, const void *b) {
  double d = *(const double *)a - *(const double *)b;
  return (d > 0) - (d < 0);
}

static VkDevice device;
static uint32_t family; /* of queues that compute */
static VkQueue queue;
static VkPipeline pipeline;
static VkPipelineLayout layout;
static VkDescriptorSet sets[2]; /* from one buffer to the other, and back */

static void open_device(void) {
  VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                   .apiVersion = VK_API_VERSION_1_2};
  VkInstanceCreateInfo make = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                               .pApplicationInfo = &application};
  VkInstance instance;
  need(vkCreateInstance(&make, NULL, &instance), "instance");
  uint32_t one = 1;
  VkPhysicalDevice physical;
  VkResult found = vkEnumeratePhysicalDevices(instance, &one, &physical);
  need(one ? VK_SUCCESS : found, "devices");
  VkPhysicalDeviceProperties properties;
  vkGetPhysicalDeviceProperties(physical, &properties);
  printf("%s, plain Vulkan\n", properties.deviceName);
  VkQueueFamilyProperties families[16];
  uint32_t count = 16;
  vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
  while (family + 1 < count && !(families[family].queueFlags & VK_QUEUE_COMPUTE_BIT))
    ++family;
  float priority = 1;
  VkDeviceQueueCreateInfo queues = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                    .queueFamilyIndex = family,
                                    .queueCount = 1,
                                    .pQueuePriorities = &priority};
  VkDeviceCreateInfo create = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queues};
  need(vkCreateDevice(physical, &create, NULL, &device), "device");
  vkGetDeviceQueue(device, family, 0, &queue);
}

static VkBuffer make_buffer(void) {
  VkBufferCreateInfo create = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .size = BYTES,
                               .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
  VkBuffer buffer;
  need(vkCreateBuffer(device, &create, NULL, &buffer), "buffer");
  VkMemoryRequirements wants;
  vkGetBufferMemoryRequirements(device, buffer, &wants);
  VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                   .allocationSize = wants.size};
  while (!(wants.memoryTypeBits >> allocate.memoryTypeIndex & 1))
    ++allocate.memoryTypeIndex;
  VkDeviceMemory memory;
  need(vkAllocateMemory(device, &allocate, NULL, &memory), "memory");
  need(vkBindBufferMemory(device, buffer, memory, 0), "memory of a buffer");
  return buffer;
}

static void make_pipeline(const uint32_t *code, size_t bytes) {
  VkDescriptorSetLayoutBinding bindings[2] = {0};
  for (uint32_t i = 0; i < 2; ++i)
    bindings[i] =
        (VkDescriptorSetLayoutBinding){.binding = i,
                                       .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                       .descriptorCount = 1,
                                       .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
  VkDescriptorSetLayoutCreateInfo bound = {.sType =
                                               VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                           .bindingCount = 2,
                                           .pBindings = bindings};
  VkDescriptorSetLayout set;
  need(vkCreateDescriptorSetLayout(device, &bound, NULL, &set), "layout");
  VkPushConstantRange numbers = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 4};
  VkPipelineLayoutCreateInfo laid = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                     .setLayoutCount = 1,
                                     .pSetLayouts = &set,
                                     .pushConstantRangeCount = 1,
                                     .pPushConstantRanges = &numbers};
  need(vkCreatePipelineLayout(device, &laid, NULL, &layout), "layout");
  VkShaderModuleCreateInfo shader = {
      .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = bytes, .pCode = code};
  VkComputePipelineCreateInfo create = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  create.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  create.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  create.stage.pName = "main";
  create.layout = layout;
  need(vkCreateShaderModule(device, &shader, NULL, &create.stage.module), "shader");
  need(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &create, NULL, &pipeline), "pipeline");

  VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 4};
  VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                     .maxSets = 2,
                                     .poolSizeCount = 1,
                                     .pPoolSizes = &size};
  VkDescriptorPool from;
  need(vkCreateDescriptorPool(device, &pool, NULL, &from), "descriptors");
  VkBuffer buffers[2] = {make_buffer(), make_buffer()};
  for (int i = 0; i < 2; ++i) {
    VkDescriptorSetAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                            .descriptorPool = from,
                                            .descriptorSetCount = 1,
                                            .pSetLayouts = &set};
    need(vkAllocateDescriptorSets(device, &allocate, &sets[i]), "descriptors");
    for (uint32_t j = 0; j < 2; ++j) {
      VkDescriptorBufferInfo info = {buffers[(uint32_t)i ^ j], 0, VK_WHOLE_SIZE};
      VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                    .dstSet = sets[i],
                                    .dstBinding = j,
                                    .descriptorCount = 1,
                                    .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                    .pBufferInfo = &info};
      vkUpdateDescriptorSets(device, 1, &write, 0, NULL);
    }
  }
}

static void record(VkCommandBuffer commands, uint32_t groups, int dispatches, int barriers) {
  VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  need(vkBeginCommandBuffer(commands, &begin), "recording");
  uint32_t elements = groups * THREADS;
  vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
  vkCmdPushConstants(commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 4, &elements);
  for (int i = 0; i < dispatches; ++i) {
    VkMemoryBarrier memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                              .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                              .dstAccessMask =
                                  VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT};
    if (barriers && i)
      vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                           VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &memory, 0, NULL, 0, NULL);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &sets[i & 1], 0,
                            NULL);
    vkCmdDispatch(commands, groups, 1, 1);
  }
  need(vkEndCommandBuffer(commands), "recording");
}

/* Microseconds until a fence tells that it is done: the median. */
static double time_of(VkCommandBuffer commands, VkFence fence) {
  static double times[TIMES];
  VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .commandBufferCount = 1,
                         .pCommandBuffers = &commands};
  for (int i = -50; i < TIMES; ++i) {
    double start = now();
    need(vkQueueSubmit(queue, 1, &submit, fence), "sending work");
    need(vkWaitForFences(device, 1, &fence, VK_TRUE, UINT64_MAX), "waiting");
    if (i >= 0)
      times[i] = now() - start;
    need(vkResetFences(device, 1, &fence), "a fence");
  }
  qsort(times, TIMES, sizeof *times, order);
  return times[TIMES / 2];
}

int main(int count, char **arguments) {
  static uint32_t code[1 << 14];
  FILE *file = count == 2 ? fopen(arguments[1], "rb") : NULL;
  if (!file) {
    fprintf(stderr, "driver add.spv\n");
    return 1;
  }
  size_t bytes = fread(code, 1, sizeof code, file);
  open_device();
  make_pipeline(code, bytes);
  VkFence fence;
  VkFenceCreateInfo unsignaled = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  need(vkCreateFence(device, &unsignaled, NULL, &fence), "a fence");
  VkCommandPool pool;
  VkCommandPoolCreateInfo make = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                  .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                  .queueFamilyIndex = family};
  need(vkCreateCommandPool(device, &make, NULL, &pool), "commands");
  VkCommandBuffer commands;
  VkCommandBufferAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                          .commandPool = pool,
                                          .commandBufferCount = 1};
  need(vkAllocateCommandBuffers(device, &allocate, &commands), "commands");
  const uint32_t groups[] = {1, 16, 260};
  for (int i = 0; i < 3; ++i) {
    const int kinds[4][2] = {{0, 0}, {1, 0}, {5, 1}, {5, 0}};
    double times[4];
    for (int kind = 0; kind < 4; ++kind) {
      record(commands, groups[i], kinds[kind][0], kinds[kind][1]);
      times[kind] = time_of(commands, fence);
    }
    printf("%4u workgroups: nothing %6.1f us, one %6.1f us, five in a chain %6.1f us (%.1f times "
           "one), "
           "side by side %6.1f us\n",
           groups[i], times[0], times[1], times[2], times[2] / times[1], times[3]);
  }
  return 0;
}
