// How elements combine: the ops that reductions and scans are made of, and the element that each of
// them starts from. ToLinalg writes these ops; the passes after it find them in the bodies of
// linalg ops. Upstream's arith::getNeutralElement knows which ops are such ops.
#ifndef XTENSOR_PASSES_COMBINERS_H
#define XTENSOR_PASSES_COMBINERS_H

#include "XTensor/XTensor.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace xtensor {

//===- by their names in the dialect -------------------------------------------===//

/// What a reduction starts from, as an attribute of `type` (bool: i8). It is the result of a
/// reduction of nothing.
mlir::TypedAttr startOf(ReduceKind kind, mlir::Type type, bool isUnsigned);
/// One step of a reduction; null for argmax and argmin.
mlir::Value combine(mlir::OpBuilder &b, mlir::Location loc, ReduceKind kind, mlir::Value acc,
                    mlir::Value x, bool isUnsigned);

//===- in bodies of linalg ops -------------------------------------------------===//

/// The op that alone joins what output `out` held before with a new element; null if there is no
/// such op, or several.
mlir::Operation *combinerOf(mlir::linalg::GenericOp op, unsigned out);
/// Whether threads may join elements by this op in any order: sums, products and extrema.
bool mayReorder(mlir::Operation *op);
/// What the parts of a reduction start from; null if they cannot be combined. Like the reduction
/// itself, a sum starts from 0.
mlir::TypedAttr startOf(mlir::Operation *combiner);
/// What combined with x gives x, for every x: of a sum -0, since 0 + -0 is 0. Null if there is
/// none.
mlir::TypedAttr neutralOf(mlir::Operation *combiner);
/// A copy of `combiner` that joins `x` and then `y`.
mlir::Value combined(mlir::OpBuilder &b, mlir::Operation *combiner, mlir::Value x, mlir::Value y);
/// The other operand of `op` if exactly one of its two is `value`; null otherwise.
mlir::Value otherOperand(mlir::Operation *op, mlir::Value value);

} // namespace xtensor

#endif // XTENSOR_PASSES_COMBINERS_H
