// What a call passes: each memref as one pointer, and the sizes that its type leaves open.
#ifndef XTENSOR_PASSES_CPU_MEMREFPOINTERS_H
#define XTENSOR_PASSES_CPU_MEMREFPOINTERS_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

namespace xtensor::cpu {

/// The LLVM values that `memrefFrom` needs to make `memref` again.
llvm::SmallVector<mlir::Value> takeApart(mlir::OpBuilder &b, mlir::Location loc,
                                         const mlir::LLVMTypeConverter &types, mlir::Value memref);
/// A memref of `type` over `parts`.
mlir::Value memrefFrom(mlir::OpBuilder &b, mlir::Location loc, const mlir::LLVMTypeConverter &types,
                       mlir::MemRefType type, mlir::ValueRange parts);

/// What a piece of code needs of its surroundings when it becomes a function of its own: constants
/// and vectors of offsets are made there again, the rest is passed in parts that LLVM knows.
class Capture {
public:
  Capture(mlir::OpBuilder &b, mlir::Location loc, const mlir::LLVMTypeConverter &types,
          mlir::ValueRange captured);
  /// What to pass, made where `b` stood.
  llvm::ArrayRef<mlir::Value> parts() const { return allParts; }
  /// Makes the captured values again, from `parts` as they arrive, for the body that `map` is for.
  void restore(mlir::OpBuilder &b, mlir::ValueRange parts, mlir::IRMapping &map) const;

private:
  void add(mlir::OpBuilder &b, mlir::Value v);

  mlir::Location loc;
  const mlir::LLVMTypeConverter &types;
  llvm::SmallVector<mlir::Value> again, passed, allParts; // `again`: operands before users
  llvm::SmallDenseSet<mlir::Value> seen;
  llvm::SmallVector<unsigned> firstPart; // of each that is passed, and the end
};

/// Bytes of an element in memory.
int64_t bytesOf(mlir::Type element);
/// The address of the first element of `memref`, whatever its offset, as a pointer.
mlir::Value addressOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value memref);

} // namespace xtensor::cpu

#endif // XTENSOR_PASSES_CPU_MEMREFPOINTERS_H
