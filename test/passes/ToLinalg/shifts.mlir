// Slices in place of reads by position, where positions differ from those along a dim by a number.
// RUN: xtensor-opt %s --xtensor-to-linalg --canonicalize --cse | FileCheck %s

// CHECK-LABEL: func.func @roll
// CHECK-SAME: %[[X:.*]]: tensor<2x9xf32>
// CHECK: %[[REST:.*]] = arith.remsi
// CHECK: %[[BY:.*]] = arith.select
// CHECK: tensor.extract_slice %[[X]][0, %{{.*}}] [2, %[[BY]]] [1, 1]
// CHECK: tensor.extract_slice %[[X]][0, 0] [2, %{{.*}}] [1, 1]
// CHECK-NOT: tensor.extract %{{.*}}[%
func.func @roll(%x: !xtensor.array<a: 2, t: 9, f32>, %n: !xtensor.array<i64>)
    -> !xtensor.array<a: 2, t: 9, f32> {
  %size = xtensor.constant dense<9> : tensor<i64> as <i64>
  %by = xtensor.mod %n, %size : <i64>, <i64>
  %i = xtensor.iota : <t: 9, i64>
  %at = xtensor.sub %i, %by : <t: 9, i64>, <i64>
  %y = xtensor.gather clip %x at %at along [t] : <a: 2, t: 9, f32>, !xtensor.array<t: 9, i64>
  return %y : !xtensor.array<a: 2, t: 9, f32>
}

// The remainder of the position. No position is outside, so nothing is checked.
// CHECK-LABEL: func.func @roll_of_open_size
// CHECK-NOT: arith.cmpi {{.*}} : vector
// CHECK: tensor.extract_slice %{{.*}}[0] [%{{.*}}] [1] : tensor<?xf32> to tensor<?xf32>
// CHECK-NOT: tensor.extract %{{.*}}[%
func.func @roll_of_open_size(%x: !xtensor.array<t: ?, f32>, %n: !xtensor.array<i64>)
    -> !xtensor.array<t: ?, f32> {
  %size = xtensor.size %x t : <t: ?, f32>
  %i = xtensor.iota size %size : !xtensor.array<i64> : <t: ?, i64>
  %before = xtensor.sub %i, %n : <t: ?, i64>, <i64>
  %at = xtensor.mod %before, %size : <t: ?, i64>, <i64>
  %y = xtensor.gather raise %x at %at along [t] : <t: ?, f32>, !xtensor.array<t: ?, i64>
  return %y : !xtensor.array<t: ?, f32>
}

// CHECK-LABEL: func.func @shift
// CHECK-SAME: %[[X:.*]]: tensor<9xf32>
// CHECK: linalg.fill
// CHECK: tensor.extract_slice %[[X]]
// CHECK: linalg.fill
// CHECK-NOT: tensor.extract %{{.*}}[%
func.func @shift(%x: !xtensor.array<t: 9, f32>, %n: !xtensor.array<i64>, %v: !xtensor.array<f32>)
    -> !xtensor.array<t: 9, f32> {
  %zero = xtensor.constant dense<0> : tensor<i64> as <i64>
  %size = xtensor.constant dense<9> : tensor<i64> as <i64>
  %i = xtensor.iota : <t: 9, i64>
  %at = xtensor.sub %i, %n : <t: 9, i64>, <i64>
  %low = xtensor.compare ge %at, %zero : <t: 9, i64>, <i64>
  %high = xtensor.compare lt %at, %size : <t: 9, i64>, <i64>
  %there = xtensor.and %low, %high : <t: 9, i1>, <t: 9, i1>
  %read = xtensor.gather clip %x at %at along [t] : <t: 9, f32>, !xtensor.array<t: 9, i64>
  %y = xtensor.select %there, %read, %v : <t: 9, i1>, <t: 9, f32>, <f32>
  return %y : !xtensor.array<t: 9, f32>
}

// Their derivatives, which add to zeros, move back.
// CHECK-LABEL: func.func @roll_back
// CHECK: tensor.extract_slice %arg0[0, %{{.*}}]
// CHECK: tensor.extract_slice %arg0[0, 0]
// CHECK-NOT: scf.for
func.func @roll_back(%g: !xtensor.array<a: 2, t: 9, f32>, %n: !xtensor.array<i64>)
    -> !xtensor.array<a: 2, t: 9, f32> {
  %none = xtensor.constant dense<0.0> : tensor<f32> as <f32>
  %size = xtensor.constant dense<9> : tensor<i64> as <i64>
  %i = xtensor.iota : <t: 9, i64>
  %before = xtensor.sub %i, %n : <t: 9, i64>, <i64>
  %at = xtensor.mod %before, %size : <t: 9, i64>, <i64>
  %zeros = xtensor.broadcast %none : (!xtensor.array<f32>) -> !xtensor.array<a: 2, t: 9, f32>
  %y = xtensor.scatter add raise %zeros at %at with %g along [t]
    : <a: 2, t: 9, f32>, <a: 2, t: 9, f32>, !xtensor.array<t: 9, i64>
  return %y : !xtensor.array<a: 2, t: 9, f32>
}

// CHECK-LABEL: func.func @shift_back
// CHECK: linalg.fill
// CHECK: tensor.extract_slice %arg0
// CHECK: linalg.fill
// CHECK-NOT: scf.for
func.func @shift_back(%g: !xtensor.array<t: 9, f32>, %n: !xtensor.array<i64>)
    -> !xtensor.array<t: 9, f32> {
  %none = xtensor.constant dense<0.0> : tensor<f32> as <f32>
  %zero = xtensor.constant dense<0> : tensor<i64> as <i64>
  %size = xtensor.constant dense<9> : tensor<i64> as <i64>
  %i = xtensor.iota : <t: 9, i64>
  %at = xtensor.sub %i, %n : <t: 9, i64>, <i64>
  %low = xtensor.compare ge %at, %zero : <t: 9, i64>, <i64>
  %high = xtensor.compare lt %at, %size : <t: 9, i64>, <i64>
  %there = xtensor.and %low, %high : <t: 9, i1>, <t: 9, i1>
  %given = xtensor.select %there, %g, %none : <t: 9, i1>, <t: 9, f32>, <f32>
  %zeros = xtensor.broadcast %none : (!xtensor.array<f32>) -> !xtensor.array<t: 9, f32>
  %y = xtensor.scatter add clip %zeros at %at with %given along [t]
    : <t: 9, f32>, <t: 9, f32>, !xtensor.array<t: 9, i64>
  return %y : !xtensor.array<t: 9, f32>
}

// More positions than the source has, as where an array is padded by itself.
// CHECK-LABEL: func.func @more
// CHECK: tensor.extract %{{.*}}[%
func.func @more(%x: !xtensor.array<t: 9, f32>, %n: !xtensor.array<i64>)
    -> !xtensor.array<t: 20, f32> {
  %size = xtensor.constant dense<9> : tensor<i64> as <i64>
  %i = xtensor.iota : <t: 20, i64>
  %before = xtensor.sub %i, %n : <t: 20, i64>, <i64>
  %at = xtensor.mod %before, %size : <t: 20, i64>, <i64>
  %y = xtensor.gather clip %x at %at along [t] : <t: 9, f32>, !xtensor.array<t: 20, i64>
  return %y : !xtensor.array<t: 20, f32>
}

// Positions that are not those of the dim, and a number of each row, are read one by one.
// CHECK-LABEL: func.func @others
// CHECK: tensor.extract %{{.*}}[%
// CHECK: tensor.extract %{{.*}}[%
func.func @others(%x: !xtensor.array<a: 2, t: 9, f32>, %n: !xtensor.array<i64>,
                  %m: !xtensor.array<a: 2, i64>)
    -> (!xtensor.array<a: 2, t: 9, f32>, !xtensor.array<a: 2, t: 9, f32>) {
  %size = xtensor.constant dense<8> : tensor<i64> as <i64>
  %by = xtensor.mod %n, %size : <i64>, <i64>
  %i = xtensor.iota : <t: 9, i64>
  %at = xtensor.sub %i, %by : <t: 9, i64>, <i64>
  %y = xtensor.gather clip %x at %at along [t] : <a: 2, t: 9, f32>, !xtensor.array<t: 9, i64>
  %own = xtensor.sub %m, %i : <a: 2, i64>, <t: 9, i64>
  %z = xtensor.gather clip %x at %own along [t]
    : <a: 2, t: 9, f32>, !xtensor.array<a: 2, t: 9, i64>
  return %y, %z : !xtensor.array<a: 2, t: 9, f32>, !xtensor.array<a: 2, t: 9, f32>
}

// Numbers without sign do not count from the end.
// CHECK-LABEL: func.func @unsigned
// CHECK: tensor.extract %{{.*}}[%
func.func @unsigned(%x: !xtensor.array<t: 9, f32>, %n: !xtensor.array<ui64>)
    -> !xtensor.array<t: 9, f32> {
  %size = xtensor.constant dense<9> : tensor<ui64> as <ui64>
  %by = xtensor.mod %n, %size : <ui64>, <ui64>
  %i = xtensor.iota : <t: 9, ui64>
  %at = xtensor.sub %i, %by : <t: 9, ui64>, <ui64>
  %y = xtensor.gather clip %x at %at along [t] : <t: 9, f32>, !xtensor.array<t: 9, ui64>
  return %y : !xtensor.array<t: 9, f32>
}
