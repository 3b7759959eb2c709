// Programs that give the same bits for any number of processes: ops whose rounding depends on the
// sizes of their operands work on blocks, of which there is a fixed number along each split dim.
#ifndef XTENSOR_DISTRIBUTE_BLOCKS_H
#define XTENSOR_DISTRIBUTE_BLOCKS_H

#include "Distribute/Distributor.h"

namespace xtensor {

/// Whether the order in which an op adds or multiplies may depend on sizes of dims that it does not
/// name.
bool roundsBySize(mlir::Operation *op);
/// Some positions along a dim; `x` itself if these are all.
mlir::Value sliced(Distributor &t, mlir::Value x, mlir::StringAttr dim, int64_t offset,
                   int64_t size);
/// One after another along a dim.
mlir::Value joined(Distributor &t, llvm::ArrayRef<mlir::Value> parts, mlir::StringAttr dim);
/// Some rows of this process's part, in memory of their own: a halo that sends nothing. Loops
/// before and after are not fused with it, and what reads it finds the same strides for any number
/// of processes.
mlir::Value ownRows(Distributor &t, mlir::Value x, mlir::StringAttr dim, const MeshDim &along,
                    int64_t offset, int64_t size);
/// After the types of results were inferred, and with the builder after the op, which touches these
/// dims: what uses it gets these values. They are the op's own, or in a deterministic program those
/// of its blocks.
llvm::FailureOr<llvm::SmallVector<mlir::Value>> useBlocks(Distributor &t, mlir::Operation *op,
                                                          llvm::ArrayRef<mlir::Attribute> touched);
/// The blocks of the result of an op that adds or multiplies, combined over `summed`, which are
/// dims of its operands, by one tree for any number of processes.
llvm::FailureOr<mlir::Value> reducedBlocks(Distributor &t, mlir::Operation *op, ReduceKind kind,
                                           llvm::ArrayRef<mlir::Attribute> touched,
                                           llvm::ArrayRef<mlir::Attribute> summed);

} // namespace xtensor

#endif // XTENSOR_DISTRIBUTE_BLOCKS_H
