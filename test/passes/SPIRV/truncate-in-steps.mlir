// RUN: xtensor-opt %s --xtensor-truncate-in-steps | FileCheck %s

// CHECK-LABEL: @truncate
// CHECK:         %[[NEAR:.*]] = arith.truncf %arg0 : f64 to f32
// CHECK:         %[[BACK:.*]] = arith.extf %[[NEAR]]
// CHECK:         %[[INEXACT:.*]] = arith.cmpf one, %[[BACK]], %arg0
// CHECK:         %[[ODD:.*]] = arith.ori
// CHECK:         arith.select %[[INEXACT]], %[[ODD]]
// CHECK:         arith.truncf %{{.*}} : f32 to bf16
func.func @truncate(%x: f64) -> bf16 {
  %y = arith.truncf %x : f64 to bf16
  return %y : bf16
}

// CHECK-LABEL: @once
// CHECK-NEXT:    arith.truncf %arg0 : f32 to bf16
// CHECK-NEXT:    return
func.func @once(%x: f32) -> bf16 {
  %y = arith.truncf %x : f32 to bf16
  return %y : bf16
}
