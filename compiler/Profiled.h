// Programs that are profiled: compiled with calls around each kernel (KernelCalls.h).
#ifndef XTENSOR_COMPILER_PROFILED_H
#define XTENSOR_COMPILER_PROFILED_H

#include "compiler/Compiler.h"
#include "llvm/ADT/StringMap.h"

namespace xtensor {

/// Compiles `module` as `compile` does, as the program of this number, which no other has: it is
/// not kept on disk. kernels: JSON, a list of its kernels, each with what KernelCalls.h says, and
/// its `loc` as in EveryPhase.h.
mlir::FailureOr<Compiled> compileProfiled(mlir::ModuleOp module, const CompilerOptions &options,
                                          int64_t number, std::string &kernels);

/// The kernels of the same program for the CPU, with the flops and bytes of a call with these open
/// sizes.
mlir::FailureOr<std::string> kernelsOfCall(mlir::ModuleOp module,
                                           const llvm::StringMap<int64_t> &sizes);

} // namespace xtensor

#endif // XTENSOR_COMPILER_PROFILED_H
