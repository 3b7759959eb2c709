// Slices, pads and windows along a split dim: each process asks for the elements that its part needs.
// RUN: xtensor-opt %s --xtensor-distribute --split-input-file | FileCheck %s

!x = !xtensor.array<b: 8, f32>

// A shift: the array of 9 elements is in no program.
// CHECK-LABEL: func.func @shift(
// CHECK-SAME: %[[X:[a-z0-9]+]]: !xtensor.array<b: 4, f32>
// CHECK-NEXT: %[[Y:.+]] = xtensor.halo %[[X]] along b start -1 step 4 size 4 across data communicator 0 of 2 : <b: 4, f32>
// CHECK-NEXT: return %[[Y]] : !xtensor.array<b: 4, f32>
func.func @shift(%x: !x) -> !x
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {b = "data"}} {
  %zero = xtensor.constant dense<0.0> : tensor<f32> as <f32>
  %p = xtensor.pad %x with %zero [b] low [1] high [0] interior [0] : !x, !xtensor.array<f32>
  %y = xtensor.slice %p [b] offsets [0] sizes [8] strides [1] : !xtensor.array<b: 9, f32>
  return %y : !x
}

// -----

!x = !xtensor.array<b: 8, f32>
!n = !xtensor.array<b: 6, f32>

// A stencil: one message with both neighbours. What its pad adds is not zero, so positions decide.
// CHECK-LABEL: func.func @stencil(
// CHECK-SAME: %[[X:[a-z0-9]+]]: !xtensor.array<b: 2, f32>
// CHECK-NOT: all_gather
// CHECK: %[[H:.+]] = xtensor.halo %[[X]] along b start -1 step 2 size 4 across data communicator 0 of 4 : <b: 2, f32>
// CHECK-DAG: %[[L:.+]] = xtensor.slice %[[H]] [b] offsets [0] sizes [2] strides [1]
// CHECK-DAG: %[[R:.+]] = xtensor.slice %[[H]] [b] offsets [2] sizes [2] strides [1]
// CHECK: %[[S:.+]] = xtensor.add %[[L]], %[[R]]
// CHECK: %[[Y:.+]] = xtensor.select %{{.+}}, %[[S]], %{{.+}}
// CHECK-NEXT: return %[[Y]] : !xtensor.array<b: 2, f32>
func.func @stencil(%x: !x) -> !x
    attributes {xtensor.mesh = {data = array<i64: 4, 0>}, xtensor.split = {b = "data"}} {
  %one = xtensor.constant dense<1.0> : tensor<f32> as <f32>
  %l = xtensor.slice %x [b] offsets [0] sizes [6] strides [1] : !x
  %r = xtensor.slice %x [b] offsets [2] sizes [6] strides [1] : !x
  %s = xtensor.add %l, %r : !n, !n
  %y = xtensor.pad %s with %one [b] low [1] high [1] interior [0] : !n, !xtensor.array<f32>
  return %y : !x
}

// -----

!x = !xtensor.array<b: 8, f32>

// The last process sends one element to the first; the others, to the next.
// CHECK-LABEL: func.func @roll(
// CHECK-SAME: %[[X:[a-z0-9]+]]: !xtensor.array<b: 4, f32>
// CHECK-NOT: all_gather
// CHECK-DAG: xtensor.halo %[[X]] along b start 7 step 4 size 4
// CHECK-DAG: xtensor.halo %[[X]] along b start -1 step 4 size 4
// CHECK: xtensor.select
func.func @roll(%x: !x) -> !x
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {b = "data"}} {
  %l = xtensor.slice %x [b] offsets [7] sizes [1] strides [1] : !x
  %r = xtensor.slice %x [b] offsets [0] sizes [7] strides [1] : !x
  %y = xtensor.concat %l, %r along b : !xtensor.array<b: 1, f32>, !xtensor.array<b: 7, f32>
  return %y : !x
}

// -----

!x = !xtensor.array<b: 8, f32>

// Windows, and their transpose, which adds no windows that are not there.
// CHECK-LABEL: func.func @windows(
// CHECK-SAME: %[[X:[a-z0-9]+]]: !xtensor.array<b: 4, f32>
// CHECK-NOT: all_gather
// CHECK: %[[H:.+]] = xtensor.halo %[[X]] along b start -2 step 4 size 8
// CHECK: %[[W:.+]] = xtensor.window %[[H]] b into w size 3 stride 1 dilation 1 : <b: 8, f32>
// CHECK: %[[T:.+]] = xtensor.select %{{.+}}, %[[W]], %{{.+}}
// CHECK: %[[S:.+]] = xtensor.overlap_add %[[T]] b from w length 8 stride 1 dilation 1 : <b: 6, w: 3, f32>
// CHECK: xtensor.slice %[[S]] [b] offsets [2] sizes [4] strides [1]
func.func @windows(%x: !x) -> !x
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {b = "data"}} {
  %w = xtensor.window %x b into w size 3 stride 1 dilation 1 : !x
  %y = xtensor.overlap_add %w b from w length 8 stride 1 dilation 1 : !xtensor.array<b: 6, w: 3, f32>
  return %y : !x
}

// -----

!x = !xtensor.array<b: 8, f32>

// The sort needs all elements, so the shift sends none.
// CHECK-LABEL: func.func @both(
// CHECK: xtensor.all_gather
// CHECK-NOT: halo
// CHECK: return
func.func @both(%x: !x) -> (!x, !xtensor.array<b: 8, i64>)
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {b = "data"}} {
  %zero = xtensor.constant dense<0.0> : tensor<f32> as <f32>
  %p = xtensor.pad %x with %zero [b] low [1] high [0] interior [0] : !x, !xtensor.array<f32>
  %y = xtensor.slice %p [b] offsets [0] sizes [8] strides [1] : !xtensor.array<b: 9, f32>
  %s = xtensor.argsort %x along b : !x
  return %y, %s : !x, !xtensor.array<b: 8, i64>
}

// -----

// 6 elements are not parts of 3: two processes would have other elements of them than of the 8.
// CHECK-LABEL: func.func @between(
// CHECK: xtensor.halo %{{.+}} along b start -2 step 4 size 4 across data communicator 0 of 2 : <b: 4, f32>
// CHECK-NOT: halo
// CHECK: return
func.func @between(%x: !xtensor.array<b: 8, f32>) -> !xtensor.array<b: 8, f32>
    attributes {xtensor.mesh = {data = array<i64: 2, 0>}, xtensor.split = {b = "data"}} {
  %zero = xtensor.constant dense<0.0> : tensor<f32> as <f32>
  %l = xtensor.slice %x [b] offsets [0] sizes [6] strides [1] : !xtensor.array<b: 8, f32>
  %c = xtensor.cos %l : !xtensor.array<b: 6, f32>
  %y = xtensor.pad %c with %zero [b] low [2] high [0] interior [0] : !xtensor.array<b: 6, f32>, !xtensor.array<f32>
  return %y : !xtensor.array<b: 8, f32>
}
