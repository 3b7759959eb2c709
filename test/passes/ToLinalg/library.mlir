// A call of a routine works on tensors already: names end before it, and the phase leaves it alone.
// RUN: xtensor-opt %s --xtensor-to-linalg --xtensor-verify-linalg | FileCheck %s

// CHECK-LABEL: func.func @main(%{{.*}}: tensor<3x4xf32>
// CHECK: %[[R:.*]] = xtensor.library "xt_name" outs(%{{.*}} : tensor<3xf32>) -> tensor<3xf32>
// CHECK: return %{{.*}}, %[[R]]
func.func @main(%x: !xtensor.array<a: 3, b: 4, f32>, %t: tensor<3xf32>) -> (!xtensor.array<a: 3, b: 4, f32>, tensor<3xf32>) {
  %y = xtensor.neg %x : !xtensor.array<a: 3, b: 4, f32>
  %r = xtensor.library "xt_name" outs(%t : tensor<3xf32>) -> tensor<3xf32>
  return %y, %r : !xtensor.array<a: 3, b: 4, f32>, tensor<3xf32>
}
