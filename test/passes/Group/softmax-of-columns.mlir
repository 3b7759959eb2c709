// RUN: xtensor-opt %s --xtensor-split-reductions --canonicalize --xtensor-group | FileCheck %s

// A softmax of long columns reads memory along rows, three times: for the maxima, for the
// exponentials together with their sums, and for the quotients. The loop of the exponentials is cut
// where that of the sum is.

#id = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>

// CHECK-LABEL: func @softmax
// CHECK: tensor.expand_shape %arg0 {{.*}} into tensor<32x32x1024xf32>
// CHECK: scf.forall {{.*}} in (32)
// CHECK: arith.maximumf
// CHECK: scf.forall {{.*}} (1024) step (128)
// CHECK: arith.maximumf
// CHECK: scf.forall {{.*}} in (32) {{.*}} -> (tensor<32x32x1024xf32>, tensor<32x1024xf32>)
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: tensor.collapse_shape {{.*}} into tensor<1024x1024xf32>
// CHECK: scf.forall {{.*}} in (1024)
// CHECK: arith.divf
// CHECK-NOT: scf.forall {{.*}} in
func.func @softmax(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %lowest = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %row = tensor.empty() : tensor<1024xf32>
  %all = tensor.empty() : tensor<1024x1024xf32>
  %starts = linalg.fill ins(%lowest : f32) outs(%row : tensor<1024xf32>) -> tensor<1024xf32>
  %m = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<1024x1024xf32>) outs(%starts : tensor<1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.maximumf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<1024xf32>
  %e = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<1024x1024xf32>, tensor<1024xf32>) outs(%all : tensor<1024x1024xf32>) {
  ^bb0(%in: f32, %most: f32, %out: f32):
    %0 = arith.subf %in, %most : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<1024x1024xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%row : tensor<1024xf32>) -> tensor<1024xf32>
  %s = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%e : tensor<1024x1024xf32>) outs(%zeros : tensor<1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<1024xf32>
  %y = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%e, %s : tensor<1024x1024xf32>, tensor<1024xf32>) outs(%all : tensor<1024x1024xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %0 = arith.divf %in, %sum : f32
    linalg.yield %0 : f32
  } -> tensor<1024x1024xf32>
  return %y : tensor<1024x1024xf32>
}

// Another op reads the exponentials and does not wait for their sums: the two share a loop.
// CHECK-LABEL: func @others
// CHECK: math.exp
// CHECK: tensor.expand_shape {{.*}} into tensor<32x32x1024xf32>
func.func @others(%x: tensor<1024x1024xf32>) -> (tensor<1024xf32>, tensor<1024x1024xf32>) {
  %zero = arith.constant 0.0 : f32
  %row = tensor.empty() : tensor<1024xf32>
  %all = tensor.empty() : tensor<1024x1024xf32>
  %e = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<1024x1024xf32>) outs(%all : tensor<1024x1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  } -> tensor<1024x1024xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%row : tensor<1024xf32>) -> tensor<1024xf32>
  %s = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%e : tensor<1024x1024xf32>) outs(%zeros : tensor<1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<1024xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%e, %x : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%all : tensor<1024x1024xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %0 = arith.mulf %in, %other : f32
    linalg.yield %0 : f32
  } -> tensor<1024x1024xf32>
  return %s, %y : tensor<1024xf32>, tensor<1024x1024xf32>
}
