// REQUIRES: spirv-cross
// RUN: xtensor-opt %s --compile-from=gpu --compile-to=msl --target=metal | FileCheck %s
// RUN: xtensor-opt %s --compile-from=gpu --compile-to=spirv --target=metal | FileCheck %s --check-prefix=SPIRV
// RUN: xtensor-opt %s --compile-from=gpu --compile-to=llvm --target=metal | FileCheck %s --check-prefix=HOST

// The text is the code of the kernel; nothing of SPIR-V is left. Buffer 1 keeps its index though buffer 0 is not used,
// numbers come after all buffers. A product is a product: as fma(x, y, 0.0) it would lose the sign of zero.

// CHECK:       gpu.module @kernel0 attributes {xtensor.code = "#pragma METAL fp math_mode(safe)\0A#pragma METAL fp contract(off)\0A#pragma STDC FP_CONTRACT OFF\0A
// CHECK-SAME:  kernel void kernel0(device {{[^,]*}} kernel0_buffer1 {{\[\[}}buffer(1)]], constant {{[^,]*}} kernel0_numbers {{\[\[}}buffer(2)]]
// CHECK-NOT:   fma(
// CHECK-SAME:  threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup)
// CHECK-NOT:   spirv.module

// Metal says nothing of how it keeps numbers, so that no mode asks for it.
// SPIRV:       spirv.FMul {{.*}} {no_contraction}
// SPIRV-NOT:   SignedZeroInfNanPreserve

// HOST:        llvm.mlir.global internal constant @kernel0_code("#pragma METAL
// HOST:        llvm.call @xt_call_launch
module attributes {gpu.container_module} {
  func.func @main(%x: memref<64xf32>, %y: memref<64xf32>) {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %n = arith.constant 3 : i32
    %a = memref.reinterpret_cast %x to offset: [0], sizes: [64], strides: [1] : memref<64xf32> to memref<?xf32>
    %b = memref.reinterpret_cast %y to offset: [0], sizes: [64], strides: [1] : memref<64xf32> to memref<?xf32>
    gpu.launch_func @kernel0::@kernel0 blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%a : memref<?xf32>, %b : memref<?xf32>, %n : i32)
    return
  }
  gpu.module @kernel0 {
    gpu.func @kernel0(%x: memref<?xf32>, %y: memref<?xf32>, %n: i32) workgroup(%s: memref<64xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %t = gpu.thread_id x
      %i = arith.index_cast %n : i32 to index
      %v = memref.load %y[%i] : memref<?xf32>
      %w = arith.mulf %v, %v : f32
      memref.store %w, %s[%t] : memref<64xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %u = memref.load %s[%i] : memref<64xf32, #gpu.address_space<workgroup>>
      memref.store %u, %y[%t] : memref<?xf32>
      gpu.return
    }
  }
}
