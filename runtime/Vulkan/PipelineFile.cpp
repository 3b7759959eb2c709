// Files of pipelines. Each begins with our own header, because drivers have crashed on damaged
// files. A file goes to the driver only if its length, hash and driver are the expected ones.
#include "PipelineFile.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

using namespace xtensor;
using namespace xtensor::vulkan;

namespace {

/// FNV-1a with 128 bits: names files, so that two kernels never meet.
struct Hash {
  unsigned __int128 state =
      (static_cast<unsigned __int128>(0x6c62272e07bb0142) << 64) | 0x62b821756295c58d;

  void add(const void *data, size_t bytes) {
    const unsigned __int128 prime = (static_cast<unsigned __int128>(1) << 88) | 0x13b;
    const auto *at = static_cast<const uint8_t *>(data);
    for (size_t i = 0; i < bytes; ++i)
      state = (state ^ at[i]) * prime;
  }
};

struct Head {
  char magic[8] = {'x', 't', 'p', 'i', 'p', 'e', '0', '1'};
  uint64_t bytes = 0; // of what follows
  unsigned __int128 hash = 0;
};

std::string cacheFolder() {
  if (const char *given = getenv("XTENSOR_CACHE_DIR"))
    return given;
  if (const char *base = getenv("XDG_CACHE_HOME"); base && *base)
    return std::string(base) + "/xtensor";
  const char *home = getenv("HOME");
  return home && *home ? std::string(home) + "/.cache/xtensor" : "";
}

/// The driver's data, or nothing if the file is not there or not whole.
std::vector<char> load(const std::string &path, const Limits &limits) {
  std::vector<char> data;
  struct stat status;
  // A pipe would wait for its writer, a device never end.
  int descriptor = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  FILE *file = descriptor >= 0 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)
                   ? fdopen(descriptor, "rb")
                   : nullptr;
  if (!file) {
    if (descriptor >= 0)
      close(descriptor);
    return data;
  }
  Head head, expected;
  bool good = fread(&head, sizeof head, 1, file) == 1 &&
              !memcmp(head.magic, expected.magic, sizeof head.magic) &&
              head.bytes == static_cast<uint64_t>(status.st_size) - sizeof head &&
              head.bytes >= sizeof(VkPipelineCacheHeaderVersionOne);
  if (good) {
    data.resize(head.bytes);
    good = fread(data.data(), 1, data.size(), file) == data.size();
    Hash hash;
    hash.add(data.data(), data.size());
    VkPipelineCacheHeaderVersionOne first;
    memcpy(&first, data.data(), sizeof first);
    good = good && hash.state == head.hash &&
           first.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE &&
           first.vendorID == limits.vendor && first.deviceID == limits.product &&
           !memcmp(first.pipelineCacheUUID, limits.cacheId, VK_UUID_SIZE);
  }
  if (good)
    futimens(fileno(file), nullptr); // used now
  fclose(file);
  if (!good)
    data.clear();
  return data;
}

/// What was used longest ago goes, until no more than $XTENSOR_CACHE_MB are left.
void trim(const std::string &folder) {
  const char *text = getenv("XTENSOR_CACHE_MB");
  double limit = (text ? atof(text) : 256) * (1 << 20), bytes = 0;
  struct File {
    time_t used;
    double bytes;
    std::string path;
  };
  std::vector<File> files;
  DIR *opened = opendir(folder.c_str());
  if (!opened)
    return;
  while (const dirent *entry = readdir(opened)) {
    std::string path = folder + "/" + entry->d_name;
    struct stat status;
    if (path.size() < 4 || path.compare(path.size() - 4, 4, ".bin") != 0 ||
        stat(path.c_str(), &status) != 0)
      continue;
    files.push_back({status.st_mtime, static_cast<double>(status.st_size), path});
    bytes += files.back().bytes;
  }
  closedir(opened);
  std::sort(files.begin(), files.end(),
            [](const File &a, const File &b) { return a.used < b.used; });
  for (const File &file : files) {
    if (bytes <= limit)
      return;
    unlink(file.path.c_str());
    bytes -= file.bytes;
  }
}

/// Another process sees the whole file or none.
void store(const std::string &folder, const std::string &path, const std::vector<char> &data) {
  for (size_t at = 1; at != std::string::npos; at = folder.find('/', at + 1))
    if (size_t end = folder.find('/', at); end != std::string::npos)
      mkdir(folder.substr(0, end).c_str(), 0777);
  mkdir(folder.c_str(), 0777);
  std::string draft = folder + "/draft-XXXXXX";
  int descriptor = mkstemp(draft.data());
  FILE *file = descriptor < 0 ? nullptr : fdopen(descriptor, "wb");
  if (!file)
    return;
  Head head;
  head.bytes = data.size();
  Hash hash;
  hash.add(data.data(), data.size());
  head.hash = hash.state;
  bool good = fwrite(&head, sizeof head, 1, file) == 1 &&
              fwrite(data.data(), 1, data.size(), file) == data.size();
  good = fclose(file) == 0 && good;
  if (!good || rename(draft.c_str(), path.c_str()) != 0)
    unlink(draft.c_str());
  trim(folder);
}

} // namespace

PipelineFile::PipelineFile(Context &context, const xt_kernel &kernel) : context(context) {
  folder = cacheFolder();
  std::vector<char> data;
  if (!folder.empty()) {
    folder += "/pipelines";
    Hash hash;
    const Limits &limits = context.limits;
    hash.add(kernel.code, static_cast<size_t>(kernel.code_bytes));
    hash.add(kernel.name, strlen(kernel.name) + 1);
    hash.add(limits.deviceId, VK_UUID_SIZE);
    hash.add(limits.driverId, VK_UUID_SIZE);
    hash.add(limits.cacheId, VK_UUID_SIZE);
    hash.add(&limits.driverVersion, sizeof limits.driverVersion);
    char name[40];
    snprintf(name, sizeof name, "/%016llx%016llx.bin",
             static_cast<unsigned long long>(hash.state >> 64),
             static_cast<unsigned long long>(hash.state));
    path = folder + name;
    data = load(path, limits);
  }
  loaded = !data.empty();
  VkPipelineCacheCreateInfo create = {VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
  create.initialDataSize = data.size();
  create.pInitialData = data.data();
  if (path.empty() ||
      context.vk.CreatePipelineCache(context.device, &create, nullptr, &handle) != VK_SUCCESS)
    handle = VK_NULL_HANDLE;
}

PipelineFile::~PipelineFile() {
  if (handle)
    context.vk.DestroyPipelineCache(context.device, handle, nullptr);
}

void PipelineFile::write() {
  size_t bytes = 0;
  if (!handle || loaded ||
      context.vk.GetPipelineCacheData(context.device, handle, &bytes, nullptr) != VK_SUCCESS)
    return;
  std::vector<char> data(bytes);
  if (context.vk.GetPipelineCacheData(context.device, handle, &bytes, data.data()) != VK_SUCCESS)
    return;
  data.resize(bytes);
  store(folder, path, data);
}
