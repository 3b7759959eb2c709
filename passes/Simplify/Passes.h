// Algebraic clean-up of programs in the xtensor dialect.
#ifndef XTENSOR_SIMPLIFY_PASSES_H
#define XTENSOR_SIMPLIFY_PASSES_H

#include "XTensor/XTensor.h"
#include "mlir/Pass/Pass.h"

namespace xtensor {
#define GEN_PASS_DECL
#include "Simplify/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "Simplify/Passes.h.inc"
} // namespace xtensor

#endif // XTENSOR_SIMPLIFY_PASSES_H
