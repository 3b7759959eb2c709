// RUN: xtensor-opt %s --xtensor-to-llvm | FileCheck %s

// bfloat16 is held as its 16 bits, and rounded by arithmetic on them. The instruction of some processors
// takes subnormal numbers for 0: test_bfloat16_is_rounded_by_the_instruction asks for it there.
// Double to bfloat16 is one rounding, by the runtime.
module attributes {xtensor.processor = "cpu:x86-64-v4"} {

// CHECK-LABEL: @narrow
// CHECK-NOT:     llvm.fptrunc {{.*}} vector<16xf32>
// CHECK:         llvm.bitcast %{{.*}} : vector<16xf32> to vector<16xi32>
// CHECK:         llvm.lshr
// CHECK:         llvm.trunc %{{.*}} : vector<16xi32> to vector<16xi16>
// CHECK-NOT:     bf16
// CHECK:         llvm.return
func.func @narrow(%x: vector<16xf32>) -> vector<16xbf16> {
  %y = arith.truncf %x : vector<16xf32> to vector<16xbf16>
  return %y : vector<16xbf16>
}

// CHECK-LABEL: @from_double
// CHECK:         %[[ROUNDED:.*]] = llvm.fptrunc %{{.*}} : f64 to bf16
// CHECK:         llvm.bitcast %[[ROUNDED]] : bf16 to i16
func.func @from_double(%x: f64) -> bf16 {
  %y = arith.truncf %x : f64 to bf16
  return %y : bf16
}

// CHECK-LABEL: @widen
// CHECK-SAME:    (%[[BITS:.*]]: i16) -> f32
// CHECK:         %[[WIDE:.*]] = llvm.zext %[[BITS]] : i16 to i32
// CHECK:         %[[UPPER:.*]] = llvm.shl %[[WIDE]], %{{.*}} : i32
// CHECK:         llvm.bitcast %[[UPPER]] : i32 to f32
func.func @widen(%x: bf16) -> f32 {
  %y = arith.extf %x : bf16 to f32
  return %y : f32
}

// Double comes by way of float.
// CHECK-LABEL: @widen_twice
// CHECK:         llvm.zext %{{.*}} : vector<4xi16> to vector<4xi32>
// CHECK:         %[[SINGLE:.*]] = llvm.bitcast %{{.*}} : vector<4xi32> to vector<4xf32>
// CHECK:         llvm.fpext %[[SINGLE]] : vector<4xf32> to vector<4xf64>
func.func @widen_twice(%x: vector<4xbf16>) -> vector<4xf64> {
  %y = arith.extf %x : vector<4xbf16> to vector<4xf64>
  return %y : vector<4xf64>
}

// A scalar that goes from one block to another, a constant, a select and memory: no float is made.
// CHECK-LABEL: @moved
// CHECK-NOT:     bf16 {{[^,)]}}
// CHECK:         llvm.mlir.constant(16256 : i16) : i16
// CHECK:         llvm.load {{.*}} -> i16
// CHECK:       ^bb{{[0-9]+}}(%{{.*}}: i16):
// CHECK:         llvm.select %{{.*}} : i1, i16
// CHECK:         llvm.store {{.*}} : i16, !llvm.ptr
func.func @moved(%m: memref<4xbf16>, %i: index, %which: i1) {
  %one = arith.constant 1.0 : bf16
  cf.cond_br %which, ^read, ^done(%one : bf16)
^read:
  %x = memref.load %m[%i] : memref<4xbf16>
  cf.br ^done(%x : bf16)
^done(%y: bf16):
  %z = arith.select %which, %y, %one : bf16
  memref.store %z, %m[%i] : memref<4xbf16>
  return
}

}
