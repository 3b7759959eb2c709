// Passes from linalg on buffers to the LLVM dialect, for CPUs.
#ifndef XTENSOR_PASSES_CPU_PASSES_H
#define XTENSOR_PASSES_CPU_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace xtensor {

#define GEN_PASS_DECL
#include "CPU/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "CPU/Passes.h.inc"

/// The phase "cpu": loops over vectors, parallel bodies outlined.
void buildCPUPipeline(mlir::OpPassManager &pm);
/// The phase "llvm".
void buildToLLVMPipeline(mlir::OpPassManager &pm);

/// On a module: kernels of a device do the work, the functions are its host.
inline constexpr llvm::StringLiteral kDeviceAttr = "xtensor.device";
/// On a module: the target "cpu:NAME" (Processor.h) that its code is for; absent: this machine.
inline constexpr llvm::StringLiteral kProcessorAttr = "xtensor.processor";
/// Marks a loop nest that does one kernel's work, for as long as nests can be outlined.
inline constexpr llvm::StringLiteral kNestAttr = "xtensor.nest";
/// On a module: a call may take longer than about 20 microseconds.
inline constexpr llvm::StringLiteral kLongAttr = "xtensor.long";
/// On a loop: after that many steps it asks whether the call is to end.
inline constexpr llvm::StringLiteral kPollAttr = "xtensor.poll";
/// What it asks: a function of the runtime.
inline constexpr llvm::StringLiteral kPollFunction = "xt_poll";

/// Bits of the widest vectors that this machine computes with.
int64_t hostVectorBits();

} // namespace xtensor

#endif // XTENSOR_PASSES_CPU_PASSES_H
