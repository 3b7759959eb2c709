// Parts of different sizes: the third number of the mesh is the position of this process.
// RUN: xtensor-opt %s --xtensor-distribute --split-input-file --verify-diagnostics | FileCheck %s

// The last process has one of 5 positions. It sends zeros after it.
// CHECK-LABEL: func.func @gathered(
// CHECK-SAME: %[[X:[a-z0-9]+]]: !xtensor.array<b: 1, f32>
// CHECK: %[[P:.+]] = xtensor.pad %[[X]] with %{{.+}} [b] low [0] high [1]
// CHECK: %[[ALL:.+]] = xtensor.all_gather %[[P]] along b across data communicator 0 of 3 {xtensor.order = 0 : i64} : <b: 2, f32>
// CHECK: xtensor.slice %[[ALL]] [b] offsets [0] sizes [5]
func.func @gathered(%x: !xtensor.array<b: 5, f32>) -> !xtensor.array<b: 5, i64>
    attributes {xtensor.mesh = {data = array<i64: 3, 0, 2>}, xtensor.split = {b = "data"}} {
  %y = xtensor.argsort %x along b : !xtensor.array<b: 5, f32>
  return %y : !xtensor.array<b: 5, i64>
}

// -----

// CHECK-LABEL: func.func @moved(
// CHECK-SAME: %[[X:[a-z0-9]+]]: !xtensor.array<b: 2, i: 4, f32>
// CHECK: %[[P:.+]] = xtensor.pad %[[X]] with %{{.+}} [b] low [0] high [1]
// CHECK: %[[A:.+]] = xtensor.all_to_all %[[P]] from b to i across data communicator 0 of 2 {xtensor.order = 0 : i64} : <b: 3, i: 4, f32>
// CHECK: %[[S:.+]] = xtensor.slice %[[A]] [b] offsets [0] sizes [5]
// CHECK: xtensor.argsort %[[S]] along b : <b: 5, i: 2, f32>
func.func @moved(%x: !xtensor.array<b: 5, i: 4, f32>) -> !xtensor.array<b: 5, i: 4, i64>
    attributes {xtensor.mesh = {data = array<i64: 2, 0, 1>}, xtensor.split = {b = "data"}} {
  %y = xtensor.argsort %x along b : !xtensor.array<b: 5, i: 4, f32>
  return %y : !xtensor.array<b: 5, i: 4, i64>
}

// -----

// expected-error @+1 {{argument 0: dim "b" of (b: 1) is split along "data" of the mesh, and the last of 2 processes would have no part of it; rename it to a dim that is not split}}
func.func @one(%x: !xtensor.array<b: 1, f32>) -> !xtensor.array<b: 1, f32>
    attributes {xtensor.mesh = {data = array<i64: 2, 0, 1>}, xtensor.split = {b = "data"}} {
  return %x : !xtensor.array<b: 1, f32>
}

// -----

// expected-error @+1 {{expected the number of processes and the communicator, and the position of this process if parts differ in size, got array<i64: 2, 0, 2>}}
func.func @outside(%x: !xtensor.array<b: 3, f32>) -> !xtensor.array<b: 3, f32>
    attributes {xtensor.mesh = {data = array<i64: 2, 0, 2>}, xtensor.split = {b = "data"}} {
  return %x : !xtensor.array<b: 3, f32>
}

// -----

// expected-error @+1 {{argument 0: dim "b" of (b: 4) is split along "data" of the mesh, and the last of 3 processes would have no part of it; rename it to a dim that is not split}}
func.func @empty(%x: !xtensor.array<b: 4, f32>) -> !xtensor.array<b: 4, f32>
    attributes {xtensor.mesh = {data = array<i64: 3, 0, 0>}, xtensor.split = {b = "data"}} {
  return %x : !xtensor.array<b: 4, f32>
}
