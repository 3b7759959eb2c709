// Elements of other processes along a dim: how they are asked for, and in as few messages as
// needed.
#ifndef XTENSOR_DISTRIBUTE_HALOS_H
#define XTENSOR_DISTRIBUTE_HALOS_H

#include "Distribute/Distributor.h"

namespace xtensor {

/// Of each process i along a dim of the mesh, `size` positions along a dim of an array, from
/// start + i * step.
struct Rows {
  const MeshDim *along;
  mlir::StringAttr dim;
  int64_t start, step, size;

  Rows with(int64_t start, int64_t step, int64_t size) const {
    return {along, dim, start, step, size};
  }
  /// From the first to the last of the positions offset + stride * these, and `reach` - 1 more.
  Rows scaled(int64_t offset, int64_t stride, int64_t reach) const {
    return with(offset + stride * start, stride * step, stride * (size - 1) + reach);
  }
  /// Whether an array of `n` has all of them.
  bool isWithin(int64_t n) const;
  /// Whether an array of `n` has one of them.
  bool meets(int64_t n) const;
  /// The most of them that one process lacks, of an array in parts of `each`.
  int64_t received(int64_t each) const;
};

/// The numbers of the positions, as an array of int64 along the dim.
mlir::Value positions(mlir::OpBuilder &b, mlir::Location loc, const Rows &rows);
/// Elements that this process has: any where the array does not have the position. Null: it is
/// empty.
mlir::Value localRows(mlir::OpBuilder &b, mlir::Location loc, mlir::Value whole, const Rows &rows);
/// `x`, which has these positions, where they are those of an array of `n`; else `outside`.
mlir::Value inside(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, const Rows &rows,
                   int64_t n, mlir::Value outside);
/// Elements of the array whose parts are `x`, zeros where it does not have the position.
mlir::Value halo(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, const Rows &rows);
/// Removes what is not used, joins halos of one array that overlap, and gathers the array where
/// that sends less.
/// `keepsOwn`: those that send nothing stay alone (Blocks.h).
void settleHalos(mlir::OpBuilder &b, mlir::func::FuncOp func, bool keepsOwn);

} // namespace xtensor

#endif // XTENSOR_DISTRIBUTE_HALOS_H
