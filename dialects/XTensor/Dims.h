// All matching of names: unions, differences, fresh names, the source of a size, and `conform`,
// which brings a value to given dims. No other file compares names of dims to decide what an op
// means.
#ifndef XTENSOR_DIMS_H
#define XTENSOR_DIMS_H

#include "XTensor/XTensor.h"

namespace xtensor {

inline ArrayType arrayType(mlir::Value v) { return llvm::cast<ArrayType>(v.getType()); }
/// Whether `v` is an array of floats: only those have derivatives.
inline bool isFloat(mlir::Value v) {
  auto type = llvm::dyn_cast<ArrayType>(v.getType());
  return type && type.isFloat();
}

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

//===- types ---------------------------------------------------------------===//

/// `i: 4, j: ?`, for messages.
std::string describeDims(ArrayType type);

/// The union of dims in order of first appearance, with `element`; null when two sizes of
/// one name disagree (`?` agrees with `?` alone), in which case `conflict` (if given) receives
/// that name.
ArrayType unionOf(llvm::ArrayRef<ArrayType> types, mlir::Type element,
                  mlir::StringAttr *conflict = nullptr);
/// Without `dims`.
ArrayType minus(ArrayType type, llvm::ArrayRef<mlir::Attribute> dims);
/// With `dims` (a permutation of the type's) as order.
ArrayType reordered(ArrayType type, llvm::ArrayRef<mlir::StringAttr> dims);
ArrayType reordered(ArrayType type, llvm::ArrayRef<mlir::Attribute> dims);
/// With `name` of `size` as the first dim.
ArrayType withLeading(ArrayType type, mlir::StringAttr name, int64_t size);
/// With other sizes of the same dims, in order.
ArrayType withShape(ArrayType type, llvm::ArrayRef<int64_t> shape);
/// With another size of one dim.
ArrayType withSize(ArrayType type, mlir::Attribute dim, int64_t size);
/// The dims of `a` that `b` lacks.
llvm::SmallVector<mlir::Attribute> lacking(ArrayType a, ArrayType b);
/// The dims whose size is `?`, in order.
llvm::SmallVector<mlir::StringAttr> dynamicDims(ArrayType type);
/// The axis in `order` at which `dims` begin, if they are neighbours there, in this order.
std::optional<unsigned> findNeighbours(llvm::ArrayRef<mlir::StringAttr> order,
                                       llvm::ArrayRef<mlir::Attribute> dims);
/// The dims as attributes, in order.
llvm::SmallVector<mlir::Attribute> dimsOf(ArrayType type);
/// `base~N`: a name that none of `types` has and no user can spell.
mlir::StringAttr freshName(mlir::StringAttr base, llvm::ArrayRef<ArrayType> types);

//===- values --------------------------------------------------------------===//

/// A number without dims.
mlir::Value scalar(mlir::OpBuilder &b, mlir::Location loc, mlir::Type element, double value);
/// Zeros of `type`; `sizes` as for `conform`.
mlir::Value zeros(mlir::OpBuilder &b, mlir::Location loc, ArrayType type, mlir::ValueRange sizes);
/// `v` as exactly `type`: dims that `type` lacks are summed, missing ones broadcast, the
/// order set. `sizes` has one value per dynamic dim of `type` (only those that `v` lacks are
/// read).
mlir::Value conform(mlir::OpBuilder &b, mlir::Location loc, mlir::Value v, ArrayType type,
                    mlir::ValueRange sizes);
/// One size per dynamic dim of `v`, taken from as far up as names reach.
llvm::SmallVector<mlir::Value> sizesOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value v);
/// Whether `v` is known to hold `value` everywhere (signs of zero are told apart only by
/// `isNegativeZero`).
bool isSplat(mlir::Value v, double value);
/// Whether `v` is known to hold one finite float of positive sign everywhere.
bool isPositiveSplat(mlir::Value v);
/// Whether `v` is known to be -0.0 everywhere, the neutral element of float addition.
bool isNegativeZero(mlir::Value v);
/// Whether `v` is known to be 0 everywhere, and of floats 0.0.
bool isPositiveZero(mlir::Value v);

} // namespace xtensor

#endif // XTENSOR_DIMS_H
