// The split moves to a dim that an op does not touch, and back: no process gets the whole array.
// RUN: xtensor-opt %s --xtensor-distribute --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @renamed(
// CHECK-SAME: %[[X:[a-z0-9]+]]: !xtensor.array<b: 2, i: 8, f32>
// CHECK-NEXT: %[[A:.+]] = xtensor.all_to_all %[[X]] from b to i across data communicator 0 of 2 : <b: 2, i: 8, f32>
// CHECK-NEXT: %[[Y:.+]] = xtensor.rename %[[A]] [b, i] to [i, b] : <b: 4, i: 4, f32>
// CHECK-NEXT: return %[[Y]] : !xtensor.array<i: 4, b: 4, f32>
func.func @renamed(%x: !xtensor.array<b: 4, i: 8, f32>) -> !xtensor.array<i: 4, b: 8, f32>
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {b = "data"}} {
  %y = xtensor.rename %x [b, i] to [i, b] : !xtensor.array<b: 4, i: 8, f32>
  return %y : !xtensor.array<i: 4, b: 8, f32>
}

// -----

// The positions go to the reads as they are: one move there for each array, one back for the result.
// CHECK-LABEL: func.func @sorted(
// CHECK-NOT: all_gather
// CHECK: %[[A:.+]] = xtensor.all_to_all %{{.+}} from b to i across data communicator 0 of 2
// CHECK: %[[AT:.+]] = xtensor.argsort %[[A]] along b : <b: 8, i: 3, f32>
// CHECK: %[[Y:.+]] = xtensor.gather clip %[[A]] at %[[AT]] along [b]
// CHECK: %[[B:.+]] = xtensor.all_to_all %[[Y]] from i to b across data communicator 0 of 2 : <b: 8, i: 3, f32>
// CHECK-NOT: all_to_all
// CHECK: return %[[B]] : !xtensor.array<b: 4, i: 6, f32>
func.func @sorted(%x: !xtensor.array<b: 8, i: 6, f32>) -> !xtensor.array<b: 8, i: 6, f32>
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {b = "data"}} {
  %at = xtensor.argsort %x along b : !xtensor.array<b: 8, i: 6, f32>
  %y = xtensor.gather clip %x at %at along [b] : !xtensor.array<b: 8, i: 6, f32>, !xtensor.array<b: 8, i: 6, i64>
  return %y : !xtensor.array<b: 8, i: 6, f32>
}

// -----

// No other dim can be cut: 7 positions are not divisible.
// CHECK-LABEL: func.func @odd(
// CHECK-NOT: all_to_all
// CHECK: xtensor.all_gather
func.func @odd(%x: !xtensor.array<b: 8, i: 7, f32>) -> !xtensor.array<b: 8, i: 7, i64>
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {b = "data"}} {
  %at = xtensor.argsort %x along b : !xtensor.array<b: 8, i: 7, f32>
  return %at : !xtensor.array<b: 8, i: 7, i64>
}

// -----

// The dim that is not split first; then the split moves to it. The parts of complex numbers stay together.
// CHECK-LABEL: func.func @fourier(
// CHECK: %[[I:.+]] = xtensor.fourier forward %{{.+}} along [i] pair c : <b: 4, i: 6, c: 2, f32>
// CHECK: %[[A:.+]] = xtensor.all_to_all %[[I]] from b to i across data
// CHECK: %[[B:.+]] = xtensor.fourier forward %[[A]] along [b] pair c : <b: 8, i: 3, c: 2, f32>
// CHECK: %[[Y:.+]] = xtensor.all_to_all %[[B]] from i to b across data
// CHECK: return %[[Y]]
func.func @fourier(%x: !xtensor.array<b: 8, i: 6, c: 2, f32>) -> !xtensor.array<b: 8, i: 6, c: 2, f32>
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {b = "data"}} {
  %y = xtensor.fourier forward %x along [b, i] pair c : !xtensor.array<b: 8, i: 6, c: 2, f32>
  return %y : !xtensor.array<b: 8, i: 6, c: 2, f32>
}

// -----

// CHECK-LABEL: func.func @alone(
// CHECK-NOT: all_to_all
func.func @alone(%x: !xtensor.array<b: 8, c: 2, f32>) -> !xtensor.array<b: 8, c: 2, f32>
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {b = "data"}} {
  %y = xtensor.fourier forward %x along [b] pair c : !xtensor.array<b: 8, c: 2, f32>
  return %y : !xtensor.array<b: 8, c: 2, f32>
}

// -----

// A recurrence runs on each part twice; of each, the other processes get the last value and one product.
// CHECK-LABEL: func.func @recurrence(
// CHECK-NOT: along t across
// CHECK: xtensor.recurrence %{{.+}}, %{{.+}} along t : <t: 4, f32>, <t: 4, k: 3, f32>
// CHECK-DAG: xtensor.all_gather %{{.+}} along t across data communicator 0 of 2 : <t: 1, f32>
// CHECK-DAG: xtensor.all_gather %{{.+}} along t across data communicator 0 of 2 : <t: 1, k: 3, f32>
// CHECK: xtensor.recurrence %{{.+}}, %{{.+}} along t {exclusive} : <t: 2, f32>, <t: 2, k: 3, f32>
// CHECK: xtensor.recurrence %{{.+}}, %{{.+}} along t : <t: 4, f32>, <t: 4, k: 3, f32>
func.func @recurrence(%d: !xtensor.array<t: 8, f32>, %x: !xtensor.array<t: 8, k: 3, f32>) -> !xtensor.array<t: 8, k: 3, f32>
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {t = "data"}} {
  %y = xtensor.recurrence %d, %x along t : !xtensor.array<t: 8, f32>, !xtensor.array<t: 8, k: 3, f32>
  return %y : !xtensor.array<t: 8, k: 3, f32>
}

// -----

// A decay that is the same in all steps gets the dim. The result keeps the order of its dims.
// CHECK-LABEL: func.func @recurrence_of_one_decay(
// CHECK-SAME: -> !xtensor.array<b: 2, t: 4, k: 3, f32>
// CHECK: xtensor.recurrence %{{.+}}, %{{.+}} along t {exclusive} : <t: 2, b: 2, f32>, <t: 2, b: 2, k: 3, f32>
func.func @recurrence_of_one_decay(%d: !xtensor.array<b: 2, f32>, %x: !xtensor.array<t: 8, k: 3, f32>) -> !xtensor.array<b: 2, t: 8, k: 3, f32>
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {t = "data"}} {
  %y = xtensor.recurrence %d, %x along t : !xtensor.array<b: 2, f32>, !xtensor.array<t: 8, k: 3, f32>
  return %y : !xtensor.array<b: 2, t: 8, k: 3, f32>
}
