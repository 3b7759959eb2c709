// RUN: xtensor-opt %s --xtensor-cut-loops --split-input-file | FileCheck %s
// RUN: sed s/,software// %s | xtensor-opt --xtensor-cut-loops --split-input-file | FileCheck %s --check-prefix=ANY

// Other devices take any number of steps.
// ANY-NOT: xtensor.host

// The host goes around, for as many steps as a kernel may take.

// CHECK-LABEL: func.func @known(
// CHECK:         scf.for %[[I:.*]] = %c0 to %c200000 step %[[PART:c30719[_0-9]*]] {
// CHECK:           %[[NEXT:.*]] = arith.addi %[[I]], %[[PART]]
// CHECK:           %[[END:.*]] = arith.minsi %[[NEXT]], %c200000
// CHECK:           scf.for %{{.*}} = %[[I]] to %[[END]] step %c1 {
// CHECK:             memref.store
// CHECK:         } {xtensor.host}
module attributes {xtensor.target = "vulkan,software,subgroup=8"} {
func.func @known(%x: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c200000 = arith.constant 200000 : index
  %one = arith.constant 1.0 : f32
  scf.for %i = %c0 to %c200000 step %c1 {
    %v = memref.load %x[] : memref<f32>
    %w = arith.addf %v, %one : f32
    memref.store %w, %x[] : memref<f32>
  }
  return
}
}

// -----

// Few enough steps stay one kernel.

// CHECK-LABEL: func.func @short(
// CHECK-NOT:     xtensor.host
// CHECK:         return
module attributes {xtensor.target = "vulkan,software,subgroup=8"} {
func.func @short(%x: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c20000 = arith.constant 20000 : index
  %one = arith.constant 1.0 : f32
  scf.for %i = %c0 to %c20000 step %c1 {
    memref.store %one, %x[] : memref<f32>
  }
  return
}
}

// -----

// A number of steps that only the call knows, and a number that goes around.

// CHECK-LABEL: func.func @carried(
// CHECK:         %[[OUTER:.*]] = scf.for {{.*}} iter_args(%[[T:.*]] = %cst) -> (f32) {
// CHECK:           %[[INNER:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[T]]) -> (f32) {
// CHECK:           scf.yield %[[INNER]]
// CHECK:         } {xtensor.host}
// CHECK:         memref.store %[[OUTER]]
module attributes {xtensor.target = "vulkan,software,subgroup=8"} {
func.func @carried(%x: memref<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%t = %one) -> (f32) {
    %w = arith.addf %t, %one : f32
    scf.yield %w : f32
  }
  memref.store %s, %x[] : memref<f32>
  return
}
}

// -----

// A step that takes too many by itself: the host goes around both loops.

// CHECK-LABEL: func.func @nested(
// CHECK:         scf.for %{{.*}} = %c0 to %arg1 step %c1 {
// CHECK:           scf.for
// CHECK:             scf.for
// CHECK:           } {xtensor.host}
// CHECK-NEXT:    } {xtensor.host}
module attributes {xtensor.target = "vulkan,software,subgroup=8"} {
func.func @nested(%x: memref<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c70000 = arith.constant 70000 : index
  %one = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %c70000 step %c1 {
      memref.store %one, %x[] : memref<f32>
    }
  }
  return
}
}

// -----

// A loop that ends when its test says so tells the host whether it has.

// CHECK-LABEL: func.func @test(
// CHECK:         %[[ALL:.*]]:3 = scf.while (%{{.*}} = %true
// CHECK:           scf.condition(%[[GO:.*]]) %[[GO]],
// CHECK:           scf.while ({{.*}} = %c0_i32)
// CHECK:             %[[FEW:.*]] = arith.cmpi ult
// CHECK:             arith.andi %{{.*}}, %[[FEW]]
// CHECK:             %[[AGAIN:.*]] = arith.cmpf olt
// CHECK:             scf.if %[[AGAIN]]
// CHECK:             scf.yield %[[AGAIN]]
// CHECK:         } attributes {xtensor.host}
// CHECK:         memref.store %[[ALL]]#2
module attributes {xtensor.target = "vulkan,software,subgroup=8"} {
func.func @test(%x: memref<f32>, %end: f32) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %s = scf.while (%t = %zero) : (f32) -> f32 {
    %c = arith.cmpf olt, %t, %end : f32
    scf.condition(%c) %t : f32
  } do {
  ^bb0(%t: f32):
    %w = arith.addf %t, %one : f32
    scf.yield %w : f32
  }
  memref.store %s, %x[] : memref<f32>
  return
}
}

// -----

// A loop whose step leads nowhere may take any number of them.

// CHECK-LABEL: func.func @stands(
// CHECK:         xtensor.host
module attributes {xtensor.target = "vulkan,software,subgroup=8"} {
func.func @stands(%x: memref<f32>, %one: f32) {
  %c0 = arith.constant 0 : index
  %c70000 = arith.constant 70000 : index
  scf.for %i = %c0 to %c70000 step %c0 {
    memref.store %one, %x[] : memref<f32>
  }
  return
}
}
