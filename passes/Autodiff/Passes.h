// The passes that expand derivatives; README.md shows the IR before and after each.
#ifndef XTENSOR_AUTODIFF_PASSES_H
#define XTENSOR_AUTODIFF_PASSES_H

#include "XTensor/XTensor.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
class ModuleOp;
class OpPassManager;
} // namespace mlir

namespace xtensor {
#define GEN_PASS_DECL
#include "Autodiff/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "Autodiff/Passes.h.inc"

/// From a simplified program to one without derivative ops.
void buildDifferentiatePipeline(mlir::OpPassManager &pm);
} // namespace xtensor

#endif // XTENSOR_AUTODIFF_PASSES_H
