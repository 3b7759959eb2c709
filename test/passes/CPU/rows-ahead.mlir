// RUN: xtensor-opt %s --xtensor-emit-vectors="vector-bits=512" | FileCheck %s
#ji = affine_map<(i, j) -> (j, i)>
#i = affine_map<(i, j) -> (i)>

// The vectors of four rows jump from row to row: each vector prefetches what is read 2048 bytes
// later in its row.
// CHECK-LABEL: func.func @few
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c4{{.*}} step %c1
// CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %c512
// CHECK-NEXT: memref.prefetch %{{.*}}[%[[AT]]], read, locality<3>, data
// CHECK: scf.yield
func.func @few(%x: memref<4x262144xf32>, %y: memref<262144xf32>) {
  linalg.generic {indexing_maps = [#ji, #i], iterator_types = ["parallel", "reduction"]} ins(%x : memref<4x262144xf32>) outs(%y : memref<262144xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  }
  return
}

// The second cache holds all rows.
// CHECK-LABEL: func.func @near
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @near(%x: memref<4x4096xf32>, %y: memref<4096xf32>) {
  linalg.generic {indexing_maps = [#ji, #i], iterator_types = ["parallel", "reduction"]} ins(%x : memref<4x4096xf32>) outs(%y : memref<4096xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  }
  return
}

// Of more rows than the first cache holds of such parts, nothing that is prefetched would stay there.
// CHECK-LABEL: func.func @many
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @many(%x: memref<256x65536xf32>, %y: memref<65536xf32>) {
  linalg.generic {indexing_maps = [#ji, #i], iterator_types = ["parallel", "reduction"]} ins(%x : memref<256x65536xf32>) outs(%y : memref<65536xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.mulf %o, %a : f32
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  }
  return
}
