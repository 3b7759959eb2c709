// Convolutions run over tiles of the result, whose sums stay in registers. Windows are not packed.
// RUN: xtensor-opt %s --pass-pipeline='builtin.module(xtensor-emit-vectors{vector-bits=512})' --split-input-file | FileCheck %s

// Channels last: vectors along the output channels, next to each other 8 places of the image.
// CHECK-LABEL: func.func @channels_last
// CHECK: scf.forall
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>, {{.*}}vector<16xf32>)
// CHECK: memref.load
// CHECK: vector.broadcast
// CHECK: arith.mulf %{{.*}} fastmath<contract> : vector<16xf32>
// CHECK: vector.store
// CHECK-NOT: xt_gemm
func.func @channels_last(%x: memref<2x18x18x32xf32>, %k: memref<3x3x32x32xf32>, %y: memref<2x16x16x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<2x16x16x32xf32>)
  linalg.generic {
      indexing_maps = [affine_map<(n, h, w, o, a, b, c) -> (n, h + a, w + b, c)>,
                       affine_map<(n, h, w, o, a, b, c) -> (a, b, c, o)>,
                       affine_map<(n, h, w, o, a, b, c) -> (n, h, w, o)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %k : memref<2x18x18x32xf32>, memref<3x3x32x32xf32>) outs(%y : memref<2x16x16x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// Vectors along a sum: lanes are added at its end, and to what the result holds.
// CHECK-LABEL: func.func @along_a_sum
// CHECK: vector.reduction <add>
// CHECK: memref.load
// CHECK: arith.addf
// CHECK: memref.store
func.func @along_a_sum(%x: memref<8x400xf32>, %g: memref<8x398xf32>, %k: memref<8x8x3xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(i, o, a, t) -> (i, t + a)>, affine_map<(i, o, a, t) -> (o, t)>,
                       affine_map<(i, o, a, t) -> (i, o, a)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %g : memref<8x400xf32>, memref<8x398xf32>) outs(%k : memref<8x8x3xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// 20 channels are two vectors that overlap. What is added to memory is added once.
// CHECK-LABEL: func.func @overlapping
// CHECK: %[[NEW:.*]] = arith.constant dense<[false, false, false, false, false, false, false, false, false, false, false, false, true, true, true, true]>
// CHECK: arith.select %[[NEW]]
func.func @overlapping(%x: memref<18xf32>, %k: memref<3x20xf32>, %y: memref<16x20xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(t, o, a) -> (t + a)>, affine_map<(t, o, a) -> (a, o)>,
                       affine_map<(t, o, a) -> (t, o)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %k : memref<18xf32>, memref<3x20xf32>) outs(%y : memref<16x20xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
