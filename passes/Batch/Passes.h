// The passes that make functions of one instance functions of all; README.md shows IR.
#ifndef XTENSOR_BATCH_PASSES_H
#define XTENSOR_BATCH_PASSES_H

#include "XTensor/XTensor.h"
#include "mlir/Pass/Pass.h"

namespace xtensor {
#define GEN_PASS_DECL
#include "Batch/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "Batch/Passes.h.inc"
} // namespace xtensor

#endif // XTENSOR_BATCH_PASSES_H
