// Matrix products in layouts that a library takes: per batch element, each of the three is one matrix.
// RUN: xtensor-opt %s --split-input-file --xtensor-to-linalg --xtensor-verify-linalg | FileCheck %s

// Loops: batch, left, right, contracted. Heads in the middle are a matter of strides, not of copies.
// CHECK-DAG: #[[Q:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d1, d4)>
// CHECK-DAG: #[[K:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d1, d4)>
// CHECK-DAG: #[[S:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
// CHECK-LABEL: func.func @attention_scores
// CHECK: linalg.fill
// CHECK-NEXT: linalg.generic {indexing_maps = [#[[Q]], #[[K]], #[[S]]], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%arg0, %arg1
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK-NOT: linalg.generic
!q = !xtensor.array<batch: 2, query: 64, head: 4, feature: 32, f32>
!k = !xtensor.array<batch: 2, key: 64, head: 4, feature: 32, f32>
!s = !xtensor.array<batch: 2, head: 4, query: 64, key: 64, f32>
func.func @attention_scores(%q: !q, %k: !k) -> !s {
  %s = xtensor.contract %q, %k over [feature] order [batch, head, query, key] : !q, !k
  return %s : !s
}

// -----

// The transposed result is the transposed product: operands swap, no copy.
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-LABEL: func.func @transposed
// CHECK: linalg.generic {indexing_maps = [#[[B]], #[[A]], #{{.*}}], {{.*}} ins(%arg1, %arg0
// CHECK-NOT: linalg.generic
func.func @transposed(%a: !xtensor.array<i: 8, k: 16, f32>, %b: !xtensor.array<k: 16, j: 5, f32>)
    -> !xtensor.array<j: 5, i: 8, f32> {
  %c = xtensor.contract %a, %b over [k] order [j, i] : !xtensor.array<i: 8, k: 16, f32>, !xtensor.array<k: 16, j: 5, f32>
  return %c : !xtensor.array<j: 5, i: 8, f32>
}

// -----

// Contracted dims in two orders: the smaller operand is packed, once.
// CHECK-DAG: #[[P:.*]] = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
// CHECK-LABEL: func.func @packed
// CHECK: %[[P1:.*]] = linalg.generic {indexing_maps = [#[[P]], {{.*}} ins(%arg1 : tensor<4x3x5xf32>) outs(%{{.*}} : tensor<3x4x5xf32>)
// CHECK: linalg.generic {{.*}} ins(%arg0, %[[P1]] : tensor<8x3x4xf32>, tensor<3x4x5xf32>)
// CHECK-NOT: linalg.generic
func.func @packed(%a: !xtensor.array<i: 8, k: 3, l: 4, f32>, %b: !xtensor.array<l: 4, k: 3, j: 5, f32>)
    -> !xtensor.array<i: 8, j: 5, f32> {
  %c = xtensor.contract %a, %b over [k, l] : !xtensor.array<i: 8, k: 3, l: 4, f32>, !xtensor.array<l: 4, k: 3, j: 5, f32>
  return %c : !xtensor.array<i: 8, j: 5, f32>
}

// -----

// bfloat16: operands are widened in memory, so that a library can do the work; the result is rounded once.
// CHECK-LABEL: func.func @bfloat16
// CHECK: linalg.generic {{.*}} ins(%arg0 : tensor<8x16xbf16>) outs(%{{.*}} : tensor<8x16xf32>)
// CHECK: linalg.generic {{.*}} ins(%arg1 : tensor<16x5xbf16>) outs(%{{.*}} : tensor<16x5xf32>)
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<8x5xf32>)
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<8x5xbf16>)
// CHECK: arith.truncf
func.func @bfloat16(%a: !xtensor.array<i: 8, k: 16, bf16>, %b: !xtensor.array<k: 16, j: 5, bf16>)
    -> !xtensor.array<i: 8, j: 5, bf16> {
  %c = xtensor.contract %a, %b over [k] : !xtensor.array<i: 8, k: 16, bf16>, !xtensor.array<k: 16, j: 5, bf16>
  return %c : !xtensor.array<i: 8, j: 5, bf16>
}

// -----

// No matrix product: one loop nest over the result's dims and what is summed.
// CHECK-LABEL: func.func @rows
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%arg0, %arg1
// CHECK-NOT: linalg.generic
func.func @rows(%a: !xtensor.array<k: 16, i: 8, f32>, %b: !xtensor.array<i: 8, k: 16, f32>) -> !xtensor.array<i: 8, f32> {
  %c = xtensor.contract %a, %b over [k] : !xtensor.array<k: 16, i: 8, f32>, !xtensor.array<i: 8, k: 16, f32>
  return %c : !xtensor.array<i: 8, f32>
}
