// From a module in the LLVM dialect to object code for this machine, and from object code to an
// address. One linker serves the whole process.
#ifndef XTENSOR_COMPILER_JIT_H
#define XTENSOR_COMPILER_JIT_H

#include "compiler/CodeGenerator.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <string>

namespace xtensor {

/// Object files that refer to each other.
using Objects = llvm::SmallVector<std::unique_ptr<llvm::MemoryBuffer>, 2>;

/// Code that can be called as long as anybody holds `code`.
struct LoadedCode {
  void *entry = nullptr;
  std::shared_ptr<void> code;
};

class Jit {
public:
  static Jit &get();

  /// Machine code of `module`, which loses what is compiled apart from the rest, on up to
  /// `threads` threads of the pool. Nothing but `entry` may be relied on; names of what the files
  /// call of each other begin with it. With diagnostics at the module's location on failure.
  mlir::FailureOr<Objects> generate(mlir::ModuleOp module, llvm::StringRef entry, int64_t threads);
  /// The same as text, in one piece.
  mlir::FailureOr<std::string> assembly(mlir::ModuleOp module, llvm::StringRef entry);
  /// Loads object code with a function `entry`, which no other program may define while it is
  /// loaded.
  llvm::Expected<LoadedCode> link(Objects objects, llvm::StringRef entry);

private:
  Jit();
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace xtensor

#endif // XTENSOR_COMPILER_JIT_H
