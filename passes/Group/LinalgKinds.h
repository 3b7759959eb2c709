// The kinds of linalg ops that the grouping passes distinguish. Estimates.h holds costs.

#ifndef XTENSOR_PASSES_GROUP_LINALGKINDS_H
#define XTENSOR_PASSES_GROUP_LINALGKINDS_H

#include "Estimates.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace xtensor {

/// All loops parallel, one result, whose old value is not read and whose map is
/// a permutation: the op can be evaluated at the place of its consumer.
bool isElementwise(mlir::linalg::GenericOp op);

/// C[b.., m.., n..] += A[b.., m.., k..] * B[b.., k.., n..] with a free dim on
/// both sides: left alone, a library does it. If a factor is windows, loops over tiles do.
bool isGemm(mlir::linalg::LinalgOp op);

/// The scalar that `value` holds in every element (fill or splat constant), as
/// a value or an attribute; null otherwise.
mlir::OpFoldResult splatOf(mlir::Value value);

/// The single op that combines the old value of the output with the new
/// element in a reduction with one result; null otherwise.
mlir::Operation *reductionCombiner(mlir::linalg::GenericOp op);

/// Calls `action` on every block of tensor code in `root`: function and loop
/// bodies, not the bodies of linalg ops and not loops that are groups already.
void forEachBlock(mlir::Operation *root, llvm::function_ref<void(mlir::Block &)> action);

} // namespace xtensor

#endif // XTENSOR_PASSES_GROUP_LINALGKINDS_H
