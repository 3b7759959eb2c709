// RUN: xtensor-opt %s --xtensor-branch-buffers | FileCheck %s

// CHECK-LABEL: @into_the_result
// CHECK-NOT:     memref.alloc
// CHECK:         scf.if %arg0 {
// CHECK-NEXT:      memref.copy %arg1, %arg3
// CHECK-NEXT:    } else {
// CHECK-NEXT:      memref.copy %arg2, %arg3
// CHECK-NEXT:    }
// CHECK-NEXT:    return
func.func @into_the_result(%c: i1, %a: memref<4xf32>, %b: memref<4xf32>, %out: memref<4xf32>) {
  %r = scf.if %c -> (memref<4xf32>) {
    scf.yield %a : memref<4xf32>
  } else {
    scf.yield %b : memref<4xf32>
  }
  memref.copy %r, %out : memref<4xf32> to memref<4xf32>
  return
}

// A number stays a result; memory that others read as well gets a place of its own.
// CHECK-LABEL: @beside_a_number
// CHECK:         %[[PLACE:.*]] = memref.alloc() : memref<4xf32>
// CHECK:         %[[N:.*]] = scf.if %arg0 -> (f32) {
// CHECK:           memref.copy %arg1, %[[PLACE]]
// CHECK:         memref.store %[[N]], %[[PLACE]]
func.func @beside_a_number(%c: i1, %a: memref<4xf32>, %b: memref<4xf32>, %x: f32, %y: f32) {
  %r, %n = scf.if %c -> (memref<4xf32>, f32) {
    scf.yield %a, %x : memref<4xf32>, f32
  } else {
    scf.yield %b, %y : memref<4xf32>, f32
  }
  %c0 = arith.constant 0 : index
  memref.store %n, %r[%c0] : memref<4xf32>
  return
}
