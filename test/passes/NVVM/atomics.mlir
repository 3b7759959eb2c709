// RUN: xtensor-opt %s --compile-from=gpu --compile-to=ptx --target=cuda | FileCheck %s

// One instruction where there is one, and the loop that compares and exchanges.

// CHECK: atom.global.add.f32
// CHECK: atom.global.add.f64
// CHECK: atom.global.max.u32
// CHECK: mul.lo.s32
// CHECK: atom.relaxed.gpu.global.cas.b32
module attributes {gpu.container_module} {
  gpu.module @kernel0 {
    gpu.func @kernel0(%x: memref<?xf32>, %y: memref<?xf64>, %n: memref<?xi32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      %f = arith.constant 0.5 : f32
      %d = arith.constant 0.5 : f64
      %0 = memref.atomic_rmw addf %f, %x[%c0] : (f32, memref<?xf32>) -> f32
      %1 = memref.atomic_rmw addf %d, %y[%c0] : (f64, memref<?xf64>) -> f64
      %2 = memref.atomic_rmw maxu %one, %n[%c0] : (i32, memref<?xi32>) -> i32
      %3 = memref.generic_atomic_rmw %n[%c0] : memref<?xi32> {
      ^bb0(%old: i32):
        %new = arith.muli %old, %old : i32
        memref.atomic_yield %new : i32
      }
      gpu.return
    }
  }
}
