// What the grouping passes ask about a linalg op before they move it: its
// size, what it costs per element, and which kind it is. Sizes that are only
// known at run time count as large.

#ifndef XTENSOR_PASSES_GROUP_LINALGKINDS_H
#define XTENSOR_PASSES_GROUP_LINALGKINDS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/Support/MathExtras.h"

namespace xtensor {

/// A dynamic size in estimates of work.
constexpr int64_t kDynamicEstimate = 4096;

/// `size`, or the estimate if it is dynamic.
inline int64_t estimate(int64_t size) {
  return mlir::ShapedType::isDynamic(size) ? kDynamicEstimate : size;
}

/// A product with one more size in it, saturated far above any threshold: of several open dims it
/// is soon beyond 64 bits.
inline int64_t estimate(int64_t product, int64_t size) {
  constexpr uint64_t kSaturated = uint64_t(1) << 48;
  return std::min(kSaturated, llvm::SaturatingMultiply<uint64_t>(product, estimate(size)));
}

/// Product of the loop ranges, saturated as well.
int64_t estimateIterations(mlir::linalg::LinalgOp op);

/// Cost of one evaluation of the body, in simple vector instructions.
unsigned bodyCost(mlir::linalg::LinalgOp op);

/// True if evaluating the body twice is never worth a saved load: calls of
/// math functions, divisions, gathers.
bool hasExpensiveBody(mlir::linalg::LinalgOp op);

/// All loops parallel, one result, whose old value is not read and whose map is
/// a permutation: the op can be evaluated at the place of its consumer.
bool isElementwise(mlir::linalg::GenericOp op);

/// C[b.., m.., n..] += A[b.., m.., k..] * B[b.., k.., n..] with a free dim on
/// both sides: left alone, a library does it.
bool isGemm(mlir::linalg::LinalgOp op);

/// The scalar that `value` holds in every element (fill or splat constant), as
/// a value or an attribute; null otherwise.
mlir::OpFoldResult splatOf(mlir::Value value);

/// The single op that combines the old value of the output with the new
/// element in a reduction with one result; null otherwise.
mlir::Operation *reductionCombiner(mlir::linalg::GenericOp op);

/// Calls `action` on every block of tensor code in `root`: function and loop
/// bodies, not the bodies of linalg ops and not loops that are groups already.
void forEachBlock(mlir::Operation *root, llvm::function_ref<void(mlir::Block &)> action);

} // namespace xtensor

#endif // XTENSOR_PASSES_GROUP_LINALGKINDS_H
