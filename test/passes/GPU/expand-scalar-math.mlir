// Elementary functions of scalars become arithmetic: long ones a function per type, called.
// RUN: xtensor-opt %s --xtensor-expand-scalar-math | FileCheck %s
// RUN: xtensor-opt %s --xtensor-expand-scalar-math=calls=false | FileCheck %s --check-prefix=INLINE
// What is left has instructions everywhere, and no operation is of 64-bit integers or may be changed.
// RUN: xtensor-opt %s --xtensor-expand-scalar-math | FileCheck %s --check-prefix=LEFT

// LEFT-NOT: math.{{(exp|tanh|powf|rsqrt|copysign|sin)}} {{.*}} : {{b?f}}
// LEFT-NOT: math.fma
// LEFT-NOT: i64
// LEFT-NOT: fastmath
// INLINE-NOT: call @
// INLINE-NOT: func.func private

// CHECK-LABEL: func.func private @xt_log_f64(%arg0: f64) -> f64
// CHECK-LABEL: func.func private @xt_erfinv_f64
// CHECK:         call @xt_log_f64
// CHECK-LABEL: func.func private @xt_exp_f32(%arg0: f32) -> f32
// CHECK-LABEL: func.func private @xt_exp_f64(%arg0: f64) -> f64
// CHECK-NOT:   func.func private @xt_exp_f64

// CHECK-LABEL: func.func @exp
func.func @exp(%x: f64) -> f64 {
  // CHECK: %[[Y:.*]] = call @xt_exp_f64(%arg0) : (f64) -> f64
  %y = math.exp %x : f64
  // CHECK: %[[Z:.*]] = call @xt_exp_f64(%[[Y]]) : (f64) -> f64
  %z = math.exp %y : f64
  // CHECK: return %[[Z]]
  return %z : f64
}

// f16 and bf16 are computed in f32 and rounded once.
// CHECK-LABEL: func.func @half
func.func @half(%x: bf16) -> bf16 {
  // CHECK: %[[X:.*]] = arith.extf %arg0 : bf16 to f32
  // CHECK: %[[Y:.*]] = call @xt_exp_f32(%[[X]])
  // CHECK: arith.truncf %[[Y]] : f32 to bf16
  %y = math.exp %x : bf16
  return %y : bf16
}

// CHECK-LABEL: func.func @calls_another
func.func @calls_another(%x: f64) -> f64 {
  // CHECK: call @xt_erfinv_f64
  %y = xtensor.elementary "erfinv" %x : f64
  return %y : f64
}

// Short ones stay in line. The sign of an f64 is a bit of its upper word.
// CHECK-LABEL: func.func @short
func.func @short(%x: f64, %y: f64) -> (f64, f64) {
  // CHECK: %[[A:.*]] = math.absf %arg0
  // CHECK: %[[V:.*]] = vector.from_elements %arg1 : vector<1xf64>
  // CHECK: %[[W:.*]] = vector.bitcast %[[V]] : vector<1xf64> to vector<2xi32>
  // CHECK: vector.extract %[[W]][1] : i32 from vector<2xi32>
  // CHECK: arith.andi
  %z = math.copysign %x, %y : f64
  // CHECK: %[[R:.*]] = math.sqrt %arg1
  // CHECK: arith.divf %{{.*}}, %[[R]]
  %r = math.rsqrt %y : f64
  return %z, %r : f64, f64
}

// What has an instruction stays, and so do vectors.
// CHECK-LABEL: func.func @kept
func.func @kept(%x: f32, %v: vector<4xf32>) -> (f32, vector<4xf32>) {
  // CHECK: math.sqrt
  // CHECK: math.floor
  // CHECK: math.roundeven
  // CHECK: math.absf
  // CHECK: math.exp %{{.*}} : vector<4xf32>
  %a = math.sqrt %x : f32
  %b = math.floor %a : f32
  %c = math.roundeven %b : f32
  %d = math.absf %c : f32
  %w = math.exp %v : vector<4xf32>
  return %d, %w : f32, vector<4xf32>
}
