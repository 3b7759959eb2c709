// RUN: xtensor-opt %s --xtensor-to-llvm | FileCheck %s

// Rounded by arithmetic on the bits: the processor's instruction takes subnormal numbers for 0. Double
// to bfloat16 is one rounding, by the runtime.

// CHECK-LABEL: @narrow
// CHECK-NOT:     llvm.fptrunc {{.*}} vector<16xf32>
// CHECK:         llvm.bitcast %{{.*}} : vector<16xf32> to vector<16xi32>
// CHECK:         llvm.lshr
// CHECK:         llvm.trunc %{{.*}} : vector<16xi32> to vector<16xi16>
// CHECK:         llvm.bitcast %{{.*}} : vector<16xi16> to vector<16xbf16>
func.func @narrow(%x: vector<16xf32>) -> vector<16xbf16> {
  %y = arith.truncf %x : vector<16xf32> to vector<16xbf16>
  return %y : vector<16xbf16>
}

// CHECK-LABEL: @from_double
// CHECK:         llvm.fptrunc %{{.*}} : f64 to bf16
func.func @from_double(%x: f64) -> bf16 {
  %y = arith.truncf %x : f64 to bf16
  return %y : bf16
}

// CHECK-LABEL: @widen
// CHECK:         llvm.fpext %{{.*}} : bf16 to f32
func.func @widen(%x: bf16) -> f32 {
  %y = arith.extf %x : bf16 to f32
  return %y : f32
}
