// A product that is added to something else is one operation with the sum, wherever the sum is
// computed and whatever else reads the product.
// RUN: xtensor-opt %s --xtensor-fuse-products | FileCheck %s
// RUN: xtensor-opt %s --xtensor-fuse-products --xtensor-to-linalg | FileCheck %s --check-prefix=LINALG
// RUN: xtensor-opt %s --compile-to=linalg --target=cpu:x86-64-v3 | FileCheck %s --check-prefix=LINALG
// Processors without the instruction, and devices, round the product.
// RUN: xtensor-opt %s --compile-to=linalg --target=cpu:x86-64-v2 | FileCheck %s --check-prefix=ROUNDED
// RUN: xtensor-opt %s --compile-to=linalg --target=vulkan | FileCheck %s --check-prefix=ROUNDED
// ROUNDED-NOT: math.fma

// CHECK-LABEL: func.func @difference
// CHECK: %[[P:.*]] = xtensor.mul %arg0, %arg0
// CHECK: xtensor.sub %[[P]], %arg1 {xtensor.fused = 0 : i64}
// LINALG-LABEL: func.func @difference
// LINALG-NOT: arith.mulf
// LINALG: ins(%arg0, %arg1 :
// LINALG: ^bb0(%[[X:.*]]: f32, %[[Z:.*]]: f32, %{{.*}}: f32):
// LINALG: %[[M:.*]] = arith.negf %[[Z]]
// LINALG: math.fma %[[X]], %[[X]], %[[M]]
func.func @difference(%x: !xtensor.array<i: 4, f32>, %z: !xtensor.array<i: 4, f32>)
    -> !xtensor.array<i: 4, f32> {
  %p = xtensor.mul %x, %x : !xtensor.array<i: 4, f32>, !xtensor.array<i: 4, f32>
  %y = xtensor.sub %p, %z : !xtensor.array<i: 4, f32>, !xtensor.array<i: 4, f32>
  return %y : !xtensor.array<i: 4, f32>
}

// Another use of the product reads it rounded.
// CHECK-LABEL: func.func @subtracted
// CHECK: xtensor.sub %arg1, %{{.*}} {xtensor.fused = 1 : i64}
// LINALG-LABEL: func.func @subtracted
// LINALG: arith.mulf
// LINALG: ins(%arg0, %arg1 :
// LINALG: ^bb0(%[[X:.*]]: f64, %[[Z:.*]]: f64, %{{.*}}: f64):
// LINALG: %[[M:.*]] = arith.negf %[[X]]
// LINALG: math.fma %[[M]], %[[X]], %[[Z]]
func.func @subtracted(%x: !xtensor.array<i: 4, f64>, %z: !xtensor.array<i: 4, f64>)
    -> (!xtensor.array<i: 4, f64>, !xtensor.array<i: 4, f64>) {
  %p = xtensor.mul %x, %x : !xtensor.array<i: 4, f64>, !xtensor.array<i: 4, f64>
  %y = xtensor.sub %z, %p : !xtensor.array<i: 4, f64>, !xtensor.array<i: 4, f64>
  return %p, %y : !xtensor.array<i: 4, f64>, !xtensor.array<i: 4, f64>
}

// Of two products neither is; nor is a product with fewer dims than the sum, or of halves.
// CHECK-LABEL: func.func @rounded
// CHECK-NOT: xtensor.fused
func.func @rounded(%x: !xtensor.array<i: 4, f32>, %z: !xtensor.array<j: 3, i: 4, f32>,
                   %h: !xtensor.array<i: 4, f16>)
    -> (!xtensor.array<i: 4, f32>, !xtensor.array<j: 3, i: 4, f32>, !xtensor.array<i: 4, f16>) {
  %p = xtensor.mul %x, %x : !xtensor.array<i: 4, f32>, !xtensor.array<i: 4, f32>
  %q = xtensor.mul %p, %x : !xtensor.array<i: 4, f32>, !xtensor.array<i: 4, f32>
  %0 = xtensor.sub %p, %q : !xtensor.array<i: 4, f32>, !xtensor.array<i: 4, f32>
  %1 = xtensor.add %z, %p : !xtensor.array<j: 3, i: 4, f32>, !xtensor.array<i: 4, f32>
  %r = xtensor.mul %h, %h : !xtensor.array<i: 4, f16>, !xtensor.array<i: 4, f16>
  %2 = xtensor.add %r, %h : !xtensor.array<i: 4, f16>, !xtensor.array<i: 4, f16>
  return %0, %1, %2 : !xtensor.array<i: 4, f32>, !xtensor.array<j: 3, i: 4, f32>, !xtensor.array<i: 4, f16>
}

// The loop of updates stores the products of the states that it finds, so the product is rounded.
// CHECK-LABEL: func.func @states
// CHECK-NOT: xtensor.fused
func.func @states(%x: !xtensor.array<a: 7, f64>, %u: !xtensor.array<b: 2, f64>,
                  %i: !xtensor.array<b: 2, i64>, %z: !xtensor.array<b: 2, f64>) -> !xtensor.array<b: 2, f64> {
  %zero = xtensor.constant dense<0.0> : tensor<f64> as !xtensor.array<f64>
  %s = xtensor.accumulate states raise %x at %i times %u plus %zero along [a]
      : !xtensor.array<a: 7, f64>, !xtensor.array<b: 2, f64>, !xtensor.array<f64>, !xtensor.array<b: 2, i64>
  %p = xtensor.mul %s, %z : !xtensor.array<b: 2, f64>, !xtensor.array<b: 2, f64>
  %y = xtensor.add %p, %z : !xtensor.array<b: 2, f64>, !xtensor.array<b: 2, f64>
  return %y : !xtensor.array<b: 2, f64>
}
