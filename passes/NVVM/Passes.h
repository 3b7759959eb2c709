// Passes from kernels of the gpu dialect to PTX.
#ifndef XTENSOR_PASSES_NVVM_PASSES_H
#define XTENSOR_PASSES_NVVM_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace xtensor {

#define GEN_PASS_DECL
#include "NVVM/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "NVVM/Passes.h.inc"

/// The phase "nvvm".
void buildNVVMPipeline(mlir::OpPassManager &pm);

} // namespace xtensor

#endif // XTENSOR_PASSES_NVVM_PASSES_H
