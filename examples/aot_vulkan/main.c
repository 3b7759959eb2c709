/* Runs the kernels of a bundle on a Vulkan device, with nothing but libvulkan.
 *
 *     launch FOLDER vulkan/launches0.json [DIM=SIZE ..] ARGUMENT.bin .. RESULT.bin ..
 *
 * FOLDER holds the members of the bundle (unzip it). One of them is the list of launches of a
 * function (manifest.json tells which): which memory there is, and which kernel is launched when,
 * on what. Sizes that the bundle leaves open are told by name. Each file is an array as it is in
 * memory, row-major. */
#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

static void fail(const char *what, const char *which) {
  fprintf(stderr, "%s%s%s\n", what, which ? ": " : "", which ? which : "");
  exit(1);
}

static void check(VkResult result, const char *what) {
  if (result != VK_SUCCESS) {
    fprintf(stderr, "%s failed: VkResult %d\n", what, result);
    exit(1);
  }
}

/* A file with a zero behind it. */
static char *read_file(const char *folder, const char *name, size_t *bytes) {
  char path[4096];
  snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", name);
  FILE *file = fopen(path, "rb");
  if (!file)
    fail("cannot be read", path);
  fseek(file, 0, SEEK_END);
  *bytes = (size_t)ftell(file);
  rewind(file);
  char *data = malloc(*bytes + 1);
  if (!data || fread(data, 1, *bytes, file) != *bytes)
    fail("cannot be read", path);
  data[*bytes] = 0;
  fclose(file);
  return data;
}

/* -- the device ------------------------------------------------------------------------------- */

static VkPhysicalDevice physical;
static VkDevice device;
static VkQueue queue;
static uint32_t family;
static VkPhysicalDeviceMemoryProperties memories;

static void open_device(const char *profile) {
  VkApplicationInfo application = {VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.apiVersion = VK_API_VERSION_1_2;
  VkInstanceCreateInfo create = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  create.pApplicationInfo = &application;
  VkInstance instance;
  check(vkCreateInstance(&create, NULL, &instance), "vkCreateInstance");
  uint32_t count = 1;
  VkResult found = vkEnumeratePhysicalDevices(instance, &count, &physical);
  if ((found != VK_SUCCESS && found != VK_INCOMPLETE) || !count)
    fail("there is no Vulkan device", NULL);
  vkGetPhysicalDeviceMemoryProperties(physical, &memories);

  VkPhysicalDeviceSubgroupProperties subgroups = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
  VkPhysicalDeviceProperties2 properties = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                            &subgroups};
  vkGetPhysicalDeviceProperties2(physical, &properties);
  const char *wanted = strstr(profile, "subgroup=");
  if (wanted && atoi(wanted + 9) > 1 && (uint32_t)atoi(wanted + 9) != subgroups.subgroupSize)
    fail("the kernels are for subgroups of another size than those of",
         properties.properties.deviceName);

  VkQueueFamilyProperties families[16];
  count = 16;
  vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
  while (family < count && !(families[family].queueFlags & VK_QUEUE_COMPUTE_BIT))
    ++family;
  if (family == count)
    fail("the device does not compute", properties.properties.deviceName);

  /* All that the device has: the profile says what the kernels need of it. */
  VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomics = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT};
  VkPhysicalDeviceVulkan12Features v12 = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  VkPhysicalDeviceVulkan11Features v11 = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES,
                                          &v12};
  VkPhysicalDeviceFeatures2 features = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &v11};
  const char *extension = VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME;
  uint32_t extensions = strstr(profile, "atomic_f32") ? 1 : 0;
  if (extensions)
    v12.pNext = &atomics;
  vkGetPhysicalDeviceFeatures2(physical, &features);
  features.features.robustBufferAccess = VK_FALSE;
  float priority = 1;
  VkDeviceQueueCreateInfo one = {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  one.queueFamilyIndex = family;
  one.queueCount = 1;
  one.pQueuePriorities = &priority;
  VkDeviceCreateInfo info = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &features};
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &one;
  info.enabledExtensionCount = extensions;
  info.ppEnabledExtensionNames = &extension;
  check(vkCreateDevice(physical, &info, NULL, &device), "vkCreateDevice");
  vkGetDeviceQueue(device, family, 0, &queue);
}

/* -- memory ------------------------------------------------------------------------------------ */

typedef struct {
  VkBuffer buffer;
  void *data; /* the CPU sees it, too */
  int64_t bytes;
} Area;

static Area make_area(int64_t bytes) {
  Area area = {VK_NULL_HANDLE, NULL, bytes};
  VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = bytes ? (VkDeviceSize)bytes : 4;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
               VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  check(vkCreateBuffer(device, &info, NULL, &area.buffer), "vkCreateBuffer");
  VkMemoryRequirements needs;
  vkGetBufferMemoryRequirements(device, area.buffer, &needs);
  const VkMemoryPropertyFlags seen =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  uint32_t type = 0;
  while (type < memories.memoryTypeCount &&
         (!(needs.memoryTypeBits >> type & 1) ||
          (memories.memoryTypes[type].propertyFlags & seen) != seen))
    ++type;
  VkMemoryAllocateInfo allocate = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocate.allocationSize = needs.size;
  allocate.memoryTypeIndex = type;
  VkDeviceMemory memory;
  check(vkAllocateMemory(device, &allocate, NULL, &memory), "vkAllocateMemory");
  check(vkBindBufferMemory(device, area.buffer, memory, 0), "vkBindBufferMemory");
  check(vkMapMemory(device, memory, 0, VK_WHOLE_SIZE, 0, &area.data), "vkMapMemory");
  memset(area.data, 0, (size_t)info.size);
  return area;
}

static void fill_area(Area *area, const char *folder, const char *name) {
  size_t bytes;
  char *data = read_file(folder, name, &bytes);
  if ((int64_t)bytes != area->bytes)
    fail("has another number of bytes than the list of launches says", name);
  memcpy(area->data, data, bytes);
  free(data);
}

/* All memory of a program, by what the list of launches calls it. */
typedef struct {
  Area *arguments, *weights, *results, *constants, temporaries, reports;
} Memory;

static Area *areas_of(const Json *list) {
  Area *areas = calloc((size_t)json_count(list) + 1, sizeof *areas);
  if (!areas)
    fail("no memory", NULL);
  for (int64_t i = 0; i < json_count(list); ++i)
    areas[i] = make_area(json_number(json_at(list, i), "bytes"));
  return areas;
}

static const Area *area_of(const Memory *memory, const Json *place) {
  const char *of = json_text(place, "of");
  int64_t number = json_number(place, "number");
  if (!strcmp(of, "argument"))
    return &memory->arguments[number];
  if (!strcmp(of, "weight"))
    return &memory->weights[number];
  if (!strcmp(of, "result"))
    return &memory->results[number];
  if (!strcmp(of, "constant"))
    return &memory->constants[number];
  return !strcmp(of, "temporaries") ? &memory->temporaries : &memory->reports;
}

/* -- kernels ----------------------------------------------------------------------------------- */

typedef struct {
  VkDescriptorSetLayout set;
  VkPipelineLayout layout;
  VkPipeline pipeline;
} Kernel;

/* Buffer i of a kernel is binding i of set 0; its numbers are push constants, 4 bytes each. */
static Kernel make_kernel(const Json *kernel, const char *folder) {
  Kernel made;
  uint32_t buffers = (uint32_t)json_number(kernel, "buffers");
  VkDescriptorSetLayoutBinding *bindings = calloc(buffers + 1, sizeof *bindings);
  for (uint32_t i = 0; bindings && i < buffers; ++i) {
    bindings[i].binding = i;
    bindings[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    bindings[i].descriptorCount = 1;
    bindings[i].stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
  }
  VkDescriptorSetLayoutCreateInfo set = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  set.bindingCount = buffers;
  set.pBindings = bindings;
  check(vkCreateDescriptorSetLayout(device, &set, NULL, &made.set), "vkCreateDescriptorSetLayout");
  free(bindings);
  VkPushConstantRange numbers = {VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                 4 * (uint32_t)json_number(kernel, "numbers")};
  VkPipelineLayoutCreateInfo layout = {VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layout.setLayoutCount = 1;
  layout.pSetLayouts = &made.set;
  layout.pushConstantRangeCount = numbers.size ? 1 : 0;
  layout.pPushConstantRanges = &numbers;
  check(vkCreatePipelineLayout(device, &layout, NULL, &made.layout), "vkCreatePipelineLayout");
  size_t bytes;
  char *code = read_file(folder, json_text(kernel, "file"), &bytes);
  VkShaderModuleCreateInfo module = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  module.codeSize = bytes;
  module.pCode = (const uint32_t *)(void *)code;
  /* SPIR-V 1.6 and Vulkan 1.3 are for kernels that multiply matrices by units of the device
   * (unit_m=): they need VK_KHR_cooperative_matrix, its features and whole subgroups. */
  if (bytes >= 8 && module.pCode[1] > 0x10500)
    fail(
        "this host does not enable cooperative matrices; export for a profile without unit_m=, for",
        json_text(kernel, "entry"));
  VkShaderModule shader;
  check(vkCreateShaderModule(device, &module, NULL, &shader), "vkCreateShaderModule");
  VkComputePipelineCreateInfo pipeline = {VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  pipeline.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  pipeline.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  pipeline.stage.module = shader;
  pipeline.stage.pName = json_text(kernel, "entry");
  pipeline.layout = made.layout;
  check(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &pipeline, NULL, &made.pipeline),
        "vkCreateComputePipelines");
  vkDestroyShaderModule(device, shader, NULL);
  free(code);
  return made;
}

static VkDescriptorSet make_set(VkDescriptorPool pool, const Kernel *kernel, const Memory *memory,
                                const Json *buffers) {
  VkDescriptorSetAllocateInfo info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  info.descriptorPool = pool;
  info.descriptorSetCount = 1;
  info.pSetLayouts = &kernel->set;
  VkDescriptorSet set;
  check(vkAllocateDescriptorSets(device, &info, &set), "vkAllocateDescriptorSets");
  uint32_t i = 0;
  for (const Json *place = buffers->first; place; place = place->next, ++i) {
    int64_t offset = json_number(place, "offset"), bytes = json_number(place, "bytes");
    VkDescriptorBufferInfo buffer = {area_of(memory, place)->buffer, (VkDeviceSize)offset,
                                     bytes ? ((VkDeviceSize)bytes + 3) / 4 * 4 : VK_WHOLE_SIZE};
    if (offset + (int64_t)buffer.range > area_of(memory, place)->bytes)
      buffer.range = VK_WHOLE_SIZE;
    VkWriteDescriptorSet write = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    write.dstSet = set;
    write.dstBinding = i;
    write.descriptorCount = 1;
    write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    write.pBufferInfo = &buffer;
    vkUpdateDescriptorSets(device, 1, &write, 0, NULL);
  }
  return set;
}

/* -- open sizes -------------------------------------------------------------------------------- */

static int64_t compute(const char *operation, int64_t a, int64_t b, int64_t c) {
  switch (*operation) {
  case '+':
    return a + b;
  case '-':
    return a - b;
  case '*':
    return a * b;
  case '/':
    return a / b;
  case '%':
    return a % b;
  case '<':
    return a < b;
  case '=':
    return a == b;
  case '?':
    return a ? b : c;
  case 'f': { /* f32: the bits of a float */
    float real = (float)a;
    int32_t bits;
    memcpy(&bits, &real, sizeof bits);
    return bits;
  }
  }
  return !strcmp(operation, "min") ? (a < b ? a : b) : (a > b ? a : b);
}

/* Numbers that depend on open sizes: those sizes, then what follows from them, one by one. */
static void fill_in_sizes(Json *launches, char **words) {
  const Json *open = json_get(launches, "open"), *made = json_get(launches, "values");
  int64_t count = json_count(open), i = 0;
  int64_t *values = calloc((size_t)(count + json_count(made)) + 1, sizeof *values);
  if (!values)
    fail("no memory", NULL);
  for (const Json *name = open->first; name; name = name->next, ++i) {
    size_t length = strlen(name->text);
    int64_t k = 0;
    while (k < count && (strncmp(words[k], name->text, length) || words[k][length] != '='))
      ++k;
    char *end = NULL;
    values[i] = k < count ? strtoll(words[k] + length + 1, &end, 10) : -1;
    if (values[i] < 0 || *end)
      fail("this size is open; write it before the files, as DIM=SIZE", name->text);
  }
  for (Json *value = made->first; value; value = value->next, ++i) {
    json_resolve(value, values);
    int64_t operands[3] = {0};
    for (int64_t k = 1; k < json_count(value) && k <= 3; ++k)
      operands[k - 1] = json_at(value, k)->number;
    values[i] = compute(value->first->text, operands[0], operands[1], operands[2]);
  }
  json_resolve(launches, values);
  free(values);
}

/* -- the program ------------------------------------------------------------------------------- */

static void record_steps(VkCommandBuffer commands, const Json *launches, const Kernel *kernels,
                         const Memory *memory) {
  const Json *steps = json_get(launches, "steps");
  uint32_t count = 0, buffers = 0;
  for (const Json *step = steps->first; step; step = step->next)
    if (strcmp(step->first->key, "copy"))
      ++count, buffers += (uint32_t)json_count(json_get(step, "buffers"));
  VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, buffers + 1};
  VkDescriptorPoolCreateInfo info = {VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  info.maxSets = count + 1;
  info.poolSizeCount = 1;
  info.pPoolSizes = &size;
  VkDescriptorPool pool;
  check(vkCreateDescriptorPool(device, &info, NULL, &pool), "vkCreateDescriptorPool");
  for (const Json *step = steps->first; step; step = step->next) {
    if (!strcmp(step->first->key, "copy")) {
      const Json *from = json_at(step->first, 0), *to = json_at(step->first, 1);
      VkBufferCopy region = {(VkDeviceSize)json_number(from, "offset"),
                             (VkDeviceSize)json_number(to, "offset"),
                             (VkDeviceSize)json_number(to, "bytes")};
      vkCmdCopyBuffer(commands, area_of(memory, from)->buffer, area_of(memory, to)->buffer, 1,
                      &region);
    } else {
      const Kernel *kernel = &kernels[json_number(step, "kernel")];
      VkDescriptorSet set = make_set(pool, kernel, memory, json_get(step, "buffers"));
      vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->pipeline);
      vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->layout, 0, 1, &set,
                              0, NULL);
      uint32_t place = 0;
      for (const Json *n = json_get(step, "numbers")->first; n; n = n->next, place += 4) {
        int32_t number = (int32_t)n->number;
        vkCmdPushConstants(commands, kernel->layout, VK_SHADER_STAGE_COMPUTE_BIT, place, 4,
                           &number);
      }
      const Json *groups = json_get(step, "groups");
      vkCmdDispatch(commands, (uint32_t)json_at(groups, 0)->number,
                    (uint32_t)json_at(groups, 1)->number, (uint32_t)json_at(groups, 2)->number);
    }
    /* A step sees what the steps before it wrote. */
    VkMemoryBarrier barrier = {VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    barrier.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                         VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                         &barrier, 0, NULL, 0, NULL);
  }
}

static void run(const Json *launches, const Kernel *kernels, const Memory *memory) {
  VkCommandPoolCreateInfo info = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  info.queueFamilyIndex = family;
  VkCommandPool pool;
  check(vkCreateCommandPool(device, &info, NULL, &pool), "vkCreateCommandPool");
  VkCommandBufferAllocateInfo allocate = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  allocate.commandPool = pool;
  allocate.commandBufferCount = 1;
  VkCommandBuffer commands;
  check(vkAllocateCommandBuffers(device, &allocate, &commands), "vkAllocateCommandBuffers");
  VkCommandBufferBeginInfo begin = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  check(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
  record_steps(commands, launches, kernels, memory);
  check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
  VkSubmitInfo submit = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &commands;
  check(vkQueueSubmit(queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
  check(vkQueueWaitIdle(queue), "vkQueueWaitIdle");
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: %s FOLDER LAUNCHES.json [DIM=SIZE ..] ARGUMENT.bin .. RESULT.bin ..\n",
            argv[0]);
    return 2;
  }
  size_t bytes;
  const char *folder = argv[1];
  Json *launches = json_parse(read_file(folder, argv[2], &bytes));
  int sizes = (int)json_count(json_get(launches, "open"));
  if (argc - 3 < sizes)
    fail("an open size is missing; sizes are written before the files, as DIM=SIZE", NULL);
  fill_in_sizes(launches, argv + 3);
  char **files = argv + 3 + sizes;
  const Json *arguments = json_get(launches, "arguments"), *results = json_get(launches, "results"),
             *weights = json_get(launches, "weights"), *constants = json_get(launches, "constants"),
             *codes = json_get(launches, "kernels");
  if (argc - 3 - sizes != json_count(arguments) + json_count(results))
    fail("another number of files than the program has arguments and results", NULL);
  open_device(json_text(launches, "profile"));

  Memory memory = {areas_of(arguments),
                   areas_of(weights),
                   areas_of(results),
                   areas_of(constants),
                   make_area(json_number(launches, "temporaries")),
                   make_area(json_number(launches, "reports"))};
  for (int i = 0; i < json_count(arguments); ++i)
    fill_area(&memory.arguments[i], "", files[i]);
  for (int i = 0; i < json_count(weights); ++i)
    fill_area(&memory.weights[i], folder, json_text(json_at(weights, i), "file"));
  for (int i = 0; i < json_count(constants); ++i)
    fill_area(&memory.constants[i], folder, json_text(json_at(constants, i), "file"));
  Kernel *kernels = calloc((size_t)json_count(codes) + 1, sizeof *kernels);
  for (int i = 0; kernels && i < json_count(codes); ++i)
    kernels[i] = make_kernel(json_at(codes, i), folder);

  run(launches, kernels, &memory);

  /* Words: site + 1, index (low, high), size (low, high). */
  const int32_t *report = memory.reports.data;
  if (memory.reports.bytes && report[0]) {
    int64_t index, size;
    memcpy(&index, report + 1, 8);
    memcpy(&size, report + 3, 8);
    fprintf(stderr, "site %d: index %lld is out of range for size %lld\n", report[0] - 1,
            (long long)index, (long long)size);
    return 1;
  }
  for (int i = 0; i < json_count(results); ++i) {
    const char *name = files[json_count(arguments) + i];
    FILE *file = fopen(name, "wb");
    if (!file ||
        fwrite(memory.results[i].data, 1, (size_t)memory.results[i].bytes, file) !=
            (size_t)memory.results[i].bytes ||
        fclose(file))
      fail("cannot be written", name);
  }
  return 0;
}
