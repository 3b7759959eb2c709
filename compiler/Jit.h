// From a module in the LLVM dialect to object code for this machine, and from object code to an
// address. One target machine and one linker serve the whole process.
#ifndef XTENSOR_COMPILER_JIT_H
#define XTENSOR_COMPILER_JIT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <string>

namespace xtensor {

enum class CodeFormat { object, assembly, llvmIR };

class Jit {
public:
  static Jit &get();

  /// Code of `module`, whose function `entry` is kept; everything else becomes internal. Null on
  /// failure, with diagnostics at the module's location.
  std::unique_ptr<llvm::MemoryBuffer> generate(mlir::ModuleOp module, llvm::StringRef entry,
                                               CodeFormat format = CodeFormat::object);
  /// Loads object code and returns the address of `entry`, which no other object may define.
  llvm::Expected<void *> link(std::unique_ptr<llvm::MemoryBuffer> object, llvm::StringRef entry);
  /// Target, processor and features: part of the key of every cached object.
  llvm::StringRef description() const { return target; }

private:
  Jit();
  struct Impl;
  std::unique_ptr<Impl> impl;
  std::string target;
};

} // namespace xtensor

#endif // XTENSOR_COMPILER_JIT_H
