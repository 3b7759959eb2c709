// Products of bfloat16 on a processor that has instructions for them: a routine takes all arrays as they are stored.
// RUN: xtensor-opt %s --split-input-file --xtensor-to-linalg=bfloat16-products --xtensor-verify-linalg | FileCheck %s

// CHECK-LABEL: func.func @plain
// CHECK: %[[OUT:.*]] = tensor.empty() : tensor<32x20xbf16>
// CHECK: %[[C:.*]] = xtensor.library "xt_bfloat16_product" ins(%arg0, %arg1 : tensor<32x16xbf16>, tensor<16x20xbf16>) outs(%[[OUT]] : tensor<32x20xbf16>) {axes = [array<i64: 0, 1>, array<i64: 0, 1>, array<i64: 0, 1>], options = array<i64: 0, 1, 1>}
// CHECK: return %[[C]]
func.func @plain(%a: !xtensor.array<i: 32, k: 16, bf16>, %b: !xtensor.array<k: 16, j: 20, bf16>)
    -> !xtensor.array<i: 32, j: 20, bf16> {
  %c = xtensor.contract %a, %b over [k] : !xtensor.array<i: 32, k: 16, bf16>, !xtensor.array<k: 16, j: 20, bf16>
  return %c : !xtensor.array<i: 32, j: 20, bf16>
}

// -----

// Rows of two dims, a batch between them, and sums in the order of the larger factor.
// CHECK-LABEL: func.func @axes
// CHECK: xtensor.library "xt_bfloat16_product"
// CHECK-SAME: {axes = [array<i64: 1, 0, 4, 2, 3>, array<i64: 1, 3, 0, 2>, array<i64: 2, 0, 3, 1>], options = array<i64: 1, 2, 1>}
!a = !xtensor.array<i: 8, n: 3, k: 6, l: 7, h: 9, bf16>
!b = !xtensor.array<l: 7, n: 3, j: 20, k: 6, bf16>
!c = !xtensor.array<i: 8, j: 20, n: 3, h: 9, bf16>
func.func @axes(%a: !a, %b: !b) -> !c {
  %c = xtensor.contract %a, %b over [k, l] order [i, j, n, h] : !a, !b
  return %c : !c
}

// -----

// The size of an open dim counts as large.
// CHECK-LABEL: func.func @open
// CHECK: xtensor.library "xt_bfloat16_product"
func.func @open(%a: !xtensor.array<i: ?, k: 16, bf16>, %b: !xtensor.array<k: 16, j: 20, bf16>)
    -> !xtensor.array<i: ?, j: 20, bf16> {
  %c = xtensor.contract %a, %b over [k] : !xtensor.array<i: ?, k: 16, bf16>, !xtensor.array<k: 16, j: 20, bf16>
  return %c : !xtensor.array<i: ?, j: 20, bf16>
}

// -----

// Of small products, those with few rows, columns or terms stay loops.
// CHECK-LABEL: func.func @cube
// CHECK: xtensor.library "xt_bfloat16_product"
func.func @cube(%a: !xtensor.array<n: 9, i: 8, k: 20, bf16>, %b: !xtensor.array<n: 9, k: 20, j: 8, bf16>)
    -> !xtensor.array<n: 9, i: 8, j: 8, bf16> {
  %c = xtensor.contract %a, %b over [k] : !xtensor.array<n: 9, i: 8, k: 20, bf16>, !xtensor.array<n: 9, k: 20, j: 8, bf16>
  return %c : !xtensor.array<n: 9, i: 8, j: 8, bf16>
}

// -----

// Loops of few terms. float16 has other instructions.
// CHECK-LABEL: func.func @not
// CHECK-NOT: xtensor.library
func.func @not(%a: !xtensor.array<i: 36, k: 7, bf16>, %b: !xtensor.array<k: 7, j: 16, bf16>,
               %d: !xtensor.array<i: 64, k: 64, f16>, %e: !xtensor.array<k: 64, j: 64, f16>)
    -> (!xtensor.array<i: 36, j: 16, bf16>, !xtensor.array<i: 64, j: 64, f16>) {
  %c = xtensor.contract %a, %b over [k] : !xtensor.array<i: 36, k: 7, bf16>, !xtensor.array<k: 7, j: 16, bf16>
  %f = xtensor.contract %d, %e over [k] : !xtensor.array<i: 64, k: 64, f16>, !xtensor.array<k: 64, j: 64, f16>
  return %c, %f : !xtensor.array<i: 36, j: 16, bf16>, !xtensor.array<i: 64, j: 64, f16>
}
