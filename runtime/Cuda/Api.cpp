// Loads the driver.
#include "Api.h"

#include "../Backend.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace xtensor;
using namespace xtensor::cuda;

const char *Driver::nameOf(Result result) const {
  const char *text = nullptr;
  return GetErrorName(result, &text) == kSuccess && text ? text : "an unknown error";
}

const char *Driver::meaningOf(Result result) const {
  const char *text = nullptr;
  return GetErrorString(result, &text) == kSuccess && text ? text : "nothing more is known";
}

static bool load(Driver &made) {
  const char *path = getenv("XTENSOR_CUDA_LIBRARY");
  if (!path || !*path)
    path = "libcuda.so.1";
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return fail("the driver of NVIDIA GPUs cannot be loaded: %s (it comes with NVIDIA's driver; "
                "the CUDA toolkit is not needed)",
                dlerror()) == 0;
#define XT_CUDA_LOAD(member, name, arguments)                                                      \
  made.member = reinterpret_cast<decltype(made.member)>(dlsym(library, name));                     \
  if (!made.member)                                                                                \
    return fail("%s has no %s: a driver for CUDA 11.4 or newer is needed", path, name) == 0;
  XT_CUDA_FUNCTIONS(XT_CUDA_LOAD)
#undef XT_CUDA_LOAD
  Result result = made.Init(0);
  if (result != kSuccess)
    return fail("the driver of NVIDIA GPUs does not start: %s (%s)", made.nameOf(result),
                made.meaningOf(result)) == 0;
  made.DriverGetVersion(&made.version);
  return true;
}

const Driver *cuda::driver() {
  // xt_device_count and xt_device_open hold a lock.
  static Driver *found = nullptr;
  if (found)
    return found;
  Driver made;
  if (load(made))
    found = new Driver(made);
  return found;
}
