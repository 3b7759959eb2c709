// A Fourier transform is one call. The routine sees the dims that are transformed last, and the pairs behind them, whatever
// the stored order.
// RUN: xtensor-opt %s --xtensor-to-linalg --xtensor-verify-linalg | FileCheck %s

// CHECK-LABEL: func.func @forward
// CHECK: %[[E:.*]] = tensor.empty() : tensor<8x3x2xf32>
// CHECK: %[[Y:.*]] = xtensor.library "xt_fourier" ins(%arg0 : tensor<8x3x2xf32>) outs(%[[E]] : tensor<8x3x2xf32>)
// CHECK-SAME: axes = [array<i64: 1, 0, 2>, array<i64: 1, 0, 2>], options = array<i64: 0, 1, 4602678819172646912>
// CHECK: return %[[Y]]
func.func @forward(%x: !xtensor.array<t: 8, b: 3, c: 2, f32>) -> !xtensor.array<t: 8, b: 3, c: 2, f32> {
  %y = xtensor.fourier forward %x along [t] pair c {scale = 0.5} : !xtensor.array<t: 8, b: 3, c: 2, f32>
  return %y : !xtensor.array<t: 8, b: 3, c: 2, f32>
}

// Several dims are one call, the last one of them last.
// CHECK-LABEL: func.func @real
// CHECK: xtensor.library "xt_fourier" ins(%arg0 : tensor<8x3x6xf64>) outs(%{{.*}} : tensor<5x3x6x2xf64>)
// CHECK-SAME: axes = [array<i64: 1, 2, 0>, array<i64: 1, 2, 0, 3>], options = array<i64: 2, 2, 4607182418800017408>
func.func @real(%x: !xtensor.array<t: 8, b: 3, s: 6, f64>) -> !xtensor.array<t: 5, b: 3, s: 6, c: 2, f64> {
  %y = xtensor.fourier real %x along [s, t] pair c : !xtensor.array<t: 8, b: 3, s: 6, f64>
  return %y : !xtensor.array<t: 5, b: 3, s: 6, c: 2, f64>
}

// Parts that are stored apart become pairs first.
// CHECK-LABEL: func.func @hermitian
// CHECK: %[[PAIRS:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<2x4xf32>) outs(%{{.*}} : tensor<4x2xf32>)
// CHECK: xtensor.library "xt_fourier" ins(%[[PAIRS]] : tensor<4x2xf32>) outs(%{{.*}} : tensor<7xf32>)
// CHECK-SAME: axes = [array<i64: 0, 1>, array<i64: 0>], options = array<i64: 3, 1, 4607182418800017408>
func.func @hermitian(%x: !xtensor.array<c: 2, t: 4, f32>) -> !xtensor.array<t: 7, f32> {
  %y = xtensor.fourier hermitian %x along [t] pair c size 7 : !xtensor.array<c: 2, t: 4, f32>
  return %y : !xtensor.array<t: 7, f32>
}

// A slice is not copied.
// CHECK-LABEL: func.func @slice
// CHECK: %[[S:.*]] = tensor.extract_slice %arg0[1, 0] [4, 2] [2, 1]
// CHECK: xtensor.library "xt_fourier" ins(%[[S]] : tensor<4x2xf32>)
func.func @slice(%x: !xtensor.array<t: 9, c: 2, f32>) -> !xtensor.array<t: 4, c: 2, f32> {
  %0 = xtensor.slice %x [t] offsets [1] sizes [4] strides [2] : !xtensor.array<t: 9, c: 2, f32>
  %y = xtensor.fourier backward %0 along [t] pair c : !xtensor.array<t: 4, c: 2, f32>
  return %y : !xtensor.array<t: 4, c: 2, f32>
}

// Of numbers whose imaginary parts are all zero, half are transformed: the routine mirrors them.
// CHECK-LABEL: func.func @of_real_parts
// CHECK: xtensor.library "xt_fourier" ins(%arg0 : tensor<3x8xf32>) outs(%{{.*}} : tensor<3x8x2xf32>)
// CHECK-SAME: axes = [array<i64: 0, 1>, array<i64: 0, 1, 2>], options = array<i64: 4, 1,
func.func @of_real_parts(%x: !xtensor.array<b: 3, t: 8, f32>) -> !xtensor.array<b: 3, t: 8, c: 2, f32> {
  %first = xtensor.constant dense<[true, false]> : tensor<2xi1> as !xtensor.array<c: 2, i1>
  %zero = xtensor.constant dense<0.0> : tensor<f32> as !xtensor.array<f32>
  %0 = xtensor.select %first, %x, %zero : !xtensor.array<c: 2, i1>, !xtensor.array<b: 3, t: 8, f32>, !xtensor.array<f32>
  %1 = xtensor.broadcast %0 : (!xtensor.array<c: 2, b: 3, t: 8, f32>) -> !xtensor.array<b: 3, t: 8, c: 2, f32>
  %y = xtensor.fourier forward %1 along [t] pair c : !xtensor.array<b: 3, t: 8, c: 2, f32>
  return %y : !xtensor.array<b: 3, t: 8, c: 2, f32>
}
