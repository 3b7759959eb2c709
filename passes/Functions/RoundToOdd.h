// Conversions of f64 to fewer bits than f32 has.
#ifndef XTENSOR_PASSES_FUNCTIONS_ROUNDTOODD_H
#define XTENSOR_PASSES_FUNCTIONS_ROUNDTOODD_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace xtensor {

/// The f32 next to `x` whose last bit is set if `x`, an f64 or a vector of them, lies between two.
/// A rounding to fewer bits then sees on which side of a half `x` was, so that it rounds `x` once.
mlir::Value emitRoundToOdd(mlir::ImplicitLocOpBuilder &b, mlir::Value x);

} // namespace xtensor

#endif // XTENSOR_PASSES_FUNCTIONS_ROUNDTOODD_H
