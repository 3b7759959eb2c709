// Elementwise ops after a matrix product, which the kernel of the product computes.
#ifndef XTENSOR_PASSES_GPU_EPILOGUE_H
#define XTENSOR_PASSES_GPU_EPILOGUE_H

#include "GPU/Points.h"

namespace xtensor::gpu {

/// Whether two memrefs may be parts of the same memory.
bool mayShareMemory(mlir::Value x, mlir::Value y);

/// An elementwise operation on the sums of a product: a bias, an activation, a residual.
struct Epilogue {
  mlir::linalg::GenericOp op;
  unsigned sum;                            // its input that is the product's output
  bool keepsSums;                          // others read them, too
  llvm::SmallVector<Beside> reads, writes; // its operands over the product's loops

  /// The one of `product`, if its kernel may do it: all between the two is without effect on it,
  /// and nothing that the product reads is overwritten.
  static std::optional<Epilogue> of(mlir::linalg::GenericOp product);
};

} // namespace xtensor::gpu

#endif // XTENSOR_PASSES_GPU_EPILOGUE_H
