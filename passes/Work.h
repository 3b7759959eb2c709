// The arithmetic of ops, and the memory that they read and write: what `f.cost` and profiles tell.
// What passes decide by is in Estimates.h.
#ifndef XTENSOR_PASSES_WORK_H
#define XTENSOR_PASSES_WORK_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace xtensor {

/// Arithmetic ops times the elements and steps of their loops. A loop counts as one step if its
/// steps are not known. An extremum is one flop; comparisons, choices, logic, conversions and
/// positions are none.
double flopsOf(mlir::Operation *op);
double flopsOf(mlir::Region &region);
/// How often the body of a loop runs, 1 if that is not known.
double stepsOf(mlir::Operation &op);
/// Points of the loops of `op`; sizes that are not known count as 1.
double pointsOf(mlir::linalg::LinalgOp op);

struct Traffic {
  double bytes = 0;
  /// What is read before these ops write it, and what is written: allocations and arguments.
  llvm::SmallVector<mlir::Value> reads, writes;
};
/// The bytes of memory that `ops`, which run together, read and write, each once at most for each
/// array. Not counted is memory that they alone use.
Traffic trafficOf(llvm::ArrayRef<mlir::Operation *> ops);

} // namespace xtensor

#endif // XTENSOR_PASSES_WORK_H
