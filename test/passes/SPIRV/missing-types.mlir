// RUN: not xtensor-opt %s --split-input-file --compile-from=gpu --compile-to=spirv --target=vulkan,f64,i64 2>&1 | FileCheck %s
// RUN: xtensor-opt %s --split-input-file --compile-from=gpu --compile-to=spirv --target=vulkan,f16,s16,i16,i64,f64 | FileCheck %s --check-prefix=HAS

// What the device lacks is refused: upstream's conversion makes a buffer of float16 one of float32, of
// half as many elements.

// CHECK: error: a kernel uses 'f16', which vulkan does not have
// CHECK-NOT: rtarray<f32
// HAS: !spirv.rtarray<f16, stride=2>
module attributes {gpu.container_module} {
  gpu.module @kernel0 {
    gpu.func @kernel0(%x: memref<?xf16>, %y: memref<?xf16>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      %c0 = arith.constant 0 : index
      %v = memref.load %x[%c0] : memref<?xf16>
      memref.store %v, %y[%c0] : memref<?xf16>
      gpu.return
    }
  }
}
