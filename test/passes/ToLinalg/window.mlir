// Windows: a view that later ops read through; their transpose adds one slice per place inside.
// RUN: xtensor-opt %s --split-input-file --xtensor-to-linalg --xtensor-verify-linalg | FileCheck %s

// A short window has no loop of its own: each of its places is read.
// CHECK-DAG: #[[FIRST:.*]] = affine_map<(d0) -> (d0 * 2)>
// CHECK-DAG: #[[SECOND:.*]] = affine_map<(d0) -> (d0 * 2 + 1)>
// CHECK-DAG: #[[THIRD:.*]] = affine_map<(d0) -> (d0 * 2 + 2)>
// CHECK-LABEL: func.func @short
// CHECK: linalg.generic {indexing_maps = [#[[FIRST]], #[[SECOND]], #[[THIRD]], #{{.*}}], iterator_types = ["parallel"]} ins(%arg0, %arg0, %arg0
// CHECK-COUNT-2: arith.maximumf
// CHECK-NOT: linalg.generic
func.func @short(%x: !xtensor.array<t: 9, f32>) -> !xtensor.array<t: 4, f32> {
  %w = xtensor.window %x t into w size 3 stride 2 dilation 1 : !xtensor.array<t: 9, f32>
  %y = xtensor.reduce max %w over [w] : !xtensor.array<t: 4, w: 3, f32>
  return %y : !xtensor.array<t: 4, f32>
}

// -----

// The first place of a window is a part of the array. Half precision is rounded once.
// CHECK-LABEL: func.func @half
// CHECK: tensor.extract_slice %arg0[0, 0] [7, 5] [1, 1]
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]}
// CHECK-COUNT-3: arith.addf {{.*}} : f32
// CHECK: arith.truncf
// CHECK-NOT: linalg.generic
func.func @half(%x: !xtensor.array<h: 8, w: 6, bf16>) -> !xtensor.array<h: 7, w: 5, bf16> {
  %0 = xtensor.window %x h into p size 2 stride 1 dilation 1 : !xtensor.array<h: 8, w: 6, bf16>
  %1 = xtensor.window %0 w into q size 2 stride 1 dilation 1 : !xtensor.array<h: 7, w: 6, p: 2, bf16>
  %y = xtensor.reduce sum %1 over [p, q] : !xtensor.array<h: 7, w: 5, p: 2, q: 2, bf16>
  return %y : !xtensor.array<h: 7, w: 5, bf16>
}

// -----

// No copy: a tensor that nobody reads tells how many places a window has.
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1) -> (d0 * 2 + d1)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @reduced
// CHECK: %[[RANGE:.*]] = tensor.empty() : tensor<17xf32>
// CHECK: linalg.generic {indexing_maps = [#[[X]], #[[W]], #{{.*}}], iterator_types = ["parallel", "reduction"]} ins(%arg0, %[[RANGE]]
// CHECK-NOT: linalg.generic
func.func @reduced(%x: !xtensor.array<t: 23, f32>) -> !xtensor.array<t: 4, f32> {
  %w = xtensor.window %x t into w size 17 stride 2 dilation 1 : !xtensor.array<t: 23, f32>
  %y = xtensor.reduce max %w over [w] : !xtensor.array<t: 4, w: 17, f32>
  return %y : !xtensor.array<t: 4, f32>
}

// -----

// A kernel tells the size itself.
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1) -> (d0 + d1 * 2)>
// CHECK-LABEL: func.func @contracted
// CHECK: linalg.generic {indexing_maps = [#[[X]], #{{.*}}, #{{.*}}], {{.*}} ins(%arg0, %arg1
func.func @contracted(%x: !xtensor.array<t: 9, f32>, %k: !xtensor.array<w: 3, f32>) -> !xtensor.array<t: 5, f32> {
  %w = xtensor.window %x t into w size 3 stride 1 dilation 2 : !xtensor.array<t: 9, f32>
  %y = xtensor.contract %w, %k over [w] : !xtensor.array<t: 5, w: 3, f32>, !xtensor.array<w: 3, f32>
  return %y : !xtensor.array<t: 5, f32>
}

// -----

// Zeros before, between and behind the starts; then element t is read at a difference.
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2) -> (d0 - d2 + 2, d2, d1)>
// CHECK-LABEL: func.func @added
// CHECK: %[[ZERO:.*]] = linalg.fill {{.*}} -> tensor<11x3x?xf32>
// CHECK: %[[STARTS:.*]] = tensor.extract_slice %[[ZERO]][2, 0, 0] [4, 3, %{{.*}}] [2, 1, 1]
// CHECK: linalg.generic {{.*}} outs(%[[STARTS]]
// CHECK: %[[WHOLE:.*]] = tensor.insert_slice
// CHECK: linalg.generic {indexing_maps = [#[[X]], #{{.*}}], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[WHOLE]]
func.func @added(%x: !xtensor.array<t: 4, w: 3, b: ?, f32>) -> !xtensor.array<t: 9, b: ?, f32> {
  %y = xtensor.overlap_add %x t from w length 9 stride 2 dilation 1 : !xtensor.array<t: 4, w: 3, b: ?, f32>
  return %y : !xtensor.array<t: 9, b: ?, f32>
}

// -----

// Where both operands hide the size of a loop, nothing is copied either.
// CHECK-LABEL: func.func @convolved
// CHECK: %[[RANGE:.*]] = tensor.empty() : tensor<3xf32>
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg1, %[[RANGE]]
// CHECK-NOT: linalg.generic
func.func @convolved(%x: !xtensor.array<t: 9, f32>, %k: !xtensor.array<w: 3, f32>) -> !xtensor.array<t: 7, f32> {
  %w = xtensor.window %x t into w size 3 stride 1 dilation 1 : !xtensor.array<t: 9, f32>
  %r = xtensor.reverse %k [w] : !xtensor.array<w: 3, f32>
  %y = xtensor.contract %w, %r over [w] : !xtensor.array<t: 7, w: 3, f32>, !xtensor.array<w: 3, f32>
  return %y : !xtensor.array<t: 7, f32>
}

// -----

// Of a convolution, vectors run along the output channels: the kernel is packed for them, the windows are not.
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3) -> (d0 + d3, d2)>
// CHECK-LABEL: func.func @channels
// CHECK: linalg.generic {{.*}} ins(%arg1 : tensor<16x8x3xf32>) outs(%{{.*}} : tensor<8x3x16xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[X]], {{.*}} ins(%arg0, %{{.*}} : tensor<9x8xf32>, tensor<8x3x16xf32>)
func.func @channels(%x: !xtensor.array<t: 9, c: 8, f32>, %k: !xtensor.array<o: 16, c: 8, w: 3, f32>)
    -> !xtensor.array<t: 7, o: 16, f32> {
  %w = xtensor.window %x t into w size 3 stride 1 dilation 1 : !xtensor.array<t: 9, c: 8, f32>
  %y = xtensor.contract %w, %k over [w, c] order [t, o] : !xtensor.array<t: 7, c: 8, w: 3, f32>, !xtensor.array<o: 16, c: 8, w: 3, f32>
  return %y : !xtensor.array<t: 7, o: 16, f32>
}

// -----

// Windows two apart are not contiguous: the result is stored with the output channels last, then put in order.
// CHECK-LABEL: func.func @apart
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<20x16xf32>)
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<16x20xf32>)
func.func @apart(%x: !xtensor.array<c: 8, t: 41, f32>, %k: !xtensor.array<o: 16, c: 8, w: 3, f32>)
    -> !xtensor.array<o: 16, t: 20, f32> {
  %w = xtensor.window %x t into w size 3 stride 2 dilation 1 : !xtensor.array<c: 8, t: 41, f32>
  %y = xtensor.contract %w, %k over [w, c] order [o, t] : !xtensor.array<c: 8, t: 20, w: 3, f32>, !xtensor.array<o: 16, c: 8, w: 3, f32>
  return %y : !xtensor.array<o: 16, t: 20, f32>
}

// -----

// A large padded image: each tile of 256 rows pads what it reads of the image.
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0 + d3, d1 + d4)>
// CHECK-LABEL: func.func @tiles
// CHECK: scf.forall (%[[N:.*]], %{{.*}}) in (4, 2) shared_outs(%[[OUT:.*]] = %{{.*}}) -> (tensor<4x512x64x16xf64>)
// CHECK: %[[PLACE:.*]] = tensor.extract_slice %[[OUT]][%[[N]], {{.*}}] [1, 256, 64, 16]
// CHECK: tensor.extract_slice %arg0[%[[N]], %{{.*}}, 0] [1, %{{.*}}, 64] [1, 1, 1]
// CHECK: tensor.empty() : tensor<258x66xf64>
// CHECK: linalg.fill {{.*}} -> tensor<?x66xf64>
// CHECK: %[[ZERO:.*]] = linalg.fill {{.*}} outs(%[[PLACE]] : tensor<256x64x16xf64>)
// CHECK: linalg.generic {indexing_maps = [#[[X]], {{.*}} ins(%{{.*}}, %{{.*}} : tensor<258x66xf64>, tensor<3x3x16xf64>) outs(%[[ZERO]]
// CHECK: tensor.parallel_insert_slice
// CHECK-NOT: tensor.empty() : tensor<4x514x66xf64>
func.func @tiles(%x: !xtensor.array<n: 4, h: 512, w: 64, f64>, %k: !xtensor.array<y: 3, x: 3, o: 16, f64>)
    -> !xtensor.array<n: 4, h: 512, w: 64, o: 16, f64> {
  %zero = xtensor.constant dense<0.0> : tensor<f64> as <f64>
  %p = xtensor.pad %x with %zero [h, w] low [1, 1] high [1, 1] interior [0, 0] : <n: 4, h: 512, w: 64, f64>, <f64>
  %v = xtensor.window %p h into y size 3 stride 1 dilation 1 : <n: 4, h: 514, w: 66, f64>
  %w = xtensor.window %v w into x size 3 stride 1 dilation 1 : <n: 4, h: 512, w: 66, y: 3, f64>
  %y = xtensor.contract %w, %k over [y, x] order [n, h, w, o] : !xtensor.array<n: 4, h: 512, w: 64, y: 3, x: 3, f64>, !xtensor.array<y: 3, x: 3, o: 16, f64>
  return %y : !xtensor.array<n: 4, h: 512, w: 64, o: 16, f64>
}
