// Windows: a view that later ops read through; their transpose adds one slice per place inside.
// RUN: xtensor-opt %s --split-input-file --xtensor-to-linalg --xtensor-verify-linalg | FileCheck %s

// No copy: a tensor that nobody reads tells how many places a window has.
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1) -> (d0 * 2 + d1)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @reduced
// CHECK: %[[RANGE:.*]] = tensor.empty() : tensor<3xf32>
// CHECK: linalg.generic {indexing_maps = [#[[X]], #[[W]], #{{.*}}], iterator_types = ["parallel", "reduction"]} ins(%arg0, %[[RANGE]]
// CHECK-NOT: linalg.generic
func.func @reduced(%x: !xtensor.array<t: 9, f32>) -> !xtensor.array<t: 4, f32> {
  %w = xtensor.window %x t into w size 3 stride 2 dilation 1 : !xtensor.array<t: 9, f32>
  %y = xtensor.reduce max %w over [w] : !xtensor.array<t: 4, w: 3, f32>
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

// CHECK-LABEL: func.func @added
// CHECK: %[[ZERO:.*]] = linalg.fill {{.*}} -> tensor<9x?xf32>
// CHECK: scf.for %[[P:.*]] = %{{.*}} iter_args(%[[SUM:.*]] = %[[ZERO]])
// CHECK: tensor.extract_slice %arg0[0, %[[P]], 0] [4, 1, %{{.*}}] [1, 1, 1]
// CHECK: %[[START:.*]] = arith.muli %[[P]]
// CHECK: %[[OLD:.*]] = tensor.extract_slice %[[SUM]][%[[START]], 0] [4, %{{.*}}] [2, 1]
// CHECK: linalg.generic {{.*}} outs(%[[OLD]]
// CHECK: tensor.insert_slice
func.func @added(%x: !xtensor.array<t: 4, w: 3, b: ?, f32>) -> !xtensor.array<t: 9, b: ?, f32> {
  %y = xtensor.overlap_add %x t from w length 9 stride 2 dilation 1 : !xtensor.array<t: 4, w: 3, b: ?, f32>
  return %y : !xtensor.array<t: 9, b: ?, f32>
}
