// Conversions of kernels to SPIR-V that upstream's conversion lacks.
#ifndef XTENSOR_PASSES_SPIRV_KERNELPATTERNS_H
#define XTENSOR_PASSES_SPIRV_KERNELPATTERNS_H

#include "mlir/Dialect/SPIRV/Transforms/SPIRVConversion.h"

namespace xtensor::spirv {

/// Kernels with push constants, workgroup memory, barriers for all memory.
void populateKernelPatterns(const mlir::SPIRVTypeConverter &types,
                            mlir::RewritePatternSet &patterns);

} // namespace xtensor::spirv

#endif // XTENSOR_PASSES_SPIRV_KERNELPATTERNS_H
