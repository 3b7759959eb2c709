// What Debian's static archives call and the wheel's one library has no need of
// (XTensorWheel.cmake).
#include "llvm/Plugins/PassPlugin.h"
#include <cstdint>
#include <sys/random.h>

/// Link-time optimization asks for Polly. Nothing that we link is to be optimized then.
llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "none", "", [](llvm::PassBuilder &) {}};
}

/// glibc has it from 2.36 on, and everything else that is called from 2.34 on. LLVM names temporary
/// files by it.
extern "C" uint32_t arc4random() noexcept {
  uint32_t number = 0;
  while (getrandom(&number, sizeof number, 0) != sizeof number) {
  }
  return number;
}
