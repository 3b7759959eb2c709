// Passes that decide what runs together: elementwise fusion, two-stage
// reductions, and groups as parallel loops.

#ifndef XTENSOR_PASSES_GROUP_PASSES_H
#define XTENSOR_PASSES_GROUP_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace xtensor {

#define GEN_PASS_DECL
#include "Group/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Group/Passes.h.inc"

} // namespace xtensor

#endif // XTENSOR_PASSES_GROUP_PASSES_H
