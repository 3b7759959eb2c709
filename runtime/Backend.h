// The interface that each kind of device (Vulkan, CUDA, Metal) implements. Device.cpp forwards the
// calls of Device.h to it.
#pragma once

#include "Device.h"

#include <atomic>
#include <mutex>
#include <string>
#include <unordered_map>

namespace xtensor {
struct Made;
}

/// One device. Its functions do what those of Device.h of the same name do. Never destroyed: arrays
/// are freed while the process exits, too.
struct xt_device {
  xt_device_info info = {};
  std::atomic<bool> lost{false};

  virtual int64_t messages() = 0;
  virtual xt_device_counters counters() = 0;
  virtual void *alloc(size_t bytes) = 0;
  virtual void free(void *address, size_t bytes) = 0;
  virtual size_t cachedBytes() = 0;
  virtual void trim() = 0;
  virtual int32_t write(void *to, const void *from, size_t bytes) = 0;
  virtual int32_t read(void *to, const void *from, size_t bytes) = 0;
  virtual int32_t copy(void *to, const void *from, size_t bytes) = 0;
  virtual int32_t synchronize() = 0;

  /// `ticket` is what the call may yet report, or null.
  virtual int32_t begin(xt_program *program, void **buffers, const int64_t *sizes,
                        xt_status *status, xt_ticket *&ticket) = 0;
  virtual void launch(xt_kernel *kernel, const int64_t groups[3], void *const *buffers,
                      const int32_t *numbers) = 0;
  virtual void extents(const int64_t *bytes) = 0;
  virtual void callCopy(void *to, const void *from, int64_t bytes) = 0;
  virtual void *arena(int64_t bytes) = 0;
  virtual void *report() = 0;
  virtual void *map(void *address, int64_t bytes, int32_t mode) = 0;
  virtual void unmap(void *address, int64_t bytes, int32_t mode, void *host) = 0;
  virtual void end() = 0;
  /// The device's copy of some bytes, made once.
  void *constant(const void *data, int64_t bytes);

  /// The caller no longer needs what this device made of its code. The device frees it once no
  /// running call needs it. Does not block.
  virtual void discard(xtensor::Made *made) = 0;

  /// Nothing is running any more; unless `patient`, after a few seconds at most.
  virtual void quiesce(bool patient) = 0;

protected:
  ~xt_device() = default;

private:
  std::mutex constantsLock;
  std::unordered_map<std::string, void *> constants; // by what they hold
};

/// What a call may yet report.
struct xt_ticket {
  std::atomic<int32_t> references{1};

  virtual int32_t wait(xt_status *status) = 0;
  virtual ~xt_ticket() = default;
};

namespace xtensor {

/// While it lives, this thread may begin other calls on devices than the one that it is in.
class CallsAside {
public:
  CallsAside();
  ~CallsAside();
  CallsAside(const CallsAside &) = delete;

private:
  xt_device *device;
  xt_program *program;
  xt_ticket *ticket;
};

struct Backend {
  const char *name;
  int32_t (*count)();
  /// What is meant by index -1; negative, with xt_device_error set, if that cannot be told.
  int32_t (*best)();
  xt_device *(*open)(int32_t index);
};

extern const Backend vulkanBackend;
extern const Backend metalBackend;
extern const Backend cudaBackend;

/// What $XTENSOR_DEVICE says, 0 if nothing; -1, with xt_device_error set, if it is not a number.
int32_t preferredDevice();

/// What one device made of a kernel or a program of compiled code, in the list that begins at its
/// `handle`.
struct Made {
  xt_device *device;
  Made *next;
  virtual ~Made() = default;
};
Made *findMade(void *const &handle, xt_device *device);
void addMade(void *&handle, Made *made);
/// The kernel was made for calls of the program, and goes with it.
void addKernel(xt_program *program, xt_kernel *kernel, Made *made);

/// Whether a device can start a kernel at all; sets xt_device_error if not.
bool checkLimits(const xt_device_info &info, const xt_kernel &kernel);

/// A device that is in a call: what the program calls, such as a function of xt.callback, cannot
/// run programs on it. For the device, the inner and the outer program.
constexpr char kNestedCall[] =
    "%s: a call of %s during one of %s, on one thread. What a program on this device calls "
    "(xt.callback) cannot run programs on it: let it use arrays on the CPU";

/// Sets xt_device_error; returns 1.
__attribute__((format(printf, 1, 2))) int32_t fail(const char *format, ...);

} // namespace xtensor
