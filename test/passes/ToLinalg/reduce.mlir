// Reductions: a fill with the neutral element, then one op over the result's dims and the reduced ones.
// RUN: xtensor-opt %s --split-input-file --xtensor-to-linalg --xtensor-verify-linalg | FileCheck %s

// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
// CHECK-DAG: #[[Y:.*]] = affine_map<(d0, d1, d2) -> (d0)>
// CHECK-LABEL: func.func @max_over_two
// CHECK: %[[LOW:.*]] = arith.constant 0xFF800000 : f32
// CHECK: %[[INIT:.*]] = linalg.fill ins(%[[LOW]] : f32)
// CHECK: linalg.generic {indexing_maps = [#[[X]], #[[Y]]], iterator_types = ["parallel", "reduction", "reduction"]} ins(%arg0 {{.*}} outs(%[[INIT]]
// CHECK: arith.maximumf {{.*}} fastmath<nsz>
func.func @max_over_two(%x: !xtensor.array<a: 2, b: 3, c: 4, f32>) -> !xtensor.array<b: 3, f32> {
  %y = xtensor.reduce max %x over [c, a] : !xtensor.array<a: 2, b: 3, c: 4, f32>
  return %y : !xtensor.array<b: 3, f32>
}

// -----

// The order of the loops is that of memory, not that of the dims.
// CHECK: affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @sum_of_transposed
// CHECK: linalg.generic {{.*}} ins(%arg0 : tensor<2x3xf32>)
func.func @sum_of_transposed(%x: !xtensor.array<a: 2, b: 3, f32>) -> !xtensor.array<f32> {
  %t = xtensor.broadcast %x : (!xtensor.array<a: 2, b: 3, f32>) -> !xtensor.array<b: 3, a: 2, f32>
  %y = xtensor.reduce sum %t over [b, a] : !xtensor.array<b: 3, a: 2, f32>
  return %y : !xtensor.array<f32>
}

// -----

// The best value and its position side by side; better is strictly better, or the first NaN.
// CHECK-LABEL: func.func @argmax
// CHECK: %[[R:.*]]:2 = linalg.generic {{.*}} ins(%arg0 : tensor<3x4xf32>) outs(%{{.*}}, %{{.*}} : tensor<3xf32>, tensor<3xi64>)
// CHECK: %[[B:.*]] = arith.cmpf ugt
// CHECK: %[[N:.*]] = arith.cmpf ord
// CHECK: arith.andi %[[B]], %[[N]]
// CHECK: linalg.index 1
// CHECK: return %[[R]]#1
func.func @argmax(%x: !xtensor.array<a: 3, b: 4, f32>) -> !xtensor.array<a: 3, i64> {
  %y = xtensor.reduce argmax %x over [b] : !xtensor.array<a: 3, b: 4, f32>
  return %y : !xtensor.array<a: 3, i64>
}

// -----

// Half precision sums in f32 and is rounded once.
// CHECK-LABEL: func.func @half
// CHECK: linalg.generic {{.*}} ins(%arg0 : tensor<3x4xf16>) outs(%{{.*}} : tensor<3xf32>)
// CHECK: linalg.generic
// CHECK: arith.truncf
func.func @half(%x: !xtensor.array<a: 3, b: 4, f16>) -> !xtensor.array<a: 3, f16> {
  %y = xtensor.reduce sum %x over [b] : !xtensor.array<a: 3, b: 4, f16>
  return %y : !xtensor.array<a: 3, f16>
}

// -----

// So do extrema, though none of their steps needs it: one operation combines two of them.

// CHECK-LABEL: func.func @half_max
// CHECK:         arith.extf %{{.*}} : bf16 to f32
// CHECK-NEXT:    arith.maximumf %{{.*}}, %{{.*}} fastmath<nsz> : f32
// CHECK-NEXT:    linalg.yield
// CHECK:         arith.truncf
func.func @half_max(%x: !xtensor.array<a: 3, b: 4, bf16>) -> !xtensor.array<a: 3, bf16> {
  %y = xtensor.reduce max %x over [b] : !xtensor.array<a: 3, b: 4, bf16>
  return %y : !xtensor.array<a: 3, bf16>
}

// -----

// A strided slice that is summed is a slice of the tensor: a loop's range comes from an axis.
// CHECK-LABEL: func.func @slice
// CHECK: %[[S:.*]] = tensor.extract_slice %arg0[1] [4] [2] : tensor<9xf32> to tensor<4xf32>
// CHECK: linalg.generic {{.*}} ins(%[[S]]
func.func @slice(%x: !xtensor.array<a: 9, f32>) -> !xtensor.array<f32> {
  %s = xtensor.slice %x [a] offsets [1] sizes [4] strides [2] : !xtensor.array<a: 9, f32>
  %y = xtensor.reduce sum %s over [a] : !xtensor.array<a: 4, f32>
  return %y : !xtensor.array<f32>
}

// -----

// Copies of one number need no loop.
// CHECK-LABEL: func.func @count
// CHECK-NOT: linalg.generic
// CHECK: arith.constant 1.200000e+01 : f32
func.func @count() -> !xtensor.array<f32> {
  %one = xtensor.constant dense<1.0> : tensor<3x4xf32> as !xtensor.array<a: 3, b: 4, f32>
  %y = xtensor.reduce sum %one over [a, b] : !xtensor.array<a: 3, b: 4, f32>
  return %y : !xtensor.array<f32>
}
