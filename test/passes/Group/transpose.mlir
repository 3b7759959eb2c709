// RUN: xtensor-opt %s --split-input-file --xtensor-fuse-elementwise --xtensor-group | FileCheck %s

// A transpose gets blocks of 64 rows, so that squares of elements are in an iteration.
// CHECK-LABEL: func.func @square
// CHECK: scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (1024, 1024) step (64, 128)
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<128x64xf32>) outs(%{{.*}} : tensor<64x128xf32>)
#swap = affine_map<(i, j) -> (j, i)>
#same = affine_map<(i, j) -> (i, j)>
func.func @square(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %e = tensor.empty() : tensor<1024x1024xf32>
  %y = linalg.generic {indexing_maps = [#swap, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<1024x1024xf32>
  return %y : tensor<1024x1024xf32>
}

// -----

// A short dim stays whole.
// CHECK-LABEL: func.func @short
// CHECK: scf.forall (%{{.*}}) = (0) to (100000) step
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<3x
#swap = affine_map<(i, j) -> (j, i)>
#same = affine_map<(i, j) -> (i, j)>
func.func @short(%x: tensor<100000x3xf32>) -> tensor<3x100000xf32> {
  %e = tensor.empty() : tensor<3x100000xf32>
  %y = linalg.generic {indexing_maps = [#swap, #same], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<100000x3xf32>) outs(%e : tensor<3x100000xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<3x100000xf32>
  return %y : tensor<3x100000xf32>
}
