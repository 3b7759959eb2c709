// Integers and elements of 8 and 16 bits, for devices that do not support all of their operations.
#ifndef XTENSOR_PASSES_SPIRV_NARROWINTEGERS_H
#define XTENSOR_PASSES_SPIRV_NARROWINTEGERS_H

#include "GPU/Profile.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace xtensor::spirv {

/// Integers without arithmetic of their width are computed in 32 bits, of which the others stay 0.
/// Elements that a buffer cannot hold by themselves lie in words of 32 bits; a store changes its
/// bits of a word atomically, as neighbours are other threads' to write.
///
///   %z = arith.addi %x, %y : i16
///   ==>  %z = (%x + %y) & 0xffff : i32
///
///   memref.store %x, %a[%i] : memref<?xi16>
///   ==>  %a[%i / 2] &= ~(0xffff << 16 * (%i % 2));  %a[%i / 2] |= %x << 16 * (%i % 2)
llvm::LogicalResult widenNarrowIntegers(mlir::gpu::GPUModuleOp kernel, const Profile &device);

} // namespace xtensor::spirv

#endif // XTENSOR_PASSES_SPIRV_NARROWINTEGERS_H
