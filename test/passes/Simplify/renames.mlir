// RUN: xtensor-opt %s --xtensor-simplify | FileCheck %s

// The mean is taken once, and subtracted once: renames cost nothing.
// CHECK-LABEL: func.func @covariance
// CHECK: %[[M:.*]] = xtensor.reduce sum %arg0 over [t]
// CHECK-NOT: xtensor.reduce
// CHECK: %[[D:.*]] = xtensor.sub %arg0, %[[M]]
// CHECK-NOT: xtensor.sub
// CHECK: %[[R:.*]] = xtensor.rename %[[D]] [a] to [c]
// CHECK: xtensor.contract %[[D]], %[[R]]
func.func @covariance(%x: !xtensor.array<a: 4, t: 9, f32>) -> !xtensor.array<a: 4, c: 4, f32> {
  %y = xtensor.rename %x [a] to [c] : <a: 4, t: 9, f32>
  %m = xtensor.reduce sum %x over [t] : <a: 4, t: 9, f32>
  %d = xtensor.sub %x, %m : <a: 4, t: 9, f32>, <a: 4, f32>
  %n = xtensor.reduce sum %y over [t] : <c: 4, t: 9, f32>
  %e = xtensor.sub %y, %n : <c: 4, t: 9, f32>, <c: 4, f32>
  %z = xtensor.contract %d, %e over [t] order [a, c] : !xtensor.array<a: 4, t: 9, f32>, !xtensor.array<c: 4, t: 9, f32>
  return %z : !xtensor.array<a: 4, c: 4, f32>
}

// Of another kind, along a dim that is renamed, and beside an array that has the new name.
// CHECK-LABEL: func.func @others
// CHECK: xtensor.reduce max
// CHECK: xtensor.reduce sum %{{.*}} over [c]
// CHECK: xtensor.mul %arg0, %arg1
// CHECK: xtensor.mul %{{.*}}, %arg1
func.func @others(%x: !xtensor.array<a: 4, t: 9, f32>, %w: !xtensor.array<c: 4, f32>)
    -> (!xtensor.array<t: 9, f32>, !xtensor.array<c: 4, f32>, !xtensor.array<t: 9, f32>, !xtensor.array<a: 4, t: 9, c: 4, f32>,
        !xtensor.array<c: 4, t: 9, f32>) {
  %y = xtensor.rename %x [a] to [c] : <a: 4, t: 9, f32>
  %1 = xtensor.reduce sum %x over [a] : <a: 4, t: 9, f32>
  %2 = xtensor.reduce max %y over [t] : <c: 4, t: 9, f32>
  %3 = xtensor.reduce sum %y over [c] : <c: 4, t: 9, f32>
  %4 = xtensor.mul %x, %w : <a: 4, t: 9, f32>, <c: 4, f32>
  %5 = xtensor.mul %y, %w : <c: 4, t: 9, f32>, <c: 4, f32>
  return %1, %2, %3, %4, %5 : !xtensor.array<t: 9, f32>, !xtensor.array<c: 4, f32>, !xtensor.array<t: 9, f32>, !xtensor.array<a: 4, t: 9, c: 4, f32>, !xtensor.array<c: 4, t: 9, f32>
}
