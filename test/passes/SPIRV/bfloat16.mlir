// RUN: xtensor-opt %s --compile-from=gpu --compile-to=spirv --target=vulkan | FileCheck %s

// bfloat16 is 16 bits in memory and float32 in registers; a buffer has as many elements as before.

// CHECK:       spirv.GlobalVariable @kernel0_buffer0 bind(0, 0) : !spirv.ptr<!spirv.struct<(!spirv.rtarray<i16, stride=2> [0])>, StorageBuffer>
// CHECK:       %[[BITS:.*]] = spirv.Load "StorageBuffer" %{{.*}} : i16
// CHECK:       spirv.UConvert %[[BITS]] : i16 to i32
// CHECK:       spirv.FAdd {{.*}} : f32
// CHECK:       spirv.Store "StorageBuffer" %{{.*}}, %{{.*}} : i16
module attributes {gpu.container_module} {
  gpu.module @kernel0 {
    gpu.func @kernel0(%x: memref<?xi16>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      %c0 = arith.constant 0 : index
      %bits = memref.load %x[%c0] : memref<?xi16>
      %v = arith.bitcast %bits : i16 to bf16
      %w = arith.addf %v, %v : bf16
      %back = arith.bitcast %w : bf16 to i16
      memref.store %back, %x[%c0] : memref<?xi16>
      gpu.return
    }
  }
}
