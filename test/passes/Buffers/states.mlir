// A step reads one state in the stack and makes the next one beside it: nothing is copied.
// RUN: xtensor-opt %s --compile-to=buffers | FileCheck %s

!h = !xtensor.array<i: 3, f32>
!xs = !xtensor.array<t: 5, i: 3, f32>

// CHECK-LABEL: func.func @main
// CHECK: %[[S:.*]] = memref.alloc() {{.*}} : memref<6x3xf32>
// CHECK-NOT: memref.alloc
// CHECK: scf.for %[[AT:.*]] =
// CHECK: %[[BEFORE:.*]] = memref.subview %[[S]][%[[AT]], 0] [1, 3] [1, 1]
// CHECK: %[[LATER:.*]] = arith.addi %[[AT]], %{{.*}}
// CHECK: %[[AFTER:.*]] = memref.subview %[[S]][%[[LATER]], 0] [1, 3] [1, 1]
// CHECK: linalg.generic {{.*}} ins(%[[BEFORE]], %{{.*}} outs(%[[AFTER]]
// CHECK-DAG: %[[ALL_BEFORE:.*]] = memref.subview %[[S]][0, 0] [5, 3] [1, 1]
// CHECK-DAG: %[[ALL_AFTER:.*]] = memref.subview %[[S]][1, 0] [5, 3] [1, 1]
// CHECK-NOT: memref.alloc
// CHECK: linalg.generic {{.*}} ins(%[[ALL_BEFORE]], %[[ALL_AFTER]]
func.func @main(%h: !h, %x: !xs) -> !xs {
  %0:3 = xtensor.scan along t carry(%h) over(%x) {
  ^bb0(%h_: !h, %x_: !h):
    %1 = xtensor.add %h_, %x_ : !h, !h
    xtensor.yield %1, %h_, %1 : !h, !h, !h
  } : (!h, !xs) -> (!h, !xs, !xs)
  %1 = xtensor.mul %0#1, %0#2 : !xs, !xs
  return %1 : !xs
}
