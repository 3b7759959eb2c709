// Ops of the host inside a kernel: array operations, distributed over its threads, and scalar code.
#ifndef XTENSOR_PASSES_GPU_ARRAYOP_H
#define XTENSOR_PASSES_GPU_ARRAYOP_H

#include "GPU/Points.h"

namespace xtensor::gpu {

/// Emits an array operation for `team`: a loop over points, a shared reduction or a shared scan.
/// Waiting for earlier accesses is part of it in a workgroup.
void emitArrayOp(Points &points, const Team &team);
/// A loop over the points: each belongs to one thread (PointLoop.cpp).
void emitPointLoop(Points &points, const Team &team);

/// Clones scalar code into the kernel, reads of memory included. False if an op has no place there.
bool emitScalar(Kernel &kernel, mlir::Operation &op);
/// Clones an op into the kernel. `emitBlock` fills the copy of each of its blocks, terminator
/// included; false if it did not.
bool cloneInto(Kernel &kernel, mlir::Operation &op,
               llvm::function_ref<bool(mlir::Block &)> emitBlock);
/// The memory that an operation reads and writes, views seen through.
void accessesOf(Kernel &kernel, mlir::Operation &op, llvm::SmallVectorImpl<mlir::Value> &reads,
                llvm::SmallVectorImpl<mlir::Value> &writes);

} // namespace xtensor::gpu

#endif // XTENSOR_PASSES_GPU_ARRAYOP_H
