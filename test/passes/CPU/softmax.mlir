// Softmax over rows: one parallel body, handed to the thread pool; no array of the full size.
// RUN: xtensor-opt %s --compile-to=cpu | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-NOT: memref.alloc() : memref<4096x1024
// CHECK: @xt_parallel_for
// CHECK-NOT: scf.forall
func.func @main(%x: !xtensor.array<r: 4096, c: 1024, f32>) -> !xtensor.array<r: 4096, c: 1024, f32> {
  %0 = xtensor.reduce max %x over [c] : !xtensor.array<r: 4096, c: 1024, f32>
  %1 = xtensor.sub %x, %0 : !xtensor.array<r: 4096, c: 1024, f32>, !xtensor.array<r: 4096, f32>
  %2 = xtensor.exp %1 : !xtensor.array<r: 4096, c: 1024, f32>
  %3 = xtensor.reduce sum %2 over [c] : !xtensor.array<r: 4096, c: 1024, f32>
  %4 = xtensor.div %2, %3 : !xtensor.array<r: 4096, c: 1024, f32>, !xtensor.array<r: 4096, f32>
  return %4 : !xtensor.array<r: 4096, c: 1024, f32>
}
