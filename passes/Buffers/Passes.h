// Passes from tensors to buffers that the caller and one arena provide.
#ifndef XTENSOR_PASSES_BUFFERS_PASSES_H
#define XTENSOR_PASSES_BUFFERS_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace xtensor {

#define GEN_PASS_DECL
#include "Buffers/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "Buffers/Passes.h.inc"

/// Of an argument whose memory the caller gives away.
inline constexpr llvm::StringLiteral kDonatedAttr = "xtensor.donated";
/// Of a result that takes it: the number of the argument. Of the module, a number for each result
/// of @main, -1 for one that has memory of its own.
inline constexpr llvm::StringLiteral kReusedAttr = "xtensor.reused";

/// The phase "buffers": tensors in, memrefs in one arena out.
void buildBuffersPipeline(mlir::OpPassManager &pm);

/// A new row-major buffer of the shape of `like`, at the insertion point (LoopBuffers.cpp).
mlir::Value allocateRowMajor(mlir::OpBuilder &b, mlir::Location loc, mlir::Value like);

/// The dims that a view drops, found by matching its sizes with those of its type in order. Any
/// such match shows the same elements. None if the sizes do not match (VerifyBuffers.cpp).
std::optional<llvm::SmallBitVector> droppedBySizes(mlir::memref::SubViewOp view);

/// Whether SubViewOp::getDroppedDims gives these dims. Where more dims have size 1 than are
/// dropped, it compares the strides of the view with those of its source. It reads an answer that
/// it does not have if a step changed a stride.
bool isDroppedUpstream(mlir::memref::SubViewOp view, const llvm::SmallBitVector &dropped);

/// What passes on memory presume (VerifyBuffers.cpp): an error at the first op that has no such
/// type.
mlir::LogicalResult checkBuffers(mlir::Operation *root);

/// The interfaces that bufferization looks up by dialect.
void registerBufferInterfaces(mlir::DialectRegistry &registry);
/// Of them, that of xtensor.library (LibraryBuffers.cpp).
void registerLibraryBuffers(mlir::DialectRegistry &registry);

} // namespace xtensor

#endif // XTENSOR_PASSES_BUFFERS_PASSES_H
