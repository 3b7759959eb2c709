#include "Preload.h"

#include "Python.h"
#include "runtime.h"

#include <atomic>
#include <dlfcn.h>
#include <pthread.h>
#include <string>
#include <thread>

namespace {

std::thread loader;
std::atomic<bool> wanted{true};

/// The loader holds the dynamic linker's lock, and then others: neither a fork nor an exit may meet
/// it at work.
void finish() {
  wanted = false;
  if (loader.joinable())
    loader.join();
}

struct AtExit {
  ~AtExit() { finish(); }
} atExit;

/// .../xtensor/_native.so -> .../xtensor/mlir/_mlir_libs/_xtensor.SUFFIX
std::string compilerPath() {
  Dl_info self;
  if (!dladdr(reinterpret_cast<void *>(&compilerPath), &self))
    return "";
  std::string path = self.dli_fname;
  return path.substr(0, path.rfind('/') + 1) + "mlir/_mlir_libs/_xtensor" XTENSOR_MODULE_SUFFIX;
}

} // namespace

void xtensor::startLoadingCompiler() {
  std::string path = compilerPath();
  if (path.empty() || std::thread::hardware_concurrency() < 2)
    return;
  // Handlers before a fork run in reverse order of registration. `finish` must be first: it waits
  // for the loader, which may wait for a lock that the runtime's handlers take.
  xt_num_threads();
  xt_cached_bytes();
  pthread_atfork(finish, nullptr, nullptr);
  // Destructors of LLVM, which the loader registers later than ours, would run while it compiles.
  Py_AtExit(finish);
  loader = std::thread([path] {
    // Where it fails, the import that needs it says why.
    void *compiler = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    void *warmUp = compiler ? dlsym(compiler, "xtensor_warm_up") : nullptr;
    if (warmUp)
      reinterpret_cast<void (*)(bool (*)())>(warmUp)([] { return wanted.load(); });
  });
}
