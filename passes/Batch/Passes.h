// The passes that turn functions of one instance into functions of all instances. README.md shows
// IR.
#ifndef XTENSOR_BATCH_PASSES_H
#define XTENSOR_BATCH_PASSES_H

#include "XTensor/XTensor.h"
#include "mlir/Pass/Pass.h"

namespace xtensor {
#define GEN_PASS_DECL
#include "Batch/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "Batch/Passes.h.inc"

/// Marks the stop_gradient of what instances see in a branch or a step that they do not take:
/// nothing that comes of it is kept.
constexpr llvm::StringLiteral kStandInAttr = "xtensor.stand_in";
} // namespace xtensor

#endif // XTENSOR_BATCH_PASSES_H
