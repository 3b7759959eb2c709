// RUN: xtensor-opt %s --xtensor-outline-parallel | FileCheck %s

// Equal bodies are one function; too little work stays in place.
// CHECK: func.func private @xt_parallel_for
// CHECK-LABEL: func.func @main
// CHECK: constant @parallel0
// CHECK: call @xt_parallel_for
// CHECK: constant @parallel0
// CHECK: call @xt_parallel_for
// CHECK: scf.for
// CHECK-NOT: call
// CHECK: return
// CHECK: func.func private @parallel0(%[[CONTEXT:.*]]: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64)
// CHECK: llvm.load
// CHECK: scf.for
// CHECK: memref.store
// CHECK-NOT: @parallel1
func.func @main(%x: memref<64xf32>, %y: memref<64xf32>) {
  %one = arith.constant 1.0 : f32
  scf.forall (%i) in (64) {
    memref.store %one, %x[%i] : memref<64xf32>
  } {xtensor.grain = 8 : i64}
  scf.forall (%i) in (64) {
    memref.store %one, %y[%i] : memref<64xf32>
  } {xtensor.grain = 8 : i64}
  scf.forall (%i) in (64) {
    memref.store %one, %y[%i] : memref<64xf32>
  } {xtensor.grain = 64 : i64}
  return
}
