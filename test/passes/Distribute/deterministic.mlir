// The same bits for any number of processes: sums of blocks, of which there are always 4, by one tree.
// RUN: xtensor-opt %s --xtensor-distribute --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @sum(
// CHECK-SAME: %[[X:[a-z0-9]+]]: !xtensor.array<b: 8, f32>
// CHECK-SAME: attributes {xtensor.unfused}
// CHECK-DAG: %[[X0:.+]] = xtensor.halo %[[X]] along b start 0 step 8 size 4 across data communicator 0 of 2
// CHECK-DAG: %[[X1:.+]] = xtensor.halo %[[X]] along b start 4 step 8 size 4 across data communicator 0 of 2
// CHECK-DAG: %[[S0:.+]] = xtensor.reduce sum %[[X0]] over [b]
// CHECK-DAG: %[[S1:.+]] = xtensor.reduce sum %[[X1]] over [b]
// CHECK: %[[MINE:.+]] = xtensor.concat %{{.+}}, %{{.+}} along "b~0"
// CHECK-NEXT: %[[ALL:.+]] = xtensor.all_gather %[[MINE]] along "b~0" across data communicator 0 of 2 : <"b~0": 2, f32>
// CHECK-NEXT: %[[L:.+]] = xtensor.slice %[[ALL]] ["b~0"] offsets [0] sizes [2] strides [1]
// CHECK-NEXT: %[[R:.+]] = xtensor.slice %[[ALL]] ["b~0"] offsets [2] sizes [2] strides [1]
// CHECK-NEXT: %[[H:.+]] = xtensor.add %[[L]], %[[R]] : <"b~0": 2, f32>, <"b~0": 2, f32>
// CHECK: xtensor.add %{{.+}}, %{{.+}} : <"b~0": 1, f32>, <"b~0": 1, f32>
// CHECK-NEXT: xtensor.squeeze
// CHECK-NEXT: return
func.func @sum(%x: !xtensor.array<b: 16, f32>) -> !xtensor.array<f32>
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {b = "data"}, xtensor.blocks = 4 : i64} {
  %y = xtensor.reduce sum %x over [b] : !xtensor.array<b: 16, f32>
  return %y : !xtensor.array<f32>
}

// -----

// A matrix product rounds by its sizes, so each block is a product of its own. An extremum does not.
// CHECK-LABEL: func.func @rows(
// CHECK-COUNT-2: xtensor.contract %{{.+}}, %{{.+}} over [i] : !xtensor.array<b: 2, i: 3, f32>, !xtensor.array<i: 3, f32>
// CHECK: xtensor.concat
// CHECK: xtensor.reduce max %{{.+}} over [b] : <b: 4, i: 3, f32>
// CHECK-NEXT: xtensor.all_reduce max
func.func @rows(%x: !xtensor.array<b: 8, i: 3, f32>, %w: !xtensor.array<i: 3, f32>) -> (!xtensor.array<b: 8, f32>, !xtensor.array<i: 3, f32>)
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {b = "data"}, xtensor.blocks = 4 : i64} {
  %y = xtensor.contract %x, %w over [i] : !xtensor.array<b: 8, i: 3, f32>, !xtensor.array<i: 3, f32>
  %m = xtensor.reduce max %x over [b] : !xtensor.array<b: 8, i: 3, f32>
  return %y, %m : !xtensor.array<b: 8, f32>, !xtensor.array<i: 3, f32>
}

// -----

// expected-error @+1 {{attribute xtensor.blocks: expected a number that each number of processes of the mesh divides, got 3 : i64}}
func.func @blocks(%x: !xtensor.array<b: 6, f32>) -> !xtensor.array<b: 6, f32>
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {b = "data"}, xtensor.blocks = 3 : i64} {
  return %x : !xtensor.array<b: 6, f32>
}

// -----

// expected-error @+1 {{argument 0: dim "b" of (b: 6) is split along "data" of the mesh, and its size cannot be divided by 4 blocks; rename it to a dim that is not split}}
func.func @size(%x: !xtensor.array<b: 6, f32>) -> !xtensor.array<b: 6, f32>
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {b = "data"}, xtensor.blocks = 4 : i64} {
  return %x : !xtensor.array<b: 6, f32>
}

// -----

// What is stored block by block needs a dim of known size: here b.
// CHECK-LABEL: func.func @dynamic
// CHECK: %[[FIRST:.*]] = xtensor.halo %arg0 along b start 0 step 4 size 2
// CHECK: xtensor.contract %[[FIRST]], %arg1 over [i]
// CHECK: xtensor.halo %{{.*}} along b start 0 step 2 size 2
func.func @dynamic(%x: !xtensor.array<b: 8, i: ?, f32>, %w: !xtensor.array<i: ?, f32>) -> !xtensor.array<b: 8, f32>
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {b = "data"}, xtensor.blocks = 4 : i64} {
  %y = xtensor.contract %x, %w over [i] : !xtensor.array<b: 8, i: ?, f32>, !xtensor.array<i: ?, f32>
  return %y : !xtensor.array<b: 8, f32>
}
