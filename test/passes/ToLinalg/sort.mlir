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
