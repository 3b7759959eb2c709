// Passes that take a program from named arrays to linalg on tensors.
#ifndef XTENSOR_TOLINALG_PASSES_H
#define XTENSOR_TOLINALG_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace xtensor {

#define GEN_PASS_DECL
#include "ToLinalg/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ToLinalg/Passes.h.inc"

/// The `linalg` phase: pairs, then tensors, then the check of the phase's contract.
void buildToLinalgPipeline(mlir::OpPassManager &pm, const ToLinalgOptions &options = {});

} // namespace xtensor

#endif // XTENSOR_TOLINALG_PASSES_H
