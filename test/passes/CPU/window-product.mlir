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

// -----

// More than the second cache: the images are summed one after another, and threads share the sum over each.
// CHECK-LABEL: func.func @cut_by_caches
// CHECK: scf.for
// CHECK: scf.forall
// CHECK-NOT: xt_gemm
// CHECK: return
func.func @cut_by_caches(%g: memref<4x32x32x64xf32>, %x: memref<4x66x66x32xf32>, %k: memref<64x3x3x32xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(o, a, b, c, n, h, w) -> (n, h, w, o)>,
                       affine_map<(o, a, b, c, n, h, w) -> (n, h * 2 + a, w * 2 + b, c)>,
                       affine_map<(o, a, b, c, n, h, w) -> (o, a, b, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%g, %x : memref<4x32x32x64xf32>, memref<4x66x66x32xf32>) outs(%k : memref<64x3x3x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// Three rows of the kernel are too few for threads, so they share the tiles of 4 places, too. These do not divide 127,
// so the thread of the last whole tile has the one that overlaps with it, too.
// CHECK-LABEL: func.func @shares_tiles
// CHECK: scf.forall (%{{.*}}, %[[FROM:.*]]) = (0, 0) to (3, 124) step (1, 4)
// CHECK: %[[TO:.*]] = arith.addi %[[FROM]], %{{.*}} : index
// CHECK: %[[LAST:.*]] = arith.cmpi eq, %[[TO]], %{{.*}} : index
// CHECK: %[[END:.*]] = arith.select %[[LAST]], %{{.*}}, %[[TO]] : index
// CHECK: scf.for %{{.*}} = %[[FROM]] to %[[END]]
// CHECK: return
func.func @shares_tiles(%g: memref<14x14x127xf32>, %x: memref<16x16x128xf32>, %k: memref<127x3x3x128xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%k : memref<127x3x3x128xf32>)
  linalg.generic {
      indexing_maps = [affine_map<(o, a, b, c, h, w) -> (h, w, o)>,
                       affine_map<(o, a, b, c, h, w) -> (h + a, w + b, c)>,
                       affine_map<(o, a, b, c, h, w) -> (o, a, b, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%g, %x : memref<14x14x127xf32>, memref<16x16x128xf32>) outs(%k : memref<127x3x3x128xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// A tile has places next to each other in an image. As many places of several images and rows would take as many
// steps, but they read from as many pages.
// CHECK-LABEL: func.func @reads_few_pages
// CHECK: scf.forall (%{{.*}}) in (16)
// CHECK: %[[STEP:.*]] = arith.constant 11 : index
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %[[STEP]]
// CHECK: return
func.func @reads_few_pages(%x: memref<16x34x34x32xf32>, %k: memref<3x3x32x32xf32>, %y: memref<16x32x32x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<16x32x32x32xf32>)
  linalg.generic {
      indexing_maps = [affine_map<(n, h, w, o, a, b, c) -> (n, h + a, w + b, c)>,
                       affine_map<(n, h, w, o, a, b, c) -> (a, b, c, o)>,
                       affine_map<(n, h, w, o, a, b, c) -> (n, h, w, o)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %k : memref<16x34x34x32xf32>, memref<3x3x32x32xf32>) outs(%y : memref<16x32x32x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// A kernel of one place is a product of matrices: tiles for short sums, the library for long ones.
// CHECK-LABEL: func.func @one_place
// CHECK: scf.for {{.*}} iter_args
// CHECK: call @xt_gemm_f32
// CHECK-NOT: xt_gemm
// CHECK: return
func.func @one_place(%x: memref<784x64xf32>, %k: memref<1x64x64xf32>, %y: memref<784x64xf32>,
                     %long_x: memref<784x512xf32>, %long_k: memref<1x512x64xf32>, %z: memref<784x64xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(t, o, a, c) -> (t + a, c)>, affine_map<(t, o, a, c) -> (a, c, o)>,
                       affine_map<(t, o, a, c) -> (t, o)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %k : memref<784x64xf32>, memref<1x64x64xf32>) outs(%y : memref<784x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {
      indexing_maps = [affine_map<(t, o, a, c) -> (t + a, c)>, affine_map<(t, o, a, c) -> (a, c, o)>,
                       affine_map<(t, o, a, c) -> (t, o)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%long_x, %long_k : memref<784x512xf32>, memref<1x512x64xf32>) outs(%z : memref<784x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// Operands that only give sizes of loops are not read.
// CHECK-LABEL: func.func @sizes_alone
// CHECK-SAME: %[[X:.*]]: memref<18xf32>, %[[K:.*]]: memref<3xf32>, %[[SIZE:.*]]: memref<3xf32>,
// CHECK-NOT: %[[SIZE]]
// CHECK: arith.addf {{.*}} fastmath<contract>
// CHECK-NOT: %[[SIZE]]
// CHECK: return
func.func @sizes_alone(%x: memref<18xf32>, %k: memref<3xf32>, %size: memref<3xf32>, %y: memref<16xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(t, a) -> (t + a)>, affine_map<(t, a) -> (-a + 2)>, affine_map<(t, a) -> (a)>,
                       affine_map<(t, a) -> (t)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x, %k, %size : memref<18xf32>, memref<3xf32>, memref<3xf32>) outs(%y : memref<16xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
