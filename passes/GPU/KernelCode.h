// The device code of kernels, next to the kernels from which it was made.
#ifndef XTENSOR_PASSES_GPU_KERNELCODE_H
#define XTENSOR_PASSES_GPU_KERNELCODE_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace xtensor::gpu {

/// On a gpu.module: its code as the device's driver takes it.
inline constexpr llvm::StringLiteral kCodeAttr = "xtensor.code";

/// The gpu.module that `code` was made of, which is the op before it, or an error.
mlir::FailureOr<mlir::gpu::GPUModuleOp> kernelOf(mlir::Operation *code);

/// Replaces each `Code` of the module by what `write(code, kernel)` returns, on its gpu.module.
template <typename Code, typename Write>
mlir::LogicalResult replaceByText(mlir::ModuleOp module, Write write) {
  for (Code code : llvm::make_early_inc_range(module.getOps<Code>())) {
    mlir::FailureOr<mlir::gpu::GPUModuleOp> kernel = kernelOf(code);
    if (failed(kernel))
      return mlir::failure();
    mlir::FailureOr<std::string> text = write(code, *kernel);
    if (failed(text))
      return mlir::failure();
    (*kernel)->setAttr(kCodeAttr, mlir::StringAttr::get(module.getContext(), *text));
    code.erase();
  }
  return mlir::success();
}

} // namespace xtensor::gpu

#endif // XTENSOR_PASSES_GPU_KERNELCODE_H
