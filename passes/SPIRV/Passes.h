// Passes from kernels of the gpu dialect to SPIR-V.
#ifndef XTENSOR_PASSES_SPIRV_PASSES_H
#define XTENSOR_PASSES_SPIRV_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace xtensor {

#define GEN_PASS_DECL
#include "SPIRV/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "SPIRV/Passes.h.inc"

/// On a gpu.module: bfloat16 is computed in float32, and words of 16 bits in memory. Shaders know
/// no more of it.
void addBfloat16Words(mlir::OpPassManager &kernels);

/// The phase "spirv".
void buildSPIRVPipeline(mlir::OpPassManager &pm);

} // namespace xtensor

#endif // XTENSOR_PASSES_SPIRV_PASSES_H
