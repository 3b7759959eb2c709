// How arrays lie in memory and which type their elements have inside of bodies.
#ifndef XTENSOR_TOLINALG_TYPECONVERSION_H
#define XTENSOR_TOLINALG_TYPECONVERSION_H

#include "XTensor/Dims.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace xtensor {

/// Element type in memory: bool is i8 (0 or 1), integers are signless.
mlir::Type storageType(mlir::Type element);
/// Element type for arithmetic: bool is i1, half precision is f32.
mlir::Type computeType(mlir::Type element);
inline bool isUnsigned(mlir::Type element) {
  return element.isUnsignedInteger() || element.isInteger(1);
}
inline bool isHalf(mlir::Type element) { return element.isF16() || element.isBF16(); }

mlir::RankedTensorType tensorType(ArrayType type);
/// Arrays become tensors, other types stay.
mlir::Type convertType(mlir::Type type);
llvm::SmallVector<mlir::Type> convertTypes(mlir::TypeRange types);

/// A value in memory form for arithmetic, and back. A value that has its memory type already is
/// stored as it is.
mlir::Value load(mlir::OpBuilder &b, mlir::Location loc, mlir::Value stored, mlir::Type element);
mlir::Value store(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value, mlir::Type element);
/// An integer of any width as an i64, and as an index.
mlir::Value toI64(mlir::OpBuilder &b, mlir::Location loc, mlir::Value stored, mlir::Type element);

/// Gives `func` its tensor types and notes the named ones as `xtensor.type`. The old block
/// arguments stay, after the new ones, until `dropOldArguments`.
void convertSignature(mlir::func::FuncOp func);
void dropOldArguments(mlir::func::FuncOp func);

} // namespace xtensor

#endif // XTENSOR_TOLINALG_TYPECONVERSION_H
