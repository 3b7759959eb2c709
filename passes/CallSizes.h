// Sizes of one call of a program with open sizes: what depends on them becomes a number.
#ifndef XTENSOR_PASSES_CALLSIZES_H
#define XTENSOR_PASSES_CALLSIZES_H

#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace xtensor {

/// On arguments and results of @main: the sizes of the array's dims in one call.
inline constexpr llvm::StringLiteral kSizesAttr = "xtensor.sizes";

/// A constant, or what such a call computes from sizes and constants.
std::optional<int64_t> valueInCall(mlir::OpFoldResult value);
/// The same in one step of the loops around it, whose induction variables have the values in `at`.
std::optional<int64_t> valueInStep(mlir::Value value,
                                   const llvm::DenseMap<mlir::Value, int64_t> &at);
/// The size of a tensor or of memory along an axis.
std::optional<int64_t> sizeInCall(mlir::Value array, int64_t axis);

} // namespace xtensor

#endif // XTENSOR_PASSES_CALLSIZES_H
