// The pass from SPIR-V to Metal's shading language.
#ifndef XTENSOR_PASSES_METAL_PASSES_H
#define XTENSOR_PASSES_METAL_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace xtensor {

#define GEN_PASS_DECL
#include "Metal/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "Metal/Passes.h.inc"

} // namespace xtensor

#endif // XTENSOR_PASSES_METAL_PASSES_H
