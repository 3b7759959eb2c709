// RUN: xtensor-opt %s --xtensor-loop-buffers | FileCheck %s

// A new buffer per iteration becomes one place that is copied into.
// CHECK-LABEL: func.func @fresh
// CHECK-SAME: (%[[INIT:.*]]: memref<8xf32>)
// CHECK: %[[PLACE:.*]] = memref.alloc() : memref<8xf32>
// CHECK: memref.copy %[[INIT]], %[[PLACE]]
// CHECK: scf.for {{.*}} {
// CHECK: %[[NEW:.*]] = memref.alloc() : memref<8xf32>
// CHECK: linalg.copy ins(%[[PLACE]] {{.*}} outs(%[[NEW]]
// CHECK: memref.copy %[[NEW]], %[[PLACE]]
// CHECK: return %[[PLACE]]
func.func @fresh(%init: memref<8xf32>) -> memref<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %init) -> memref<8xf32> {
    %n = memref.alloc() : memref<8xf32>
    linalg.copy ins(%a : memref<8xf32>) outs(%n : memref<8xf32>)
    scf.yield %n : memref<8xf32>
  }
  return %r : memref<8xf32>
}

// Two buffers that change places are saved before either is overwritten.
// CHECK-LABEL: func.func @swap
// CHECK: scf.for
// CHECK: memref.copy %{{.*}}, %[[SAVED:.*]] :
// CHECK: memref.copy %{{.*}}, %[[FIRST:.*]] :
// CHECK: memref.copy %[[SAVED]], %{{.*}} :
func.func @swap(%x: memref<8xf32>, %y: memref<8xf32>) -> (memref<8xf32>, memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %b = %y) -> (memref<8xf32>, memref<8xf32>) {
    scf.yield %b, %a : memref<8xf32>, memref<8xf32>
  }
  return %r#0, %r#1 : memref<8xf32>, memref<8xf32>
}
