// A function by polynomials of the pieces of an interval: an instruction of AVX-512 reads the coefficients
// of 16 lanes. Lanes of any shape take the same way, so that a value does not depend on its place.
// RUN: xtensor-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(xtensor-expand-math))' | FileCheck %s

module attributes {xtensor.processor = "cpu:x86-64-v4"} {
// CHECK-LABEL: func.func @lanes
// CHECK: %[[PLACES:.*]] = arith.bitcast %{{.*}} : vector<16xf32> to vector<16xi32>
// CHECK: %[[C0:.*]] = llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.ps.512"(%{{.*}}, %[[PLACES]], %{{.*}})
// CHECK-COUNT-5: llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.ps.512"(%{{.*}}, %[[PLACES]], %{{.*}})
// CHECK: arith.addf %{{.*}}, %[[C0]]
// CHECK: scf.if
func.func @lanes(%x: vector<16xf32>) -> vector<16xf32> {
  %y = xtensor.elementary "ndtr" %x : vector<16xf32>
  return %y : vector<16xf32>
}

// A result of bfloat16 needs 4 coefficients.
// CHECK-LABEL: func.func @narrow
// CHECK-COUNT-4: vpermi2var
// CHECK-NOT: vpermi2var
// CHECK: arith.truncf
func.func @narrow(%x: vector<16xf32>) -> vector<16xbf16> {
  %y = xtensor.elementary "ndtr" %x : vector<16xf32>
  %r = arith.truncf %y : vector<16xf32> to vector<16xbf16>
  return %r : vector<16xbf16>
}

// erf is a product, so that it keeps its digits near 0, and the sign of 0.
// CHECK-LABEL: func.func @odd
// CHECK-SAME: %[[X:.*]]: vector<16xf32>
// CHECK-COUNT-5: vpermi2var
// CHECK: %[[Y:.*]] = arith.mulf %[[X]]
// CHECK: math.copysign %{{.*}}, %[[X]]
func.func @odd(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.erf %x : vector<16xf32>
  return %y : vector<16xf32>
}

// CHECK-LABEL: func.func @number
// CHECK: %[[PLACES:.*]] = vector.broadcast %{{.*}} : i32 to vector<16xi32>
// CHECK-COUNT-6: vpermi2var.ps.512"(%{{.*}}, %[[PLACES]], %{{.*}})
// CHECK: vector.extract %{{.*}}[0]
func.func @number(%x: f32) -> f32 {
  %y = xtensor.elementary "ndtr" %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @half
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 0, 0, 0, 0, 0, 0, 0, 0]
// CHECK-COUNT-6: vpermi2var
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 1, 2, 3, 4, 5, 6, 7] :
func.func @half(%x: vector<8xf32>) -> vector<8xf32> {
  %y = xtensor.elementary "ndtr" %x : vector<8xf32>
  return %y : vector<8xf32>
}

// CHECK-LABEL: func.func @square
// CHECK: vector.shape_cast %{{.*}} : vector<2x16xi32> to vector<32xi32>
// CHECK-COUNT-12: vpermi2var
// CHECK: vector.shape_cast %{{.*}} : vector<32xf32> to vector<2x16xf32>
func.func @square(%x: vector<2x16xf32>) -> vector<2x16xf32> {
  %y = xtensor.elementary "ndtr" %x : vector<2x16xf32>
  return %y : vector<2x16xf32>
}
}

// -----

// Processors without the instruction.
module attributes {xtensor.processor = "cpu:x86-64-v3"} {
// CHECK-LABEL: func.func @without
// CHECK-NOT: vpermi2var
// CHECK: return
func.func @without(%x: vector<8xf32>) -> vector<8xf32> {
  %n = xtensor.elementary "ndtr" %x : vector<8xf32>
  %y = math.erf %n : vector<8xf32>
  return %y : vector<8xf32>
}
}
