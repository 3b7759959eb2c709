// RUN: xtensor-opt %s --xtensor-outline-kernels --canonicalize --cse --split-input-file | FileCheck %s

// Updates by position in any order: a thread for each number. What the device cannot do in one step
// is the body of a loop that compares and exchanges words.

module attributes {xtensor.target = "vulkan,atomic_f32"} {
  // CHECK-LABEL: func.func @numbers
  // CHECK:         gpu.launch_func @kernel0::@kernel0 blocks in (%c16, %c1, %c1) threads in (%c256, %c1, %c1)
  // CHECK-LABEL: gpu.func @kernel0(
  // CHECK-SAME:    %[[Y:[a-z0-9]+]]: memref<?xf32>
  // CHECK:         %[[MINE:.*]] = arith.cmpi ult, %{{.*}}, %c4000
  // CHECK:         scf.if %[[MINE]]
  // CHECK:           memref.atomic_rmw addf %{{.*}}, %[[Y]][%{{.*}}] : (f32, memref<?xf32>) -> f32
  // CHECK-NOT:     scf.for
  func.func @numbers(%places: memref<4000xi32>, %x: memref<4000xf32>, %y: memref<100xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 4000 : index
    scf.for %i = %c0 to %n step %c1 {
      %place = memref.load %places[%i] : memref<4000xi32>
      %row = arith.index_cast %place : i32 to index
      %v = memref.load %x[%i] : memref<4000xf32>
      %old = memref.load %y[%row] : memref<100xf32>
      %new = arith.addf %old, %v : f32
      memref.store %new, %y[%row] : memref<100xf32>
    } {xtensor.unordered}
    return
  }
}

// -----

module attributes {xtensor.target = "vulkan"} {
  // CHECK-LABEL: func.func @rows
  // CHECK-LABEL: gpu.func @kernel0(
  // CHECK-SAME:    %[[Y:[a-z0-9]+]]: memref<?xi32>
  // CHECK:         arith.divui %{{.*}}, %c20
  // CHECK:         scf.if
  // CHECK:           memref.generic_atomic_rmw %[[Y]][%{{.*}}] : memref<?xi32>
  // CHECK-NEXT:        ^bb0(%[[WORD:.*]]: i32):
  // CHECK:             %[[NEXT:.*]] = arith.muli %[[WORD]]
  // CHECK:             memref.atomic_yield %[[NEXT]] : i32
  func.func @rows(%places: memref<4000xi32>, %x: memref<4000x20xi32>, %y: memref<100x20xi32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c100 = arith.constant 100 : i32
    %n = arith.constant 4000 : index
    scf.for %i = %c0 to %n step %c1 {
      %place = memref.load %places[%i] : memref<4000xi32>
      %there = arith.cmpi ult, %place, %c100 : i32
      %row = arith.index_cast %place : i32 to index
      scf.if %there {
        %from = memref.subview %x[%i, 0] [1, 20] [1, 1] : memref<4000x20xi32> to memref<20xi32, strided<[1], offset: ?>>
        %to = memref.subview %y[%row, 0] [1, 20] [1, 1] : memref<100x20xi32> to memref<20xi32, strided<[1], offset: ?>>
        linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
            ins(%from : memref<20xi32, strided<[1], offset: ?>>) outs(%to : memref<20xi32, strided<[1], offset: ?>>) {
        ^bb0(%v: i32, %old: i32):
          %new = arith.muli %old, %v : i32
          linalg.yield %new : i32
        }
      }
    } {xtensor.unordered}
    return
  }
}

// -----

// Where what is read may be what is written, in the order of the steps, by one workgroup.
// CHECK-LABEL: func.func @reads_itself
// CHECK-LABEL: gpu.func @kernel0(
// CHECK-NOT:     atomic
// CHECK:         scf.for
// CHECK-NOT:     atomic
func.func @reads_itself(%places: memref<4000xi32>, %y: memref<4000xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 4000 : index
  scf.for %i = %c0 to %n step %c1 {
    %place = memref.load %places[%i] : memref<4000xi32>
    %row = arith.index_cast %place : i32 to index
    %v = memref.load %y[%i] : memref<4000xf32>
    %old = memref.load %y[%row] : memref<4000xf32>
    %new = arith.addf %old, %v : f32
    memref.store %new, %y[%row] : memref<4000xf32>
  } {xtensor.unordered}
  return
}
