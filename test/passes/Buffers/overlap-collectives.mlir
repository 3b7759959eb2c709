// A collective runs until something needs its result.
// RUN: xtensor-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(xtensor-overlap-collectives))' | FileCheck %s

// The example of Passes.td.
// CHECK-LABEL: func.func @example(
// CHECK-SAME: %[[P:.+]]: memref<3xf32>, %[[X:.+]]: memref<9xf32>)
// CHECK: %[[G:.+]] = memref.alloc() : memref<3xf32>
// CHECK: %[[N:.+]] = memref.alloc() : memref<i64>
// CHECK-NEXT: xtensor.library "xt_start_all_reduce" ins(%[[P]] : memref<3xf32>) outs(%[[G]], %[[N]] : memref<3xf32>, memref<i64>) {options = array<i64: 0, 0, 0, 1>}
// CHECK-NEXT: linalg.exp ins(%[[X]]
// CHECK-NEXT: xtensor.library "xt_wait" ins(%[[N]], %[[P]] : memref<i64>, memref<3xf32>) outs(%[[G]] : memref<3xf32>) {options = array<i64: 1>}
// CHECK-NEXT: linalg.exp ins(%[[G]]
func.func @example(%p: memref<3xf32>, %x: memref<9xf32>) -> (memref<9xf32>, memref<3xf32>) {
  %g = memref.alloc() : memref<3xf32>
  %y = memref.alloc() : memref<9xf32>
  %z = memref.alloc() : memref<3xf32>
  xtensor.library "xt_all_reduce" ins(%p : memref<3xf32>) outs(%g : memref<3xf32>) {options = array<i64: 0, 0, 0, 1>}
  linalg.exp ins(%x : memref<9xf32>) outs(%y : memref<9xf32>)
  linalg.exp ins(%g : memref<3xf32>) outs(%z : memref<3xf32>)
  return %y, %z : memref<9xf32>, memref<3xf32>
}

// -----

// What comes next needs the result, here by a view: nothing runs meanwhile.
// CHECK-LABEL: func.func @needed(
// CHECK: xtensor.library "xt_halo"
// CHECK-NOT: xt_wait
func.func @needed(%p: memref<4xf32>) -> (memref<6xf32>, memref<4xf32>) {
  %g = memref.alloc() : memref<6xf32>
  %y = memref.alloc() : memref<4xf32>
  xtensor.library "xt_halo" ins(%p : memref<4xf32>) outs(%g : memref<6xf32>) {options = array<i64: 0, -1, 4>}
  %v = memref.subview %g[1] [4] [1] : memref<6xf32> to memref<4xf32, strided<[1], offset: 1>>
  linalg.exp ins(%v : memref<4xf32, strided<[1], offset: 1>>) outs(%y : memref<4xf32>)
  linalg.exp ins(%p : memref<4xf32>) outs(%y : memref<4xf32>)
  return %g, %y : memref<6xf32>, memref<4xf32>
}

// -----

// The operand may be read meanwhile, but not written: here in a loop.
// CHECK-LABEL: func.func @operand(
// CHECK: xtensor.library "xt_start_all_gather" ins(%[[A:.+]] : memref<4xf32>)
// CHECK-NEXT: linalg.exp ins(%[[A]]
// CHECK-NEXT: xtensor.library "xt_wait" ins(%{{.+}}, %[[A]] : memref<i64>, memref<4xf32>)
// CHECK-NEXT: scf.forall
func.func @operand(%x: memref<4xf32>) -> (memref<8xf32>, memref<4xf32>, memref<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<4xf32>
  %g = memref.alloc() : memref<8xf32>
  %y = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
  xtensor.library "xt_all_gather" ins(%a : memref<4xf32>) outs(%g : memref<8xf32>) {options = array<i64: 0>}
  linalg.exp ins(%a : memref<4xf32>) outs(%y : memref<4xf32>)
  scf.forall (%i) in (4) {
    %v = memref.subview %a[%i] [1] [1] : memref<4xf32> to memref<1xf32, strided<[1], offset: ?>>
    linalg.fill ins(%zero : f32) outs(%v : memref<1xf32, strided<[1], offset: ?>>)
  }
  return %g, %a, %y : memref<8xf32>, memref<4xf32>, memref<4xf32>
}

// -----

// Two arguments may be one array of the caller, of which this one has been given away. A function of
// Python may do anything.
// CHECK-LABEL: func.func @unknown(
// CHECK: xtensor.library "xt_all_reduce"
// CHECK: linalg.exp
// CHECK: xtensor.library "xt_start_all_reduce"
// CHECK: linalg.exp
// CHECK-NEXT: xtensor.library "xt_wait"
// CHECK-NEXT: xtensor.library "xt_callback"
func.func @unknown(%x: memref<4xf32>, %p: memref<4xf32> {xtensor.donated}) -> memref<4xf32> {
  %y = memref.alloc() : memref<4xf32>
  %g = memref.alloc() : memref<4xf32>
  xtensor.library "xt_all_reduce" ins(%y : memref<4xf32>) outs(%p : memref<4xf32>) {options = array<i64: 0, 0, 0, 1>}
  linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
  xtensor.library "xt_all_reduce" ins(%y : memref<4xf32>) outs(%g : memref<4xf32>) {options = array<i64: 0, 0, 0, 1>}
  linalg.exp ins(%y : memref<4xf32>) outs(%p : memref<4xf32>)
  xtensor.library "xt_callback" ins(%y : memref<4xf32>) {options = array<i64: 0>, ordered}
  linalg.exp ins(%x : memref<4xf32>) outs(%p : memref<4xf32>)
  return %g : memref<4xf32>
}
