// Memrefs as what crosses a call: one pointer, and the sizes that its type leaves open.
#ifndef XTENSOR_PASSES_CPU_MEMREFPOINTERS_H
#define XTENSOR_PASSES_CPU_MEMREFPOINTERS_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace xtensor::cpu {

/// The LLVM values that `memrefFrom` needs to make `memref` again.
llvm::SmallVector<mlir::Value> takeApart(mlir::OpBuilder &b, mlir::Location loc,
                                         const mlir::LLVMTypeConverter &types, mlir::Value memref);
/// A memref of `type` over `parts`.
mlir::Value memrefFrom(mlir::OpBuilder &b, mlir::Location loc, const mlir::LLVMTypeConverter &types,
                       mlir::MemRefType type, mlir::ValueRange parts);

} // namespace xtensor::cpu

#endif // XTENSOR_PASSES_CPU_MEMREFPOINTERS_H
