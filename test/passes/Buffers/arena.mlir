// RUN: xtensor-opt %s --xtensor-arena --cse | FileCheck %s

// %a is dead when %c begins: they share bytes. %b is alive with both.
// CHECK-LABEL: func.func @reuse
// CHECK: %[[BYTES:.*]] = arith.constant 128 : index
// CHECK: %[[ARENA:.*]] = memref.alloc(%[[BYTES]]) {alignment = 64 : i64, xtensor.arena} : memref<?xi8>
// CHECK: %[[A:.*]] = memref.view %[[ARENA]][%c0
// CHECK: %[[B:.*]] = memref.view %[[ARENA]][%c64
// CHECK: linalg.copy ins(%[[A]] {{.*}} outs(%[[B]]
// CHECK: linalg.copy ins(%[[B]] {{.*}} outs(%[[A]]
// CHECK: memref.dealloc %[[ARENA]]
func.func @reuse(%x: memref<16xf32>, %y: memref<16xf32>) {
  %a = memref.alloc() : memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  %c = memref.alloc() : memref<16xf32>
  linalg.copy ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  linalg.copy ins(%a : memref<16xf32>) outs(%b : memref<16xf32>)
  linalg.copy ins(%b : memref<16xf32>) outs(%c : memref<16xf32>)
  linalg.copy ins(%c : memref<16xf32>) outs(%y : memref<16xf32>)
  return
}

// Small scratch of a parallel body is on the stack.
// CHECK-LABEL: func.func @scratch
// CHECK: scf.forall
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<64xi8>
// CHECK-NOT: xtensor.arena
func.func @scratch(%x: memref<4x16xf32>, %y: memref<4x16xf32>) {
  scf.forall (%i) in (4) {
    %row = memref.subview %x[%i, 0] [1, 16] [1, 1] : memref<4x16xf32> to memref<16xf32, strided<[1], offset: ?>>
    %out = memref.subview %y[%i, 0] [1, 16] [1, 1] : memref<4x16xf32> to memref<16xf32, strided<[1], offset: ?>>
    %a = memref.alloc() : memref<16xf32>
    linalg.copy ins(%row : memref<16xf32, strided<[1], offset: ?>>) outs(%a : memref<16xf32>)
    linalg.copy ins(%a : memref<16xf32>) outs(%out : memref<16xf32, strided<[1], offset: ?>>)
  }
  return
}

// Temporaries of a loop's body share bytes among each other, but not with what is alive around
// the loop; all of them are there before it.
// CHECK-LABEL: func.func @in_a_loop
// CHECK: %[[BYTES:.*]] = arith.constant 192 : index
// CHECK: %[[ARENA:.*]] = memref.alloc(%[[BYTES]]) {alignment = 64 : i64, xtensor.arena} : memref<?xi8>
// CHECK-NOT: memref.alloc
// CHECK: scf.for
// CHECK: linalg.copy ins(%[[X:.*]] : memref<16xf32>) outs(%[[A:.*]] : memref<16xf32>)
// CHECK: linalg.copy ins(%[[A]] : memref<16xf32>) outs(%[[B:.*]] : memref<16xf32>)
// CHECK: linalg.copy ins(%[[B]] : memref<16xf32>) outs(%[[A]] : memref<16xf32>)
// CHECK: linalg.copy ins(%[[A]] : memref<16xf32>) outs(%[[X]] : memref<16xf32>)
func.func @in_a_loop(%y: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %x = memref.alloc() : memref<16xf32>
  linalg.copy ins(%y : memref<16xf32>) outs(%x : memref<16xf32>)
  scf.for %i = %c0 to %c4 step %c1 {
    %a = memref.alloc() : memref<16xf32>
    %b = memref.alloc() : memref<16xf32>
    %c = memref.alloc() : memref<16xf32>
    linalg.copy ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
    linalg.copy ins(%a : memref<16xf32>) outs(%b : memref<16xf32>)
    linalg.copy ins(%b : memref<16xf32>) outs(%c : memref<16xf32>)
    linalg.copy ins(%c : memref<16xf32>) outs(%x : memref<16xf32>)
  }
  linalg.copy ins(%x : memref<16xf32>) outs(%y : memref<16xf32>)
  return
}

// A temporary without elements has a place, too: a routine may be called on it.
// CHECK-LABEL: func.func @nothing
// CHECK: %[[NONE:.*]] = memref.view %{{.*}} to memref<0x4xf32>
// CHECK: xtensor.library "xt_name" outs(%[[NONE]] : memref<0x4xf32>)
func.func @nothing() {
  %a = memref.alloc() : memref<0x4xf32>
  xtensor.library "xt_name" outs(%a : memref<0x4xf32>)
  return
}

// What a branch gives is as long as another temporary: the size is that temporary's, known before.
// CHECK-LABEL: func.func @size_of_another
// CHECK-SAME: %[[N:[a-z0-9]*]]: index
// CHECK: %[[ARENA:.*]] = memref.alloc(%{{.*}}) {alignment = 64 : i64, xtensor.arena} : memref<?xi8>
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.dim
// CHECK: scf.if
// CHECK-NOT: memref.dealloc
// CHECK: scf.yield
// CHECK: memref.dealloc %[[ARENA]]
// CHECK-NOT: memref.dealloc
func.func @size_of_another(%n: index, %p: i1, %x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %a = memref.alloc(%n) : memref<?xf32>
  linalg.copy ins(%x : memref<?xf32>) outs(%a : memref<?xf32>)
  %r = scf.if %p -> memref<?xf32> {
    %size = memref.dim %a, %c0 : memref<?xf32>
    %b = memref.alloc(%size) : memref<?xf32>
    linalg.copy ins(%a : memref<?xf32>) outs(%b : memref<?xf32>)
    scf.yield %b : memref<?xf32>
  } else {
    scf.yield %a : memref<?xf32>
  }
  linalg.copy ins(%r : memref<?xf32>) outs(%y : memref<?xf32>)
  return
}

// A routine is called with addresses: what it reads is alive until the call, so that what it writes
// lies elsewhere.
// CHECK-LABEL: func.func @addresses
// CHECK: %[[A:.*]] = memref.view %{{.*}}[%c0]
// CHECK: %[[B:.*]] = memref.view %{{.*}}[%c64
// CHECK: memref.extract_aligned_pointer_as_index %[[A]]
// CHECK: memref.extract_aligned_pointer_as_index %[[B]]
func.func private @routine(i64, i64)
func.func @addresses(%x: memref<16xf32>, %y: memref<16xf32>) {
  %a = memref.alloc() : memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  linalg.copy ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %pa = memref.extract_aligned_pointer_as_index %a : memref<16xf32> -> index
  %from = arith.index_cast %pa : index to i64
  %pb = memref.extract_aligned_pointer_as_index %b : memref<16xf32> -> index
  %to = arith.index_cast %pb : index to i64
  func.call @routine(%from, %to) : (i64, i64) -> ()
  linalg.copy ins(%b : memref<16xf32>) outs(%y : memref<16xf32>)
  return
}
