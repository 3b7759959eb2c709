// Shifted reads of one large array become slices of one array with a margin.
// RUN: xtensor-opt %s --xtensor-simplify | FileCheck %s

!x = !xtensor.array<a: 64, b: 100, f32>
!wide = !xtensor.array<a: 66, b: 100, f32>
!f = !xtensor.array<f32>

// Both rolls read the array between its last and its first two rows. A third one is too far.
// CHECK-LABEL: func.func @rolls
// CHECK-DAG: %[[LAST:.*]] = xtensor.slice %arg0 [a] offsets [63] sizes [1]
// CHECK-DAG: %[[FIRST:.*]] = xtensor.slice %arg0 [a] offsets [0] sizes [2]
// CHECK: %[[WIDE:.*]] = xtensor.concat %[[LAST]], %arg0, %[[FIRST]] along a
// CHECK-DAG: %[[DOWN:.*]] = xtensor.slice %[[WIDE]] [a] offsets [0] sizes [64]
// CHECK-DAG: %[[UP:.*]] = xtensor.slice %[[WIDE]] [a] offsets [3] sizes [64]
// CHECK-DAG: %[[FAR:.*]] = xtensor.concat {{.*}} along a
// CHECK: return %[[DOWN]], %[[UP]], %[[FAR]]
func.func @rolls(%x: !x) -> (!x, !x, !x) {
  %0 = xtensor.slice %x [a] offsets [63] sizes [1] strides [1] : !x
  %1 = xtensor.slice %x [a] offsets [0] sizes [63] strides [1] : !x
  %2 = xtensor.concat %0, %1 along a : !xtensor.array<a: 1, b: 100, f32>, !xtensor.array<a: 63, b: 100, f32>
  %3 = xtensor.slice %x [a] offsets [2] sizes [62] strides [1] : !x
  %4 = xtensor.slice %x [a] offsets [0] sizes [2] strides [1] : !x
  %5 = xtensor.concat %3, %4 along a : !xtensor.array<a: 62, b: 100, f32>, !xtensor.array<a: 2, b: 100, f32>
  %6 = xtensor.slice %x [a] offsets [30] sizes [34] strides [1] : !x
  %7 = xtensor.slice %x [a] offsets [0] sizes [30] strides [1] : !x
  %8 = xtensor.concat %6, %7 along a : !xtensor.array<a: 34, b: 100, f32>, !xtensor.array<a: 30, b: 100, f32>
  return %2, %5, %8 : !x, !x, !x
}

// What one roll reads is read once, in any case.
// CHECK-LABEL: func.func @one_roll
// CHECK: xtensor.concat %{{.*}}, %{{.*}} along a
// CHECK-NOT: xtensor.concat
func.func @one_roll(%x: !x) -> !x {
  %0 = xtensor.slice %x [a] offsets [63] sizes [1] strides [1] : !x
  %1 = xtensor.slice %x [a] offsets [0] sizes [63] strides [1] : !x
  %2 = xtensor.concat %0, %1 along a : !xtensor.array<a: 1, b: 100, f32>, !xtensor.array<a: 63, b: 100, f32>
  return %2 : !x
}

// The gradient of a stencil: three pads of one array, of whose sum a part is read.
// CHECK-LABEL: func.func @pads
// CHECK: %[[PAD:.*]] = xtensor.pad %arg0 with %{{.*}} [a, b] low [2, 0] high [2, 0]
// CHECK-DAG: %[[P0:.*]] = xtensor.slice %[[PAD]] [a] offsets [3] sizes [64]
// CHECK-DAG: %[[P1:.*]] = xtensor.slice %[[PAD]] [a] offsets [2] sizes [64]
// CHECK: %[[S:.*]] = xtensor.add %[[P0]], %[[P1]]
// CHECK: %[[P2:.*]] = xtensor.slice %[[PAD]] [a] offsets [1] sizes [64]
// CHECK: %[[T:.*]] = xtensor.sub %[[S]], %[[P2]]
// CHECK: return %[[T]]
func.func @pads(%x: !x) -> !x {
  %zero = xtensor.constant dense<0.0> : tensor<f32> as <f32>
  %0 = xtensor.pad %x with %zero [a] low [0] high [2] interior [0] : !x, !f
  %1 = xtensor.pad %x with %zero [a] low [1] high [1] interior [0] : !x, !f
  %2 = xtensor.pad %x with %zero [a] low [2] high [0] interior [0] : !x, !f
  %3 = xtensor.add %0, %1 : !wide, !wide
  %4 = xtensor.sub %3, %2 : !wide, !wide
  %5 = xtensor.slice %4 [a] offsets [1] sizes [64] strides [1] : !wide
  return %5 : !x
}

// CHECK-LABEL: func.func @pad_of_pad
// CHECK: xtensor.pad %arg0 with %arg1 [a, b] low [3, 1] high [0, 4] interior [0, 0]
// CHECK-NOT: xtensor.pad
func.func @pad_of_pad(%x: !x, %v: !f) -> !xtensor.array<a: 67, b: 105, f32> {
  %0 = xtensor.pad %x with %v [a] low [1] high [0] interior [0] : !x, !f
  %1 = xtensor.pad %0 with %v [b, a] low [1, 2] high [4, 0] interior [0, 0] : !xtensor.array<a: 65, b: 100, f32>, !f
  return %1 : !xtensor.array<a: 67, b: 105, f32>
}

// Multiples of an array that only slices read: the slices are multiplied. Of an array that somebody else reads they are
// slices.
// CHECK-LABEL: func.func @slices_of_multiples
// CHECK-DAG: %[[S0:.*]] = xtensor.slice %arg0 [a] offsets [0] sizes [63]
// CHECK-DAG: %[[M0:.*]] = xtensor.mul %[[S0]], %arg1
// CHECK-DAG: %[[S1:.*]] = xtensor.slice %arg0 [a] offsets [1] sizes [1]
// CHECK-DAG: %[[M1:.*]] = xtensor.mul %arg1, %[[S1]]
// CHECK-DAG: %[[N:.*]] = xtensor.neg %arg0
// CHECK-DAG: %[[S2:.*]] = xtensor.slice %[[N]] [a] offsets [1] sizes [1]
// CHECK: return %[[M0]], %[[M1]], %[[N]], %[[S2]]
func.func @slices_of_multiples(%x: !x, %s: !f) -> (!xtensor.array<a: 63, b: 100, f32>, !xtensor.array<a: 1, b: 100, f32>, !x, !xtensor.array<a: 1, b: 100, f32>) {
  %0 = xtensor.mul %x, %s : !x, !f
  %1 = xtensor.slice %0 [a] offsets [0] sizes [63] strides [1] : !x
  %2 = xtensor.mul %s, %x : !f, !x
  %3 = xtensor.slice %2 [a] offsets [1] sizes [1] strides [1] : !x
  %4 = xtensor.neg %x : !x
  %5 = xtensor.slice %4 [a] offsets [1] sizes [1] strides [1] : !x
  return %1, %3, %4, %5 : !xtensor.array<a: 63, b: 100, f32>, !xtensor.array<a: 1, b: 100, f32>, !x, !xtensor.array<a: 1, b: 100, f32>
}
