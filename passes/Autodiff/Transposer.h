// The backward walk: reads a linear map and builds its transpose.
#ifndef XTENSOR_AUTODIFF_TRANSPOSER_H
#define XTENSOR_AUTODIFF_TRANSPOSER_H

#include "Autodiff/Rules.h"
#include "mlir/IR/IRMapping.h"

namespace xtensor {

class Transposer {
public:
  Transposer(LinearOp map);

  /// Adds what `block` makes of the cotangents that are known to those of its operands.
  mlir::LogicalResult run(mlir::Block &block);

  bool isLinear(mlir::Value v) const { return linear.contains(v); }
  /// The value that stands for the non-linear `v` in the transposed code.
  mlir::Value residual(mlir::Value v) const { return residuals.lookupOrDefault(v); }
  /// The cotangent of the linear value `v`; null means zero.
  mlir::Value cotangent(mlir::Value v) const { return cotangents.lookup(v); }
  mlir::Value cotangentOrZero(mlir::Value v);
  mlir::Value zero(ArrayType type);
  void accumulate(mlir::Value v, mlir::Value ct);

  /// The product of `inputs`, summed over every dim that `keep` lacks.
  mlir::Value product(mlir::ValueRange inputs, ArrayType keep);
  /// The sizes of the dynamic dims of `type`.
  llvm::SmallVector<mlir::Value> sizes(ArrayType type);

  mlir::ImplicitLocOpBuilder b;
  llvm::DenseSet<mlir::Value> linear;

private:
  mlir::IRMapping residuals;
  llvm::DenseMap<mlir::Value, mlir::Value> cotangents;
  llvm::DenseMap<mlir::StringAttr, mlir::Value> sizeOfName;
};

/// Adds to `linear` all values of `block` that depend on it; an error where one does not do
/// so linearly.
mlir::LogicalResult collectLinear(mlir::Block &block, llvm::DenseSet<mlir::Value> &linear);
/// Calls `fn` for each operand of `op` and of the ops nested in it.
void forEachUse(mlir::Operation *op, llvm::function_ref<void(mlir::OpOperand &)> fn);

} // namespace xtensor

#endif // XTENSOR_AUTODIFF_TRANSPOSER_H
