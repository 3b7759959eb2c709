// A function that stands for ops is from the places of all of them.
// RUN: xtensor-opt %s --xtensor-expand-scalar-math --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: func.func private @xt_tanh_f32
// CHECK:         return {{.*}} loc("p.py":3:4)
// CHECK-LABEL: func.func private @xt_exp_f32
// CHECK-NOT:     loc(unknown)
// CHECK:         return {{.*}} loc(fused["p.py":1:2, "p.py":2:3])
// CHECK-LABEL: func.func @f
func.func @f(%x: f32) -> f32 {
  // CHECK: call @xt_exp_f32({{.*}} loc("p.py":1:2)
  %y = math.exp %x : f32 loc("p.py":1:2)
  %z = math.exp %y : f32 loc("p.py":2:3)
  %t = math.tanh %z : f32 loc("p.py":3:4)
  return %t : f32
}
