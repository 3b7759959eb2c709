// A matrix product is one call of the library, whatever the stored orders; its result is written in
// place and nothing is transposed.
// RUN: xtensor-opt %s --compile-to=cpu | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-NOT: scf.for
// CHECK: call @xt_gemm_f32
// CHECK-NOT: scf.for
// CHECK: return
func.func @main(%a: !xtensor.array<k: 64, i: 32, f32>, %b: !xtensor.array<j: 48, k: 64, f32>) -> !xtensor.array<i: 32, j: 48, f32> {
  %0 = xtensor.contract %a, %b over [k] : !xtensor.array<k: 64, i: 32, f32>, !xtensor.array<j: 48, k: 64, f32>
  return %0 : !xtensor.array<i: 32, j: 48, f32>
}
