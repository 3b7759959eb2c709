// Writes a group of linalg ops as one scf.forall.

#ifndef XTENSOR_PASSES_GROUP_GROUPEMIT_H
#define XTENSOR_PASSES_GROUP_GROUPEMIT_H

#include "Group/GroupPlan.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace xtensor {

/// Builds the forall of `plan` at the insertion point of `builder`, with the
/// members in the order of `members`, replaces the results that are used
/// outside and erases the members.
mlir::scf::ForallOp emitGroup(mlir::OpBuilder &builder, const SharedDims &dims, const Plan &plan,
                              llvm::ArrayRef<mlir::Operation *> members);

/// The size of dim `dim` of `value`, read where `value` was allocated if that
/// can be seen.
mlir::OpFoldResult sizeOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                          unsigned dim);

/// What a loop starts from: the scalar of a fill, nothing (tensor.empty), or
/// the old contents of a tensor.
struct Init {
  mlir::Value scalar;
  mlir::Value contents;
};
Init initOf(mlir::Value init);

} // namespace xtensor

#endif // XTENSOR_PASSES_GROUP_GROUPEMIT_H
