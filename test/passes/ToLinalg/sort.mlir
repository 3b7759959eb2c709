// Sorting is one call; the routine sees the dim that is sorted last, whatever the stored order.
// RUN: xtensor-opt %s --xtensor-to-linalg --xtensor-verify-linalg | FileCheck %s

// CHECK-LABEL: func.func @argsort
// CHECK: %[[E:.*]] = tensor.empty() : tensor<3x5xi64>
// CHECK: %[[Y:.*]] = xtensor.library "xt_argsort" ins(%arg0 : tensor<3x5xi16>) outs(%[[E]] : tensor<3x5xi64>)
// CHECK-SAME: axes = [array<i64: 1, 0>, array<i64: 1, 0>], options = array<i64: 1, 1>
// CHECK: return %[[Y]]
func.func @argsort(%x: !xtensor.array<t: 3, b: 5, ui16>) -> !xtensor.array<t: 3, b: 5, i64> {
  %y = xtensor.argsort %x along t {descending} : !xtensor.array<t: 3, b: 5, ui16>
  return %y : !xtensor.array<t: 3, b: 5, i64>
}

// Where only the first positions are read, no others are found.
// CHECK-LABEL: func.func @first_ones
// CHECK: xtensor.library "xt_top_k" ins(%arg0 : tensor<50xf32>)
// CHECK-SAME: options = array<i64: 1, 0, 4>
func.func @first_ones(%x: !xtensor.array<t: 50, f32>) -> (!xtensor.array<t: 4, i64>, !xtensor.array<t: 3, i64>) {
  %y = xtensor.argsort %x along t {descending} : !xtensor.array<t: 50, f32>
  %0 = xtensor.slice %y [t] offsets [0] sizes [4] strides [1] : !xtensor.array<t: 50, i64>
  %1 = xtensor.slice %y [t] offsets [0] sizes [3] strides [1] : !xtensor.array<t: 50, i64>
  return %0, %1 : !xtensor.array<t: 4, i64>, !xtensor.array<t: 3, i64>
}

// CHECK-LABEL: func.func @every_second
// CHECK: xtensor.library "xt_argsort"
func.func @every_second(%x: !xtensor.array<t: 50, f32>) -> !xtensor.array<t: 4, i64> {
  %y = xtensor.argsort %x along t : !xtensor.array<t: 50, f32>
  %0 = xtensor.slice %y [t] offsets [0] sizes [4] strides [2] : !xtensor.array<t: 50, i64>
  return %0 : !xtensor.array<t: 4, i64>
}

// Of few places, as quantiles read, those are found.
// CHECK-LABEL: func.func @places
// CHECK: xtensor.library "xt_select" ins(%arg0 : tensor<100xf32>)
// CHECK-SAME: options = array<i64: 0, 0, 3, 9, 49, 50>
func.func @places(%x: !xtensor.array<t: 100, f32>) -> (!xtensor.array<t: 2, i64>, !xtensor.array<t: 1, i64>) {
  %y = xtensor.argsort %x along t : !xtensor.array<t: 100, f32>
  %0 = xtensor.slice %y [t] offsets [49] sizes [2] strides [1] : !xtensor.array<t: 100, i64>
  %1 = xtensor.slice %y [t] offsets [9] sizes [1] strides [1] : !xtensor.array<t: 100, i64>
  return %0, %1 : !xtensor.array<t: 2, i64>, !xtensor.array<t: 1, i64>
}

// Where only the elements are read, they are sorted without positions.
// CHECK-LABEL: func.func @elements
// CHECK-NOT: xt_argsort
// CHECK: %[[Y:.*]] = xtensor.library "xt_sort" ins(%arg0 : tensor<3x5xf32>) outs(%{{.*}} : tensor<3x5xf32>)
// CHECK-SAME: axes = [array<i64: 1, 0>, array<i64: 1, 0>], options = array<i64: 0, 0>
// CHECK: return %[[Y]]
func.func @elements(%x: !xtensor.array<t: 3, b: 5, f32>) -> !xtensor.array<t: 3, b: 5, f32> {
  %p = xtensor.argsort %x along t : !xtensor.array<t: 3, b: 5, f32>
  %y = xtensor.gather clip %x at %p along [t] : !xtensor.array<t: 3, b: 5, f32>, !xtensor.array<t: 3, b: 5, i64>
  return %y : !xtensor.array<t: 3, b: 5, f32>
}

// CHECK-LABEL: func.func @elements_and_positions
// CHECK: xtensor.library "xt_argsort"
// CHECK-NOT: xt_sort
func.func @elements_and_positions(%x: !xtensor.array<t: 3, f32>) -> (!xtensor.array<t: 3, f32>, !xtensor.array<t: 3, i64>) {
  %p = xtensor.argsort %x along t : !xtensor.array<t: 3, f32>
  %y = xtensor.gather clip %x at %p along [t] : !xtensor.array<t: 3, f32>, !xtensor.array<t: 3, i64>
  return %y, %p : !xtensor.array<t: 3, f32>, !xtensor.array<t: 3, i64>
}
