// Lists the GPUs: through Apple's API on macOS, else through the library that
// $XTENSOR_METAL_LIBRARY names.
#include "Device.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace xtensor;
using namespace xtensor::metal;

/// Asked anew each time: tests put a library there and take it away.
static const Api *find(std::string &error) {
  if (const char *chosen = getenv("XTENSOR_METAL_LIBRARY"); chosen && *chosen) {
    void *library = dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, kApiSymbol) : nullptr;
    if (const char *reason = symbol ? nullptr : dlerror())
      error = std::string("XTENSOR_METAL_LIBRARY: ") + reason;
    return static_cast<const Api *>(symbol);
  }
#ifdef __APPLE__
  return &appleApi;
#else
  error = "Metal exists on macOS only";
  return nullptr;
#endif
}

static int32_t countDevices() {
  std::string error;
  const Api *api = find(error);
  int32_t count = api ? api->count(error) : 0;
  if (count == 0)
    fail("%s", error.c_str());
  return count;
}

static xt_device *openDevice(int32_t index) {
  std::string error;
  const Api *api = find(error);
  Gpu *gpu = api ? api->open(index, error) : nullptr;
  if (gpu)
    return new Device(*gpu);
  fail("%s", error.c_str());
  return nullptr;
}

const Backend xtensor::metalBackend = {"metal", countDevices, preferredDevice, openDevice};
