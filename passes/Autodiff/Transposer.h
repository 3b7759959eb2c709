// The backward walk: reads a linear map and builds its transpose.
#ifndef XTENSOR_AUTODIFF_TRANSPOSER_H
#define XTENSOR_AUTODIFF_TRANSPOSER_H

#include "Autodiff/Rules.h"
#include "mlir/IR/IRMapping.h"
#include <functional>
#include <memory>

namespace xtensor {

class Transposer {
public:
  Transposer(LinearOp map);
  /// For a block inside of an op that `outer` transposes. What is known out there is known in
  /// here, cotangents aside: those of values from above are the op's to hand on.
  Transposer(Transposer &outer, mlir::Block &block);

  /// Adds what `block` makes of the cotangents that are known to those of its operands.
  mlir::LogicalResult run(mlir::Block &block);
  /// Asked before an operand gets its share of the cotangent of the op's result: whether
  /// somebody else sees to it.
  std::function<bool(mlir::OpOperand &operand, mlir::Value ct)> isDeferred;

  /// Finds the linear values of `map`; an error where there is something else.
  mlir::LogicalResult markLinear(LinearOp map);
  /// The same of a value that was made since.
  void markLinear(mlir::Value v) { linear->insert(v); }
  bool isLinear(mlir::Value v) const { return linear->contains(v); }
  /// The value that stands for the non-linear `v` in the transposed code.
  mlir::Value residual(mlir::Value v) const;
  void setResidual(mlir::Value v, mlir::Value now) { residuals.map(v, now); }
  /// The cotangent of the linear value `v`; null means zero.
  mlir::Value cotangent(mlir::Value v) const { return cotangents.lookup(v); }
  mlir::Value cotangentOrZero(mlir::Value v);
  mlir::Value zero(ArrayType type);
  void accumulate(mlir::Value v, mlir::Value ct);
  /// The map itself is given this one.
  void setInput(mlir::Value v, mlir::Value ct);

  /// The product of `inputs`, summed over every dim that `keep` lacks.
  mlir::Value product(mlir::ValueRange inputs, ArrayType keep);
  /// The cotangent of what `op` scales.
  mlir::Value scaled(ScaleOp op, mlir::Value ct);
  /// The cotangent of the factor, where that is the linear one.
  mlir::Value scaledBy(ScaleOp op, mlir::Value ct);
  /// `fn` of `ct`, element by element; of what a select lets through, if it made `ct`.
  mlir::Value insideOfMask(mlir::Value ct, llvm::function_ref<mlir::Value(mlir::Value)> fn);
  /// The sizes of the dynamic dims of `type`.
  llvm::SmallVector<mlir::Value> sizes(ArrayType type);
  /// The number of each element of an array with the dims of `type`, the last dim fastest; i64, or
  /// of `element`, which must hold all if it is given.
  mlir::Value rowMajor(ArrayType type, mlir::Type element = {});

  /// What was worked out for the cotangent of one operand of an op and serves those of others.
  llvm::DenseMap<mlir::Operation *, std::pair<mlir::Value, mlir::Value>> shared;

  mlir::ImplicitLocOpBuilder b;

private:
  void knowPinnedSizes(mlir::Block &block);
  mlir::Value sizeOf(mlir::StringAttr name) const;
  void cloneResidual(mlir::Operation &op);
  mlir::Value insideOfMasks(mlir::Value ct, llvm::function_ref<mlir::Value(mlir::Value)> fn,
                            unsigned depth = 0);
  mlir::Value sum(mlir::Value x, mlir::Value y);
  /// Whether `ct` has no zeros for which it is known that they stand for "not chosen".
  bool isFull(mlir::Value ct, unsigned depth = 0);

  Transposer *outer = nullptr;
  std::shared_ptr<llvm::DenseSet<mlir::Value>> linear;
  mlir::IRMapping residuals;
  llvm::DenseMap<mlir::Value, mlir::Value> cotangents;
  std::shared_ptr<llvm::DenseMap<mlir::Value, bool>> full;
  llvm::DenseMap<mlir::StringAttr, mlir::Value> sizeOfName;
};

/// Marks the products that guard-selects has seen before a select. Where it made a `scale` of a
/// product, only zeros that a select made need to win; where the factor of a `scale` is the linear
/// one, zeros that a select made must win beside those of what it scales.
constexpr llvm::StringLiteral kGuardAttr = "xtensor.guard";

/// Adds to `linear` all values of `block` that depend on it; an error where one does not do
/// so linearly.
mlir::LogicalResult collectLinear(mlir::Block &block, llvm::DenseSet<mlir::Value> &linear);
/// The same for a map, which must yield nothing but linear values and zeros.
mlir::LogicalResult collectLinear(LinearOp map, llvm::DenseSet<mlir::Value> &linear);
/// Whether `values` are linear, or zero; an error at `op` where one is not.
mlir::LogicalResult checkAllLinear(mlir::Operation *op, mlir::ValueRange values,
                                   const llvm::DenseSet<mlir::Value> &linear);
/// Whether `v` is known to be zero for every tangent, but for gaps: a NaN that a window leaves has
/// no tangent.
bool isZero(mlir::Value v);
/// Whether `op` gives the same for every tangent, since tangents are numbers of one size. What
/// reads it is a coefficient.
bool isSameForAllTangents(mlir::Operation *op);
/// Calls `fn` for each operand of `op` and of the ops nested in it.
void forEachUse(mlir::Operation *op, llvm::function_ref<void(mlir::OpOperand &)> fn);

} // namespace xtensor

#endif // XTENSOR_AUTODIFF_TRANSPOSER_H
