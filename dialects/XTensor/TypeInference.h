// Result types, as free functions. Nothing else infers types: the builders that TableGen
// generates, for C++ and for Python, call these functions.
#ifndef XTENSOR_TYPEINFERENCE_H
#define XTENSOR_TYPEINFERENCE_H

#include "XTensor/Dims.h"

namespace xtensor {

using Types = llvm::SmallVectorImpl<mlir::Type>;
using MaybeLoc = std::optional<mlir::Location>;

/// The union of the operands' dims with their element type, which must be the same.
mlir::LogicalResult inferElementwise(llvm::StringRef op, MaybeLoc loc, mlir::ValueRange operands,
                                     Types &types);
/// The union of the operands' dims with bool elements.
mlir::LogicalResult inferTest(llvm::StringRef op, MaybeLoc loc, mlir::ValueRange operands,
                              Types &types);
/// The union of the dims of `types`, or an error naming the dim whose sizes differ.
mlir::FailureOr<ArrayType> inferUnion(llvm::StringRef op, MaybeLoc loc,
                                      llvm::ArrayRef<ArrayType> types, mlir::Type element);
/// Checks that every one of `dims` is a dim of `type` and none is named twice.
mlir::LogicalResult checkDims(llvm::StringRef op, MaybeLoc loc, ArrayType type,
                              llvm::ArrayRef<mlir::Attribute> dims);
/// Type of a gather of `source` at `indices` along `along`; both it and scatter are checked.
/// `raises`: no index is inside of a dim of size 0.
mlir::FailureOr<ArrayType> inferGather(llvm::StringRef op, MaybeLoc loc, ArrayType source,
                                       mlir::ValueRange indices,
                                       llvm::ArrayRef<mlir::Attribute> along, bool raises);
/// Checks that a body ends with a yield, and that no op in it lacks an operand. An op does if a
/// tool has erased others, and MLIR verifies the op around the body first.
mlir::LogicalResult checkBody(mlir::Operation *op, llvm::StringRef what, mlir::Block &body);

} // namespace xtensor

#endif // XTENSOR_TYPEINFERENCE_H
