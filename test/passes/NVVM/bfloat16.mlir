// RUN: xtensor-opt %s --compile-from=gpu --compile-to=ptx --target=cuda | FileCheck %s

// bfloat16 is 16 bits in memory and float32 in registers; float16 has instructions of its own.

// CHECK:       ld.global.b16
// CHECK-NOT:   bf16
// CHECK:       add.rn.f32
// CHECK:       st.global.b16
// CHECK:       add.rn.f16
// CHECK:       st.global.b16
module attributes {gpu.container_module} {
  gpu.module @kernel0 {
    gpu.func @kernel0(%x: memref<?xi16>, %y: memref<?xf16>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      %c0 = arith.constant 0 : index
      %bits = memref.load %x[%c0] : memref<?xi16>
      %v = arith.bitcast %bits : i16 to bf16
      %w = arith.addf %v, %v : bf16
      %back = arith.bitcast %w : bf16 to i16
      memref.store %back, %x[%c0] : memref<?xi16>
      %p = memref.load %y[%c0] : memref<?xf16>
      %q = arith.addf %p, %p : f16
      memref.store %q, %y[%c0] : memref<?xf16>
      gpu.return
    }
  }
}
