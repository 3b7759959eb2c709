// Derivatives of ops with regions: blocks under construction, the values that a region captures,
// and the values that need not be recomputed in each step of a loop.
#ifndef XTENSOR_AUTODIFF_REGIONS_H
#define XTENSOR_AUTODIFF_REGIONS_H

#include "Autodiff/Linearizer.h"
#include "Autodiff/Transposer.h"

namespace xtensor {

/// The block of an op that cannot be made yet, since what the block yields decides its types.
/// Until then it stands in a stand-in op, so that every value has a region.
class Draft {
public:
  /// At `b`'s insertion point.
  explicit Draft(mlir::ImplicitLocOpBuilder &b);
  mlir::Block &operator*() { return block; }
  mlir::Block *operator->() { return &block; }
  /// The block goes to the empty `region`; the stand-in is gone.
  void moveTo(mlir::Region &region);

private:
  CheckpointOp standIn;
  mlir::Block &block;
};

/// Adds values of `block`, and of the blocks in it, to `active`. A value is added if it has a
/// tangent because it depends on a value in `active`, or on one for which `isActive` holds.
void spreadActivity(mlir::Block &block, llvm::DenseSet<mlir::Value> &active,
                    llvm::function_ref<bool(mlir::Value)> isActive);

/// Which carries of a loop have tangents: `active` holds the arguments that have one on entry,
/// and receives those that the body gives one.
llvm::SmallVector<bool> activeCarries(mlir::Block &body, unsigned carries,
                                      llvm::DenseSet<mlir::Value> &active,
                                      llvm::function_ref<bool(mlir::Value)> isActive);

/// The linear carries of loop `op` in linear code, which start as `inits`: those that a linear
/// value reaches, and those that are zero from the start. Adds the linear values of `body` to
/// `linear`.
mlir::FailureOr<llvm::SmallVector<bool>> linearCarries(mlir::Operation *op, mlir::Block &body,
                                                       mlir::ValueRange inits,
                                                       llvm::DenseSet<mlir::Value> &linear);

/// Ops of `body` that need nothing of it, nor of `other`, move before `loop`.
void hoistInvariants(mlir::Block &body, mlir::Operation *loop, mlir::Region *other = nullptr);

/// Linear values from above that the regions of `op` use, in order of use.
llvm::SmallVector<mlir::Value> capturedLinear(Transposer &t, mlir::Operation *op);

/// Uses of `from` in `region` become uses of `to`.
void replaceUsesInside(mlir::Region &region, mlir::Value from, mlir::Value to);

/// Calls in `body`, and in the functions that these call, are replaced by the functions' code.
/// `request` is why.
mlir::LogicalResult inlineCalls(mlir::Operation *request, mlir::Block &body);

/// Scans back that read all carries of a marked scan (kReplayed) take its steps again instead.
void replaySteps(mlir::Operation *root);

/// The code of the op's region, or of its primal, in its place.
void dissolve(CheckpointOp op);
void dissolve(CustomDerivativeOp op);

/// Ops of `block` that nothing needs are gone, from what `l` knows too.
void eraseUnused(Linearizer &l, mlir::Block &block);

} // namespace xtensor

#endif // XTENSOR_AUTODIFF_REGIONS_H
