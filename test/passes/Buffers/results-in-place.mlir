// Results are computed in the caller's buffers; only a returned argument is copied.
// RUN: xtensor-opt %s --compile-to=buffers | FileCheck %s

// CHECK-LABEL: func.func @main(%arg0: memref<4x3xf32>
// CHECK-SAME: attributes {xtensor.inputs = 1 : i64}
// CHECK-NOT: memref.alloc
// CHECK-DAG: linalg.generic {{.*}} outs(%arg1
// CHECK-DAG: memref.copy %arg0, %arg2
// CHECK-NOT: memref.copy
// CHECK: return
func.func @main(%x: !xtensor.array<b: 4, i: 3, f32>) -> (!xtensor.array<b: 4, i: 3, f32>, !xtensor.array<b: 4, i: 3, f32>) {
  %0 = xtensor.neg %x : !xtensor.array<b: 4, i: 3, f32>
  return %0, %x : !xtensor.array<b: 4, i: 3, f32>, !xtensor.array<b: 4, i: 3, f32>
}
