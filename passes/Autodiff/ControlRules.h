// The rules of ops with regions, one file per op. Each rule has three functions: it linearizes the
// op, it transposes the op, and it tells which values are linear.
#ifndef XTENSOR_AUTODIFF_CONTROLRULES_H
#define XTENSOR_AUTODIFF_CONTROLRULES_H

#include "Autodiff/Regions.h"

namespace xtensor {

Rule applyRule();
Rule checkpointRule();
Rule customDerivativeRule();
Rule scanRule();
Rule switchRule();
Rule whileRule();

mlir::LogicalResult linearizeCheckpoint(Linearizer &l, mlir::Operation *op);
mlir::LogicalResult linearizeScan(Linearizer &l, mlir::Operation *op);

/// A name for the steps of a loop. Two loops may take different numbers of steps, and a name has
/// one size, so no other loop of the program has it, nor is it one of `others`.
mlir::StringAttr nameOfSteps(mlir::Operation *op, llvm::ArrayRef<mlir::StringAttr> others);

/// The transpose of `from`, whose regions take no arguments: `make` gives the op with one
/// result per captured linear value, and its regions receive the transposes of `from`'s.
mlir::LogicalResult
transposeRegions(Transposer &t, mlir::Operation *from,
                 llvm::function_ref<mlir::Operation *(llvm::ArrayRef<mlir::Type>)> make);
/// The linear values of ops whose regions take no arguments. A result is linear if some region
/// yields a linear value for it.
mlir::LogicalResult verifyRegions(mlir::Operation *op, llvm::DenseSet<mlir::Value> &linear);

} // namespace xtensor

#endif // XTENSOR_AUTODIFF_CONTROLRULES_H
