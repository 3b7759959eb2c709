// Avoids a bug of the compiler inside of lavapipe.
#ifndef XTENSOR_PASSES_SPIRV_BITSELECTS_H
#define XTENSOR_PASSES_SPIRV_BITSELECTS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace xtensor::spirv {

/// `c ? p : (p & m) | (q & ~m)` as `(p & m) | ((c ? p : q) & ~m)`, for a constant `m`
/// (docs/upstream.md). compiler/CodeGenerator.cpp does the same with LLVM IR for the CPU.
void selectBeforeBits(mlir::gpu::GPUModuleOp kernel);

} // namespace xtensor::spirv

#endif // XTENSOR_PASSES_SPIRV_BITSELECTS_H
