#include "GPU/KernelCode.h"

using namespace mlir;

FailureOr<mlir::gpu::GPUModuleOp> xtensor::gpu::kernelOf(Operation *code) {
  if (auto kernel = dyn_cast_or_null<mlir::gpu::GPUModuleOp>(code->getPrevNode()))
    return kernel;
  return code->emitError() << "'" << code->getName() << "' is not the code of a gpu.module, which "
                           << "would be the op before it";
}
