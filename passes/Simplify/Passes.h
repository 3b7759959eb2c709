// Algebraic clean-up of programs in the xtensor dialect.
#ifndef XTENSOR_SIMPLIFY_PASSES_H
#define XTENSOR_SIMPLIFY_PASSES_H

#include "XTensor/XTensor.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace xtensor {
#define GEN_PASS_DECL
#include "Simplify/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "Simplify/Passes.h.inc"

void buildSimplifyPipeline(mlir::OpPassManager &pm);
} // namespace xtensor

#endif // XTENSOR_SIMPLIFY_PASSES_H
