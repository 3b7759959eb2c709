// A matrix product is one call of the library, whatever the stored orders; its result is written in
// place and nothing is transposed.
// RUN: xtensor-opt %s --compile-to=cpu --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-NOT: scf.for
// CHECK: call @xt_gemm_f32
// CHECK-NOT: scf.for
// CHECK: return
func.func @main(%a: !xtensor.array<k: 64, i: 32, f32>, %b: !xtensor.array<j: 48, k: 64, f32>) -> !xtensor.array<i: 32, j: 48, f32> {
  %0 = xtensor.contract %a, %b over [k] : !xtensor.array<k: 64, i: 32, f32>, !xtensor.array<j: 48, k: 64, f32>
  return %0 : !xtensor.array<i: 32, j: 48, f32>
}

// -----

// Products over equal ranges are a call each: they do not share loops.
// CHECK-LABEL: func.func @main
// CHECK-NOT: scf.for
// CHECK: call @xt_gemm_f32
// CHECK-NOT: scf.for
// CHECK: call @xt_gemm_f32
// CHECK-NOT: scf.for
// CHECK: return
func.func @main(%a: !xtensor.array<i: 32, k: 32, f32>, %b: !xtensor.array<k: 32, j: 32, f32>)
    -> (!xtensor.array<i: 32, j: 32, f32>, !xtensor.array<k: 32, j: 32, f32>) {
  %0 = xtensor.contract %a, %b over [k] : !xtensor.array<i: 32, k: 32, f32>, !xtensor.array<k: 32, j: 32, f32>
  %s = xtensor.rename %b [k] to [i] : !xtensor.array<k: 32, j: 32, f32>
  %1 = xtensor.contract %a, %s over [i] : !xtensor.array<i: 32, k: 32, f32>, !xtensor.array<i: 32, j: 32, f32>
  return %0, %1 : !xtensor.array<i: 32, j: 32, f32>, !xtensor.array<k: 32, j: 32, f32>
}
