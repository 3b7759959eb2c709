// RUN: xtensor-opt %s --compile-from=gpu --compile-to=spirv --target=vulkan | FileCheck %s

// Mesa (26.2) takes a number for what it was before it was rounded to float16, unless the conversion is
// to be kept as it is.

// CHECK:      %[[NARROW:.*]] = spirv.FConvert %{{.*}} {no_contraction} : f32 to f16
// CHECK-NEXT: spirv.FConvert %[[NARROW]] {no_contraction} : f16 to f32
module attributes {gpu.container_module} {
  gpu.module @kernel0 {
    gpu.func @kernel0(%x: memref<?xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %t = gpu.thread_id x
      %v = memref.load %x[%t] : memref<?xf32>
      %n = arith.truncf %v : f32 to f16
      %w = arith.extf %n : f16 to f32
      memref.store %w, %x[%t] : memref<?xf32>
      gpu.return
    }
  }
}
