// Vectors that libmvec computes: lanes outside of the domain get another argument, if there are any.
// RUN: xtensor-opt %s --pass-pipeline='builtin.module(func.func(xtensor-expand-math))' | FileCheck %s

// CHECK-LABEL: func.func @logarithm(
// CHECK-SAME: %[[X:.*]]: vector<8xf64>
// CHECK: %[[ANY:.*]] = vector.reduction <or>
// CHECK: scf.if %[[ANY]]
// CHECK: %[[INSIDE:.*]] = math.log %{{.*}} : vector<8xf64>
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[INSIDE]]
// CHECK: else
// CHECK: math.log %[[X]] : vector<8xf64>
func.func @logarithm(%x: vector<8xf64>) -> vector<8xf64> {
  %y = math.log %x : vector<8xf64>
  return %y : vector<8xf64>
}

// CHECK-LABEL: func.func @power(
// CHECK-SAME: %[[X:.*]]: vector<16xf32>, %[[Y:.*]]: vector<16xf32>
// CHECK: scf.if
// CHECK: math.powf %{{.*}}, %[[Y]]
// CHECK: else
// CHECK: math.powf %[[X]], %[[Y]]
func.func @power(%x: vector<16xf32>, %y: vector<16xf32>) -> vector<16xf32> {
  %z = math.powf %x, %y : vector<16xf32>
  return %z : vector<16xf32>
}

// libm knows all arguments.
// CHECK-LABEL: func.func @number
// CHECK-NOT: scf.if
// CHECK: return
func.func @number(%x: f64) -> f64 {
  %y = math.log1p %x : f64
  return %y : f64
}
