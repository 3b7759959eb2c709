// Buffers from which kernels load, and to which they store, several elements at a time.
#ifndef XTENSOR_PASSES_SPIRV_VECTORBUFFERS_H
#define XTENSOR_PASSES_SPIRV_VECTORBUFFERS_H

#include "GPU/Profile.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace xtensor::spirv {

/// A buffer of SPIR-V has one element type, and pointers to it cannot be cast. So a buffer whose
/// loads and stores are vectors of one width becomes an array of such vectors, of which scalar
/// loads take an element; all other loads and stores of vectors are written out.
///
///   %v = vector.load %x[%i] : memref<?xf32>, vector<4xf32>
///   ==>  %v = memref.load %x[%i / 4] : memref<?xvector<4xf32>>
void convertVectorBuffers(mlir::gpu::GPUModuleOp kernel, const Profile &device);

/// Writes all loads and stores of vectors of a buffer out.
void accessByElement(mlir::Value buffer);

} // namespace xtensor::spirv

#endif // XTENSOR_PASSES_SPIRV_VECTORBUFFERS_H
