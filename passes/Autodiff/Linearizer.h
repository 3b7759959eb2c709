// The forward walk: reads primal code and builds its linear part.
#ifndef XTENSOR_AUTODIFF_LINEARIZER_H
#define XTENSOR_AUTODIFF_LINEARIZER_H

#include "Autodiff/Rules.h"

namespace xtensor {

/// `loc`, marked as derived; the user's line stays reachable.
mlir::Location derived(mlir::Location loc, llvm::StringRef how);
/// Of an argument that is the `what` ("tangent", "cotangent") of `argument`: its name with `what`
/// before it; `otherwise` if it has no name.
mlir::Location locOfArgument(llvm::StringRef what, mlir::Value argument, mlir::Location otherwise);

class Linearizer {
public:
  /// `linear` builds at the end of its insertion block.
  Linearizer(mlir::Operation *request);

  /// Linearises the ops of `block` that a tangent reaches.
  mlir::LogicalResult run(mlir::Block &block);
  /// The same for a block inside of an op: what it learns about sizes stays in there.
  mlir::LogicalResult runInside(mlir::Block &block);

  /// Whether the map itself is wanted, and not its transpose.
  bool isForward() const;

  /// The tangent of `v`; null means zero.
  mlir::Value tangent(mlir::Value v) const { return tangents.lookup(v); }
  mlir::Value tangentOrZero(mlir::Value v);
  /// Zeros of the type of the primal value `v`.
  mlir::Value zeroLike(mlir::Value v);
  void setTangent(mlir::Value v, mlir::Value t);
  /// `t` is the tangent of `v`, and the transpose knows its sizes.
  void setKnownTangent(mlir::Value v, mlir::Value t) { tangents[v] = t; }
  /// `v` is about to go: another value may take its place in memory.
  void forget(mlir::Value v) { tangents.erase(v); }
  /// `t` is an argument of the linear map, whose sizes the map itself lists.
  void setInput(mlir::Value v, mlir::Value t);

  /// The sizes of the dynamic dims of the primal value `v`.
  llvm::SmallVector<mlir::Value> sizes(mlir::Value v);
  /// The size of dim `dim` of `v`, which is dynamic.
  mlir::Value sizeOf(mlir::Value v, mlir::StringAttr dim);
  /// Inside a function a name has one size: it need not be asked for again.
  void knowSizes(ArrayType type, mlir::ValueRange sizes);

  mlir::ImplicitLocOpBuilder primal, linear;

private:
  bool isActive(mlir::Operation *op) const;
  mlir::Operation *expand(mlir::Operation *op);
  mlir::LogicalResult visit(mlir::Operation *op);
  void setConformed(mlir::Value y, mlir::Value t);
  mlir::Value linearizeElementwise(mlir::Operation *op, const Rule &rule);
  mlir::Value linearizeLinear(mlir::Operation *op, const Rule &rule);

  mlir::Operation *request;
  llvm::DenseMap<mlir::Value, mlir::Value> tangents;
  llvm::DenseMap<mlir::StringAttr, mlir::Value> sizeOfName;
  llvm::DenseSet<mlir::StringAttr> namesOfInputs;
};

/// Parts the map's body: first what does not depend on the arguments, then linear ops, each
/// of which does.
mlir::LogicalResult separate(LinearOp map);

} // namespace xtensor

#endif // XTENSOR_AUTODIFF_LINEARIZER_H
