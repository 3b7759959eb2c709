// From PTX to kernels. A kernel that exceeds a limit of the device is refused with that limit,
// before the driver sees it. The driver caches assembled code on disk (~/.nv/ComputeCache), so
// this file does not.
#include "Recording.h"

#include <algorithm>
#include <cstring>

using namespace xtensor;
using namespace xtensor::cuda;

static bool check(const Context &context, const xt_device_info &info, const xt_kernel &kernel) {
  const char *device = context.name.c_str(), *name = kernel.name;
  auto bytes = static_cast<size_t>(std::max<int64_t>(kernel.code_bytes, 0));
  const char *code = static_cast<const char *>(kernel.code);
  if (bytes == 0 || code[bytes - 1] != 0 || !strstr(code, ".version"))
    return fail("%s: the code of kernel %s (%zu bytes) is not PTX", device, name, bytes) == 0;
  return checkLimits(info, kernel);
}

std::unique_ptr<Kernel> cuda::makeKernel(Context &context, const xt_device_info &info,
                                         const xt_kernel &kernel) {
  if (!context.usable() || !check(context, info, kernel))
    return nullptr;
  Current current(context);
  auto made = std::make_unique<Kernel>();
  char log[1024] = "";
  int options[] = {kErrorLog, kErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log - 1)};
  Result result = context.api->ModuleLoadDataEx(&made->module, kernel.code, 2, options, values);
  std::string what = std::string("making kernel ") + kernel.name;
  if (result == kUnsupportedPtx) {
    fail("%s: %s failed: its driver (%s) is older than the code, which is for compute capability "
         "%d.%d: a newer driver is needed",
         context.name.c_str(), what.c_str(), context.driverName.c_str(), info.architecture / 10,
         info.architecture % 10);
    return nullptr;
  }
  if (result != kSuccess && *log)
    what += std::string(" (") + log + ")";
  if (!context.check(result, what.c_str()))
    return nullptr;
  if (context.check(context.api->ModuleGetFunction(&made->function, made->module, kernel.name),
                    what.c_str()))
    return made;
  context.api->ModuleUnload(made->module);
  return nullptr;
}
