// Lanes that read by position. Processors like AMD's load them one by one in less time than their gathers take; two
// positions of 32 bits leave a vector in one word. Other processors gather, elements of 16 bits by the words they lie in.
// RUN: xtensor-opt %s --split-input-file --pass-pipeline='builtin.module(xtensor-emit-vectors{vector-bits=512})' | FileCheck %s

#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>

// CHECK-LABEL: func.func @one_by_one
// CHECK-NOT: gather
// CHECK: %[[PAIRS:.*]] = vector.bitcast %{{.*}} : vector<16xi32> to vector<8xi64>
// CHECK: %[[PAIR:.*]] = vector.extract %[[PAIRS]][0]
// CHECK: %[[LOW:.*]] = arith.trunci %[[PAIR]] : i64 to i32
// CHECK: memref.load
// CHECK: vector.insert
// CHECK: %[[HIGH:.*]] = arith.shrui %[[PAIR]]
// The 12 lanes of the last vector that are outside read the first element, and give 0.
// CHECK: %[[SOME:.*]] = arith.select %[[MASK:[^,]*]], %{{.*}} : vector<16xi1>, vector<16xi32>
// CHECK: vector.bitcast %[[SOME]] : vector<16xi32> to vector<8xi64>
// CHECK: arith.select %[[MASK]], %{{.*}} : vector<16xi1>, vector<16xf32>
// CHECK: return
module attributes {xtensor.processor = "cpu:x86-64-v4"} {
func.func @one_by_one(%x: memref<50x40xf32>, %at: memref<20xi32>, %y: memref<50x20xf32>) {
  linalg.generic {indexing_maps = [#j, #ij], iterator_types = ["parallel", "parallel"]} ins(%at : memref<20xi32>) outs(%y : memref<50x20xf32>) {
  ^bb0(%p: i32, %old: f32):
    %i = linalg.index 0 : index
    %q = arith.index_cast %p : i32 to index
    %0 = memref.load %x[%i, %q] : memref<50x40xf32>
    linalg.yield %0 : f32
  }
  return
}
}

// -----

#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>

// CHECK-LABEL: func.func @together
// CHECK: vector.gather
// CHECK: llvm.intr.masked.gather {{.*}} -> vector<16xi32>
// CHECK: return
module attributes {xtensor.processor = "cpu:x86-64-v3"} {
func.func @together(%x: memref<50x40xf32>, %z: memref<50x40xbf16>, %at: memref<32xi32>, %y: memref<50x32xf32>, %w: memref<50x32xbf16>) {
  linalg.generic {indexing_maps = [#j, #ij], iterator_types = ["parallel", "parallel"]} ins(%at : memref<32xi32>) outs(%y : memref<50x32xf32>) {
  ^bb0(%p: i32, %old: f32):
    %i = linalg.index 0 : index
    %q = arith.index_cast %p : i32 to index
    %0 = memref.load %x[%i, %q] : memref<50x40xf32>
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#j, #ij], iterator_types = ["parallel", "parallel"]} ins(%at : memref<32xi32>) outs(%w : memref<50x32xbf16>) {
  ^bb0(%p: i32, %old: bf16):
    %i = linalg.index 0 : index
    %q = arith.index_cast %p : i32 to index
    %0 = memref.load %z[%i, %q] : memref<50x40xbf16>
    linalg.yield %0 : bf16
  }
  return
}
}
