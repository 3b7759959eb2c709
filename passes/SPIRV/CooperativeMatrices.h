// Kernels in which a subgroup multiplies matrices together (SPV_KHR_cooperative_matrix).
#ifndef XTENSOR_PASSES_SPIRV_COOPERATIVEMATRICES_H
#define XTENSOR_PASSES_SPIRV_COOPERATIVEMATRICES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"

namespace xtensor::spirv {

bool multipliesMatrices(mlir::gpu::GPUModuleOp kernel);

/// Shaders with such matrices have to declare Vulkan's memory model. There, what threads hand to
/// each other has to be said: at each access to the workgroup's memory and at barriers.
void orderMemory(mlir::spirv::ModuleOp code);

} // namespace xtensor::spirv

#endif // XTENSOR_PASSES_SPIRV_COOPERATIVEMATRICES_H
