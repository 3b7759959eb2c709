// Converts kernels over flat buffers to the LLVM dialect. Upstream's patterns handle other kinds
// of kernels.
#ifndef XTENSOR_PASSES_NVVM_KERNELPATTERNS_H
#define XTENSOR_PASSES_NVVM_KERNELPATTERNS_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Transforms/DialectConversion.h"

namespace xtensor::nvvm {

/// A flat buffer is the address of its first element.
void addFlatMemory(mlir::LLVMTypeConverter &types);

/// Kernels, their memory, loads and stores; they come before upstream's.
void populateKernelPatterns(const mlir::LLVMTypeConverter &types,
                            mlir::RewritePatternSet &patterns);

} // namespace xtensor::nvvm

#endif // XTENSOR_PASSES_NVVM_KERNELPATTERNS_H
