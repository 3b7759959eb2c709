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

// A while loop that updates what it carries has a place already.
// CHECK-LABEL: func.func @while_in_place
// CHECK-SAME: (%[[X:.*]]: memref<8xf32>, %{{.*}}: i1)
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: scf.while : () -> () {
// CHECK: linalg.copy ins(%[[X]] {{.*}} outs(%[[X]]
// CHECK: return %[[X]]
func.func @while_in_place(%x: memref<8xf32>, %p: i1) -> memref<8xf32> {
  %r = scf.while (%a = %x) : (memref<8xf32>) -> memref<8xf32> {
    scf.condition(%p) %a : memref<8xf32>
  } do {
  ^bb0(%a: memref<8xf32>):
    linalg.copy ins(%a : memref<8xf32>) outs(%a : memref<8xf32>)
    scf.yield %a : memref<8xf32>
  }
  return %r : memref<8xf32>
}

// What every branch gives is known without them.
// CHECK-LABEL: func.func @branches
// CHECK-SAME: (%{{[a-z0-9]+}}: index, %[[X:[a-z0-9]+]]: memref<8xf32>
// CHECK: %[[N:.*]] = scf.index_switch %{{.*}} -> index
// CHECK: case 0 {
// CHECK: scf.yield %{{.*}} : index
// CHECK: default {
// CHECK: return %[[X]], %[[N]]
func.func @branches(%i: index, %x: memref<8xf32>, %y: memref<8xf32>) -> (memref<8xf32>, index) {
  %r:2 = scf.index_switch %i -> memref<8xf32>, index
  case 0 {
    linalg.copy ins(%y : memref<8xf32>) outs(%x : memref<8xf32>)
    scf.yield %x, %i : memref<8xf32>, index
  }
  default {
    scf.yield %x, %i : memref<8xf32>, index
  }
  return %r#0, %r#1 : memref<8xf32>, index
}
