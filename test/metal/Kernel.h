// A kernel in Metal's language, compiled for the CPU, and its workgroups.
#pragma once

#include "Device.h"

#include <memory>
#include <string>
#include <vector>

namespace shim {

class Kernel {
public:
  /// Null, with `error` set, if the text does not compile.
  static std::unique_ptr<Kernel> make(const xt_kernel &kernel, std::string &error);
  ~Kernel();

  /// False if some threads of a workgroup meet a barrier that others do not.
  bool run(void *const *buffers, const uint32_t groups[3], const uint32_t threads[3]) const;

  const std::string &name() const { return label; }

private:
  using Run = void (*)(void *const *buffers, const uint32_t *groups, const uint32_t *group,
                       const uint32_t *threads, uint32_t first, uint32_t last);

  std::string label;
  void *library = nullptr;
  Run threadsFrom = nullptr;
  bool barriers = false;
};

} // namespace shim
