// The device code of kernels, next to the kernels from which it was made.
#ifndef XTENSOR_PASSES_GPU_KERNELCODE_H
#define XTENSOR_PASSES_GPU_KERNELCODE_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace xtensor::gpu {

/// On a gpu.module: its code as the device's driver takes it.
inline constexpr llvm::StringLiteral kCodeAttr = "xtensor.code";

/// The gpu.module that `code` was made of, which is the op before it, or an error.
mlir::FailureOr<mlir::gpu::GPUModuleOp> kernelOf(mlir::Operation *code);

} // namespace xtensor::gpu

#endif // XTENSOR_PASSES_GPU_KERNELCODE_H
