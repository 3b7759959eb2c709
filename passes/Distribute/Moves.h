// Ops that need all elements along a dim that is split, but treat all positions along another dim
// alike: the split moves from one dim to the other, and back after the op.
#ifndef XTENSOR_DISTRIBUTE_MOVES_H
#define XTENSOR_DISTRIBUTE_MOVES_H

#include "Distribute/Distributor.h"

namespace xtensor {

/// If that sends less than to gather the operands, an `all_to_all` moves their split to a dim that
/// the op does not touch, and another one moves the split of the results back. Then each process
/// also computes only its part. Returns whether it did. `fixed` are further dims to which no split
/// can move. `isCheap`: what the op computes does not matter beside what it sends.
llvm::FailureOr<bool> moveSplit(Distributor &t, mlir::Operation *op,
                                llvm::ArrayRef<mlir::Attribute> touched,
                                llvm::ArrayRef<mlir::Attribute> fixed, bool isCheap);
/// The same, or else `Distributor::onWhole`.
llvm::LogicalResult onMoved(Distributor &t, mlir::Operation *op,
                            llvm::ArrayRef<mlir::Attribute> touched,
                            llvm::ArrayRef<mlir::Attribute> fixed = {});

} // namespace xtensor

#endif // XTENSOR_DISTRIBUTE_MOVES_H
