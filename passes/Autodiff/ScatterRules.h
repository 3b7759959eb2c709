// The rules of updates by position, for the tables of linear ops and of choosers.
#ifndef XTENSOR_AUTODIFF_SCATTERRULES_H
#define XTENSOR_AUTODIFF_SCATTERRULES_H

#include "Autodiff/Linearizer.h"
#include "Autodiff/Transposer.h"

namespace xtensor {

// scatter add and set: linear in target and updates.
mlir::Value addTangents(Linearizer &l, mlir::Operation *op, llvm::ArrayRef<mlir::Value> tangents);
mlir::Value gatherBack(Transposer &t, mlir::Operation *op, unsigned i, mlir::Value ct);
mlir::Value setTangents(Linearizer &l, mlir::Operation *op, llvm::ArrayRef<mlir::Value> tangents);
mlir::Value gatherByLast(Transposer &t, mlir::Operation *op, unsigned i, mlir::Value ct);

// scatter max and min: evenly to the target and the updates that tie.
mlir::Value shareAmongWriters(Linearizer &l, mlir::Operation *op);
// scatter mul: each update meets the product of the others.
mlir::Value recurProducts(Linearizer &l, mlir::Operation *op);

// accumulate: linear in start and terms; factors meet the states they found.
mlir::Value recurTangents(Linearizer &l, mlir::Operation *op, llvm::ArrayRef<mlir::Value> tangents);
mlir::Value recurBackwards(Transposer &t, mlir::Operation *op, unsigned i, mlir::Value ct);

/// Where `x` is what was chosen: `y`, or a NaN, which always wins.
mlir::Value owns(mlir::ImplicitLocOpBuilder &b, mlir::Value x, mlir::Value y);
llvm::SmallVector<mlir::Value> residuals(Transposer &t, mlir::ValueRange values);

} // namespace xtensor

#endif // XTENSOR_AUTODIFF_SCATTERRULES_H
