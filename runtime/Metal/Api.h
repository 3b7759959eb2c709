// What the backend needs of Metal. On macOS, Apple.mm implements it with Apple's API. Elsewhere,
// $XTENSOR_METAL_LIBRARY may name a library that implements it; the one of test/metal runs kernels
// on the CPU. Memory is shared: once the device is done, the CPU reads it through the same
// addresses.
#pragma once

#include "../Device.h"

#include <string>

namespace xtensor::metal {

struct Buffer {
  void *handle = nullptr;
  char *contents = nullptr;
  size_t bytes = 0;
};
struct Place {
  const Buffer *buffer = nullptr;
  size_t offset = 0;
};

/// Texts are valid as long as the Gpu.
struct Limits {
  const char *name = "", *driver = "";
  int64_t memoryBytes = 0, maxBufferBytes = 0, workgroupBytes = 0, maxThreads = 0;
};

/// One GPU. All that takes `error` says there what failed, and then returns null or false. Calls
/// come from one thread at a time, but for `wait` and `done`.
class Gpu {
public:
  Limits limits;

  virtual bool makeBuffer(size_t bytes, Buffer &buffer) = 0;
  virtual void dropBuffer(Buffer &buffer) = 0;

  virtual void *makeKernel(const xt_kernel &kernel, std::string &error) = 0;
  virtual void dropKernel(void *kernel) = 0;

  /// Commands run in the order in which they are added, each after the one before is done with
  /// memory, and lists in the order in which they are sent.
  virtual void *begin(std::string &error) = 0;
  virtual void launch(void *commands, void *kernel, const xt_kernel &what, const int64_t groups[3],
                      const Place *buffers, const int32_t *numbers) = 0;
  virtual void copy(void *commands, Place to, Place from, size_t bytes) = 0;
  virtual void send(void *commands) = 0;
  virtual bool done(void *commands) = 0;
  virtual bool wait(void *commands, std::string &error) = 0;
  virtual void drop(void *commands) = 0;

protected:
  ~Gpu() = default;
};

/// What such a library has. Gpus live as long as the process; null: it cannot be used.
struct Api {
  int32_t (*count)(std::string &error);
  Gpu *(*open)(int32_t index, std::string &error);
};

/// The symbol of the library: `extern "C" const Api xt_metal_api`.
inline constexpr char kApiSymbol[] = "xt_metal_api";

/// On macOS.
extern const Api appleApi;

} // namespace xtensor::metal
