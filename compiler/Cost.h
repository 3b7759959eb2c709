// What one call of a program costs.
#ifndef XTENSOR_COMPILER_COST_H
#define XTENSOR_COMPILER_COST_H

#include "mlir/IR/BuiltinOps.h"

namespace xtensor {

struct Cost {
  /// Arithmetic ops times the elements and steps of their loops. A while loop counts as one step, a
  /// branch as all of its sides.
  int64_t flops = 0;
  /// Bytes of the temporaries of a call.
  int64_t arena = 0;
};

/// The cost of `module`, which is in phase `traced`, has static sizes and stays as it is.
mlir::FailureOr<Cost> costOf(mlir::ModuleOp module);

} // namespace xtensor

#endif // XTENSOR_COMPILER_COST_H
