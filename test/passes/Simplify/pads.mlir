// Sums of arrays that are padded with zeros become what is there, part by part, one after another.
// RUN: xtensor-opt %s --xtensor-simplify | FileCheck %s

!x = !xtensor.array<a: 4, b: 3, f32>
!y = !xtensor.array<a: 4, b: 6, f32>
!f = !xtensor.array<f32>

// CHECK-LABEL: func.func @side_by_side
// CHECK-NEXT: %[[Y:.*]] = xtensor.concat %arg1, %arg0 along b
// CHECK-NEXT: return %[[Y]]
func.func @side_by_side(%p: !x, %q: !x) -> !y {
  %zero = xtensor.constant dense<0.0> : tensor<f32> as <f32>
  %0 = xtensor.pad %p with %zero [b] low [3] high [0] interior [0] : !x, !f
  %1 = xtensor.pad %q with %zero [b] low [0] high [3] interior [0] : !x, !f
  %2 = xtensor.add %0, %1 : !y, !y
  return %2 : !y
}

// What overlaps is added in the order in which it was; where nothing is there are zeros, and what is not padded goes along.
// CHECK-LABEL: func.func @overlapping
// CHECK-DAG: %[[W0:.*]] = xtensor.slice %arg2 [b] offsets [0] sizes [1]
// CHECK-DAG: %[[W1:.*]] = xtensor.slice %arg2 [b] offsets [1] sizes [1]
// CHECK-DAG: %[[P0:.*]] = xtensor.slice %arg0 [b] offsets [0] sizes [1]
// CHECK-DAG: %[[S1:.*]] = xtensor.add %[[W1]], %[[P0]]
// CHECK-DAG: %[[W2:.*]] = xtensor.slice %arg2 [b] offsets [2] sizes [2]
// CHECK-DAG: %[[P1:.*]] = xtensor.slice %arg0 [b] offsets [1] sizes [2]
// CHECK-DAG: %[[Q0:.*]] = xtensor.slice %arg1 [b] offsets [0] sizes [2]
// CHECK-DAG: %[[S2:.*]] = xtensor.add %[[W2]], %[[P1]]
// CHECK-DAG: %[[T2:.*]] = xtensor.add %[[S2]], %[[Q0]]
// CHECK-DAG: %[[W4:.*]] = xtensor.slice %arg2 [b] offsets [4] sizes [1]
// CHECK-DAG: %[[Q2:.*]] = xtensor.slice %arg1 [b] offsets [2] sizes [1]
// CHECK-DAG: %[[T4:.*]] = xtensor.add %[[W4]], %[[Q2]]
// CHECK-DAG: %[[W5:.*]] = xtensor.slice %arg2 [b] offsets [5] sizes [1]
// CHECK: xtensor.concat %[[W0]], %[[S1]], %[[T2]], %[[T4]], %[[W5]] along b
func.func @overlapping(%p: !x, %q: !x, %w: !y) -> !y {
  %zero = xtensor.constant dense<0.0> : tensor<f32> as <f32>
  %0 = xtensor.pad %p with %zero [b] low [1] high [2] interior [0] : !x, !f
  %1 = xtensor.pad %q with %zero [b] low [2] high [1] interior [0] : !x, !f
  %2 = xtensor.add %w, %0 : !y, !y
  %3 = xtensor.add %2, %1 : !y, !y
  return %3 : !y
}

!one = !xtensor.array<a: 4, b: 1, f32>

// Differences of neighbours: a sign that is changed is taken into the sum.
// CHECK-LABEL: func.func @gaps_and_signs
// CHECK-DAG: %[[N:.*]] = xtensor.neg %arg0
// CHECK-DAG: %[[Z:.*]] = xtensor.broadcast {{.*}} -> !xtensor.array<a: 4, b: 2, f32>
// CHECK-DAG: %[[D:.*]] = xtensor.sub %arg1, %arg0
// CHECK: xtensor.concat %[[N]], %[[Z]], %[[D]], %[[Z]] along b
func.func @gaps_and_signs(%p: !one, %q: !one) -> !y {
  %zero = xtensor.constant dense<0.0> : tensor<f32> as <f32>
  %n = xtensor.neg %p : !one
  %0 = xtensor.pad %n with %zero [b] low [0] high [5] interior [0] : !one, !f
  %1 = xtensor.pad %n with %zero [b] low [3] high [2] interior [0] : !one, !f
  %2 = xtensor.pad %q with %zero [b] low [3] high [2] interior [0] : !one, !f
  %3 = xtensor.add %1, %2 : !y, !y
  %4 = xtensor.add %0, %3 : !y, !y
  return %4 : !y
}

!c = !xtensor.array<a: 2, b: 3, f32>

// One dim after the other: corners of a square.
// CHECK-LABEL: func.func @two_dims
// CHECK-DAG: %[[UP:.*]] = xtensor.concat %arg0, %arg1 along b
// CHECK-DAG: %[[DOWN:.*]] = xtensor.concat %arg2, %arg3 along b
// CHECK: xtensor.concat %[[UP]], %[[DOWN]] along a
// CHECK-NOT: xtensor.pad
func.func @two_dims(%p: !c, %q: !c, %r: !c, %s: !c) -> !y {
  %zero = xtensor.constant dense<0.0> : tensor<f32> as <f32>
  %0 = xtensor.pad %p with %zero [a, b] low [0, 0] high [2, 3] interior [0, 0] : !c, !f
  %1 = xtensor.pad %q with %zero [a, b] low [0, 3] high [2, 0] interior [0, 0] : !c, !f
  %2 = xtensor.pad %r with %zero [b, a] low [0, 2] high [3, 0] interior [0, 0] : !c, !f
  %3 = xtensor.pad %s with %zero [b, a] low [3, 2] high [0, 0] interior [0, 0] : !c, !f
  %4 = xtensor.add %0, %1 : !y, !y
  %5 = xtensor.add %2, %3 : !y, !y
  %6 = xtensor.add %4, %5 : !y, !y
  return %6 : !y
}

// A single one is added as it is; others than zeros are there; what lies between neighbours is no part; what somebody
// else reads is made.
// CHECK-LABEL: func.func @left_as_they_are
// CHECK-NOT: xtensor.concat
// CHECK: return
func.func @left_as_they_are(%p: !x, %q: !x, %w: !y) -> (!y, !y, !y, !y, !y) {
  %zero = xtensor.constant dense<0.0> : tensor<f32> as <f32>
  %one = xtensor.constant dense<1.0> : tensor<f32> as <f32>
  %0 = xtensor.pad %p with %zero [b] low [1] high [2] interior [0] : !x, !f
  %1 = xtensor.add %w, %0 : !y, !y
  %2 = xtensor.pad %q with %one [b] low [2] high [1] interior [0] : !x, !f
  %3 = xtensor.add %0, %2 : !y, !y
  %4 = xtensor.pad %p with %zero [b] low [1] high [0] interior [1] : !x, !f
  %5 = xtensor.pad %q with %zero [b] low [0] high [1] interior [1] : !x, !f
  %6 = xtensor.add %4, %5 : !y, !y
  %7 = xtensor.add %1, %2 : !y, !y
  return %1, %3, %4, %6, %7 : !y, !y, !y, !y, !y
}
