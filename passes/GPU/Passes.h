// Passes from linalg on buffers to kernels of a GPU.
#ifndef XTENSOR_PASSES_GPU_PASSES_H
#define XTENSOR_PASSES_GPU_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace xtensor {

#define GEN_PASS_DECL
#include "GPU/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "GPU/Passes.h.inc"

/// Whether xtensor-expand-scalar-math writes `op` as arithmetic (ExpandScalarMath.cpp).
bool isWrittenOut(mlir::Operation *op);

} // namespace xtensor

#endif // XTENSOR_PASSES_GPU_PASSES_H
