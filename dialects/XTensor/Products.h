// Which products are fused with a sum: one rounding instead of two.
#ifndef XTENSOR_PRODUCTS_H
#define XTENSOR_PRODUCTS_H

#include "XTensor/XTensor.h"

namespace xtensor {

/// The number of the operand of a sum or difference that is a product fused with it.
constexpr llvm::StringLiteral kFusedAttr = "xtensor.fused";
/// On a function: each product is rounded. Whether a sum finds its product depends on the ops
/// between them, and these differ with the number of processes.
constexpr llvm::StringLiteral kUnfusedAttr = "xtensor.unfused";

/// The products that a sum or difference of floats has for operands, if they are computed beside it
/// and have its dims.
llvm::SmallVector<MulOp, 2> productsOf(mlir::Operation *sum);

/// The product that is not rounded before it is added, or null. This depends on nothing but how
/// the sum is computed. So wherever a program computes it again, beside whatever other uses of the
/// product, it has the same value. Of two products neither is fused: x * y - y * x is 0.
MulOp fusedProduct(mlir::Operation *sum);

/// The product that `sum` is marked with (xtensor-fuse-products), or null.
MulOp markedProduct(mlir::Operation *sum);

} // namespace xtensor

#endif // XTENSOR_PRODUCTS_H
