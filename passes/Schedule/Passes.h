// The pass that chooses the chunks of parallel loops.

#ifndef XTENSOR_PASSES_SCHEDULE_PASSES_H
#define XTENSOR_PASSES_SCHEDULE_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace xtensor {

#define GEN_PASS_DECL
#include "Schedule/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Schedule/Passes.h.inc"

} // namespace xtensor

#endif // XTENSOR_PASSES_SCHEDULE_PASSES_H
