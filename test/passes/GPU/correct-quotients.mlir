// Where a device rounds quotients and roots badly they become functions, those inside of other
// functions as well; the other type keeps its instructions. Once more changes nothing.
// RUN: xtensor-opt %s --xtensor-expand-scalar-math=inexact=f32 | FileCheck %s
// RUN: xtensor-opt %s --xtensor-expand-scalar-math=inexact=f32 --xtensor-expand-scalar-math=inexact=f32 | FileCheck %s
// RUN: not xtensor-opt %s --xtensor-expand-scalar-math=inexact=f16 2>&1 | FileCheck %s --check-prefix=ERROR

// ERROR: error: inexact: f32 or f64, not 'f16'

// CHECK-LABEL: func.func private @xt_sqrt_f32
// CHECK: math.sqrt
// CHECK-LABEL: func.func private @xt_divf_f32
// CHECK: arith.divf
// CHECK-LABEL: func.func private @xt_log_f32
// CHECK-NOT: arith.divf
// CHECK: call @xt_divf_f32

// CHECK-LABEL: func.func @f
func.func @f(%x: f32, %y: f32, %z: f64) -> (f32, f64) {
  // CHECK: %[[Q:.*]] = call @xt_divf_f32(%arg0, %arg1) : (f32, f32) -> f32
  %q = arith.divf %x, %y : f32
  // CHECK: %[[R:.*]] = call @xt_sqrt_f32(%[[Q]]) : (f32) -> f32
  %r = math.sqrt %q : f32
  // CHECK: call @xt_log_f32(%[[R]]) : (f32) -> f32
  %l = math.log %r : f32
  // CHECK: arith.divf %arg2, %arg2 : f64
  %w = arith.divf %z, %z : f64
  return %l, %w : f32, f64
}

// Mesa's driver for CPUs rounds f64 wrongly on some processors.
// CHECK-LABEL: func.func @to_even
// CHECK: math.roundeven %arg0 : f32
// CHECK-NOT: math.roundeven
// CHECK: %[[M:.*]] = math.absf %arg1 : f64
// CHECK: %[[UP:.*]] = arith.addf %[[M]], %{{.*}} : f64
// CHECK: arith.subf %[[UP]], %{{.*}} : f64
// CHECK: return
func.func @to_even(%x: f32, %y: f64) -> (f32, f64) {
  %a = math.roundeven %x : f32
  %b = math.roundeven %y : f64
  return %a, %b : f32, f64
}
