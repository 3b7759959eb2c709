// RUN: xtensor-opt %s --split-input-file --xtensor-outline-parallel | FileCheck %s

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

// -----

// A chunk is one iteration, from its first number to the end of its last.
// CHECK-LABEL: func.func @chunks
// CHECK: func.func private @parallel0(%{{.*}}: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64)
// CHECK: %[[FROM:.*]] = arith.index_cast %[[BEGIN]]
// CHECK: %[[TO:.*]] = arith.index_cast %[[END]]
// CHECK: %[[ALL:.*]] = arith.subi %[[TO]], %[[FROM]]
// CHECK: scf.for %[[I:.*]] = %[[FROM]] to %[[TO]] step %[[ALL]]
// CHECK-NEXT: memref.store %[[TO]], %{{.*}}[%[[I]]]
func.func @chunks(%x: memref<64xindex>) {
  %one = arith.constant 1 : index
  scf.forall (%i) in (64) {
    %end = arith.addi %i, %one {xtensor.end_of_chunk} : index
    memref.store %end, %x[%i] : memref<64xindex>
  } {xtensor.grain = 8 : i64}
  return
}

// -----

// Vectors of offsets are made again in the body, as far as only integers make them; others are
// passed as what LLVM knows.
// CHECK-LABEL: func.func @offsets
// CHECK: arith.index_cast %{{.*}} : vector<8xindex> to vector<8xi64>
// CHECK: !llvm.struct<(ptr, vector<8xi64>, ptr)>
// CHECK: func.func private @parallel0
// CHECK: arith.index_cast %{{.*}} : vector<8xi64> to vector<8xindex>
// CHECK: vector.step : vector<8xindex>
// CHECK: arith.muli
// CHECK: scf.for
func.func @offsets(%x: memref<64xf32>, %y: memref<64xf32>, %i: memref<8xi64>) {
  %c0 = arith.constant 0 : index
  %step = vector.step : vector<8xindex>
  %two = arith.constant dense<2> : vector<8xindex>
  %even = arith.muli %step, %two : vector<8xindex>
  %mask = arith.constant dense<true> : vector<8xi1>
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %some = scf.for %k = %c0 to %c0 step %c0 iter_args(%v = %even) -> vector<8xindex> {
    scf.yield %v : vector<8xindex>
  }
  scf.forall (%k) in (64) {
    %a = vector.gather %x[%k] [%even], %mask, %zero : memref<64xf32>, vector<8xindex>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    %b = vector.gather %x[%k] [%some], %mask, %zero : memref<64xf32>, vector<8xindex>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    %s = arith.addf %a, %b : vector<8xf32>
    vector.store %s, %y[%k] : memref<64xf32>, vector<8xf32>
  } {xtensor.grain = 8 : i64}
  return
}
