// A chain of elementwise ops: one pass over vectors, polynomials in place of calls, no buffer.
// RUN: xtensor-opt %s --compile-to=cpu | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-NOT: memref.alloc
// CHECK: scf.for
// CHECK: vector.load {{.*}} vector<[[LANES:[0-9]+]]xf32>
// CHECK-NOT: math.tanh
// CHECK: math.fma {{.*}} vector<[[LANES]]xf32>
// CHECK: vector.store
// CHECK-NOT: scf.for
func.func @main(%x: !xtensor.array<i: 1024, f32>) -> !xtensor.array<i: 1024, f32> {
  %0 = xtensor.tanh %x : !xtensor.array<i: 1024, f32>
  %1 = xtensor.mul %0, %x : !xtensor.array<i: 1024, f32>, !xtensor.array<i: 1024, f32>
  return %1 : !xtensor.array<i: 1024, f32>
}
