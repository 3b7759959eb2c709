// Folds and canonical forms; a fold that could change a bit of the result is none.
// RUN: xtensor-opt %s --canonicalize | FileCheck %s

!x = !xtensor.array<a: 2, b: 3, f32>

// CHECK-LABEL: func @neutral
// CHECK-NEXT: return %arg0, %arg0, %arg0
func.func @neutral(%x: !x) -> (!x, !x, !x) {
  %one = xtensor.constant dense<1.0> : tensor<f32> as !xtensor.array<f32>
  %negzero = xtensor.constant dense<-0.0> : tensor<f32> as !xtensor.array<f32>
  %zero = xtensor.constant dense<0.0> : tensor<f32> as !xtensor.array<f32>
  %0 = xtensor.mul %one, %x : !xtensor.array<f32>, !x
  %1 = xtensor.add %x, %negzero : !x, !xtensor.array<f32>
  %2 = xtensor.sub %x, %zero : !x, !xtensor.array<f32>
  return %0, %1, %2 : !x, !x, !x
}

// -0.0 + 0.0 is 0.0, so this must stay.
// CHECK-LABEL: func @signed_zero
// CHECK: xtensor.add
func.func @signed_zero(%x: !x) -> !x {
  %zero = xtensor.constant dense<0.0> : tensor<f32> as !xtensor.array<f32>
  %0 = xtensor.add %x, %zero : !x, !xtensor.array<f32>
  return %0 : !x
}

// Multiplying by a one that broadcasts is no identity.
// CHECK-LABEL: func @broadcasting_one
// CHECK: xtensor.mul
func.func @broadcasting_one(%x: !xtensor.array<f32>) -> !x {
  %one = xtensor.constant dense<1.0> : tensor<2x3xf32> as !x
  %0 = xtensor.mul %x, %one : !xtensor.array<f32>, !x
  return %0 : !x
}

// CHECK-LABEL: func @identities
// CHECK-NEXT: return %arg0, %arg0, %arg0, %arg0, %arg0
func.func @identities(%x: !x) -> (!x, !x, !x, !x, !x) {
  %0 = xtensor.rename %x [a] to [a] : !x
  %1 = xtensor.reduce sum %0 over [] : !x
  %2 = xtensor.slice %1 [a] offsets [0] sizes [2] strides [1] : !x
  %3 = xtensor.broadcast %2 : (!x) -> !x
  %4 = xtensor.concat %3 along a : !x
  return %0, %1, %2, %3, %4 : !x, !x, !x, !x, !x
}

// CHECK-LABEL: func @size
// CHECK: xtensor.constant dense<3> : tensor<i64>
func.func @size(%x: !x) -> !xtensor.array<i64> {
  %0 = xtensor.size %x b : !x
  return %0 : !xtensor.array<i64>
}

// CHECK-LABEL: func @reordered_contract
// CHECK-NEXT: %[[C:.*]] = xtensor.contract %arg0, %arg1 over [b] order [c, a]
// CHECK-NEXT: return %[[C]]
func.func @reordered_contract(%x: !x, %y: !xtensor.array<b: 3, c: 4, f32>) -> !xtensor.array<c: 4, a: 2, f32> {
  %0 = xtensor.contract %x, %y over [b] : !x, !xtensor.array<b: 3, c: 4, f32>
  %1 = xtensor.broadcast %0 : (!xtensor.array<a: 2, c: 4, f32>) -> !xtensor.array<c: 4, a: 2, f32>
  return %1 : !xtensor.array<c: 4, a: 2, f32>
}

// CHECK-LABEL: func @broadcast_factor
// CHECK-NEXT: %[[C:.*]] = xtensor.contract %arg0, %arg1 over [b] order [a]
func.func @broadcast_factor(%x: !x, %y: !xtensor.array<b: 3, f32>) -> !xtensor.array<a: 2, f32> {
  %0 = xtensor.broadcast %y : (!xtensor.array<b: 3, f32>) -> !x
  %1 = xtensor.contract %x, %0 over [b] : !x, !x
  return %1 : !xtensor.array<a: 2, f32>
}

// Of one element there is nothing to combine; before it there is the identity.
// CHECK-LABEL: func @scan_of_one
// CHECK-NEXT: %[[Y:.*]] = xtensor.cumulative sum %arg0 along t {exclusive}
// CHECK-NEXT: return %arg0, %[[Y]]
func.func @scan_of_one(%x: !xtensor.array<t: 1, a: 2, f32>)
    -> (!xtensor.array<t: 1, a: 2, f32>, !xtensor.array<t: 1, a: 2, f32>) {
  %0 = xtensor.cumulative prod %x along t : !xtensor.array<t: 1, a: 2, f32>
  %1 = xtensor.cumulative sum %x along t {exclusive} : !xtensor.array<t: 1, a: 2, f32>
  return %0, %1 : !xtensor.array<t: 1, a: 2, f32>, !xtensor.array<t: 1, a: 2, f32>
}

// Along one element there is nothing to sum; a factor stays, and so do the dims that real numbers change.
// CHECK-LABEL: func @fourier_of_one
// CHECK: %[[S:.*]] = xtensor.fourier forward %arg0 along [t] pair c {scale = 2.000000e+00 : f64}
// CHECK: %[[R:.*]] = xtensor.fourier real %arg1 along [t] pair c
// CHECK-NEXT: return %arg0, %[[S]], %[[R]]
func.func @fourier_of_one(%z: !xtensor.array<t: 1, c: 2, f32>, %x: !xtensor.array<t: 1, f32>)
    -> (!xtensor.array<t: 1, c: 2, f32>, !xtensor.array<t: 1, c: 2, f32>, !xtensor.array<t: 1, c: 2, f32>) {
  %0 = xtensor.fourier backward %z along [t] pair c : !xtensor.array<t: 1, c: 2, f32>
  %1 = xtensor.fourier forward %z along [t] pair c {scale = 2.0} : !xtensor.array<t: 1, c: 2, f32>
  %2 = xtensor.fourier real %x along [t] pair c : !xtensor.array<t: 1, f32>
  return %0, %1, %2 : !xtensor.array<t: 1, c: 2, f32>, !xtensor.array<t: 1, c: 2, f32>, !xtensor.array<t: 1, c: 2, f32>
}

// A constant goes last only where the order of the result's dims stays.
// CHECK-LABEL: func @constant_first
// CHECK-DAG: %[[C:.*]] = xtensor.constant dense<[1.0
// CHECK-DAG: %[[S:.*]] = xtensor.constant dense<2.0
// CHECK: %[[A:.*]] = xtensor.add %[[C]], %arg0 : <b: 3, f32>, <a: 2, b: 3, f32>
// CHECK: %[[M:.*]] = xtensor.mul %[[A]], %[[S]] : <b: 3, a: 2, f32>, <f32>
// CHECK: return %[[M]]
func.func @constant_first(%x: !x) -> !xtensor.array<b: 3, a: 2, f32> {
  %0 = xtensor.constant dense<[1.0, 3.0, 4.0]> : tensor<3xf32> as <b: 3, f32>
  %1 = xtensor.constant dense<2.0> : tensor<f32> as <f32>
  %2 = xtensor.add %0, %x : !xtensor.array<b: 3, f32>, !x
  %3 = xtensor.mul %1, %2 : !xtensor.array<f32>, !xtensor.array<b: 3, a: 2, f32>
  return %3 : !xtensor.array<b: 3, a: 2, f32>
}

// CHECK-LABEL: func.func @moved_back(
// CHECK-SAME: %[[X:[a-z0-9]+]]: !xtensor.array<b: 4, i: 6, f32>
// CHECK-NEXT: return %[[X]]
func.func @moved_back(%x: !xtensor.array<b: 4, i: 6, f32>) -> !xtensor.array<b: 4, i: 6, f32> {
  %y = xtensor.all_to_all %x from b to i across data communicator 0 of 2 : !xtensor.array<b: 4, i: 6, f32>
  %z = xtensor.all_to_all %y from i to b across data communicator 0 of 2 : !xtensor.array<b: 8, i: 3, f32>
  return %z : !xtensor.array<b: 4, i: 6, f32>
}

// CHECK-LABEL: func.func @moved_twice(
// CHECK-COUNT-2: xtensor.all_to_all
func.func @moved_twice(%x: !xtensor.array<b: 4, i: 6, f32>) -> !xtensor.array<b: 4, i: 6, f32> {
  %y = xtensor.all_to_all %x from b to i across data communicator 0 of 2 : !xtensor.array<b: 4, i: 6, f32>
  %z = xtensor.all_to_all %y from i to b across model communicator 1 of 2 : !xtensor.array<b: 8, i: 3, f32>
  return %z : !xtensor.array<b: 4, i: 6, f32>
}
