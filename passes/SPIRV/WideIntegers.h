// 64-bit integers, for devices that do not have them.
#ifndef XTENSOR_PASSES_SPIRV_WIDEINTEGERS_H
#define XTENSOR_PASSES_SPIRV_WIDEINTEGERS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace xtensor::spirv {

/// Every i64 becomes two words, in buffers as in registers: what is computed is the same.
///
///   %z = arith.addi %x, %y : i64
///   ==>
///   %low, %carry = arith.addui_extended %x[0], %y[0] : i32, i1
///   %high = %x[1] + %y[1] + %carry
///   %z = %low, %high : vector<2xi32>
llvm::LogicalResult splitWideIntegers(mlir::gpu::GPUModuleOp kernel);

} // namespace xtensor::spirv

#endif // XTENSOR_PASSES_SPIRV_WIDEINTEGERS_H
