// The rewrites of xtensor-simplify, by what they remove.
#ifndef XTENSOR_SIMPLIFY_PATTERNS_H
#define XTENSOR_SIMPLIFY_PATTERNS_H

#include "XTensor/XTensor.h"
#include "mlir/IR/PatternMatch.h"

namespace xtensor {

/// Broadcasts that the op reading them implies anyway.
void addBroadcastPatterns(mlir::RewritePatternSet &patterns);
/// Arithmetic on values that are one number everywhere.
void addConstantPatterns(mlir::RewritePatternSet &patterns);
/// Sums of products that are simpler as something else, or the other way round.
void addContractPatterns(mlir::RewritePatternSet &patterns);
/// Sums of arrays that are padded with zeros.
void addPadPatterns(mlir::RewritePatternSet &patterns);
/// What is computed of an array under two names of its dims.
void addRenamePatterns(mlir::RewritePatternSet &patterns);
/// Shifted reads of one array, each of which would be stored.
void addShiftPatterns(mlir::RewritePatternSet &patterns);
/// Whether these patterns make `pad` a slice of an array with a margin.
bool becomesSlice(PadOp pad);
/// Splits and merges of dims between elementwise ops.
void addSplitPatterns(mlir::RewritePatternSet &patterns);
/// Transposes of strided convolutions, by the phases of the stride.
void addStridedOverlapPatterns(mlir::RewritePatternSet &patterns);
/// Windows that are stored only to be added up.
void addWindowPatterns(mlir::RewritePatternSet &patterns);

/// Whether `op` only permutes dims.
bool isReorder(mlir::Operation *op);

/// Moves what is the same at every step of a loop out of it.
void hoistInvariants(mlir::Operation *root);

} // namespace xtensor

#endif // XTENSOR_SIMPLIFY_PATTERNS_H
