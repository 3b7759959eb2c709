// RUN: xtensor-opt %s --xtensor-fuse-elementwise --xtensor-split-reductions --xtensor-group | FileCheck %s

// Mean and variance over a middle dim: a loop over the outer dim, whole
// [50, 64] parts inside; the last dim stays contiguous.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<32x50x64xf32>)
// CHECK: scf.forall (%[[I:.*]]) in (32)
// CHECK: tensor.extract_slice %[[X]][%[[I]], 0, 0] [1, 50, 64] [1, 1, 1] : tensor<32x50x64xf32> to tensor<50x64xf32>
// CHECK: linalg.generic {{.*}}["reduction", "parallel"]
// CHECK: linalg.generic {{.*}}["reduction", "parallel"]
// CHECK: scf.forall.in_parallel
// CHECK-NOT: linalg.generic
// CHECK: return

func.func @main(%a0: tensor<32x50x64xf32>) -> (tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x50x64xf32>) {
  %v1 = tensor.empty() : tensor<32x64xf32>
  %v3 = arith.constant 0.0 : f32
  %v4 = linalg.fill ins(%v3 : f32) outs(%v1 : tensor<32x64xf32>) -> tensor<32x64xf32>
  %v2 = linalg.generic {indexing_maps = [affine_map<(a, t, c) -> (a, t, c)>, affine_map<(a, t, c) -> (a, c)>], iterator_types = ["parallel", "reduction", "parallel"]} ins(%a0 : tensor<32x50x64xf32>) outs(%v4 : tensor<32x64xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.addf %i0, %o : f32
    linalg.yield %r : f32
  } -> tensor<32x64xf32>
  %v5 = tensor.empty() : tensor<32x64xf32>
  %v6 = linalg.generic {indexing_maps = [affine_map<(a, c) -> (a, c)>, affine_map<(a, c) -> (a, c)>], iterator_types = ["parallel", "parallel"]} ins(%v2 : tensor<32x64xf32>) outs(%v5 : tensor<32x64xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %c = arith.constant 2.000000e-02 : f32
    %r = arith.mulf %i0, %c : f32
    linalg.yield %r : f32
  } -> tensor<32x64xf32>
  %v7 = tensor.empty() : tensor<32x50x64xf32>
  %v8 = linalg.generic {indexing_maps = [affine_map<(a, t, c) -> (a, t, c)>, affine_map<(a, t, c) -> (a, c)>, affine_map<(a, t, c) -> (a, t, c)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a0, %v6 : tensor<32x50x64xf32>, tensor<32x64xf32>) outs(%v7 : tensor<32x50x64xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.subf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<32x50x64xf32>
  %v9 = tensor.empty() : tensor<32x50x64xf32>
  %v10 = linalg.generic {indexing_maps = [affine_map<(a, t, c) -> (a, t, c)>, affine_map<(a, t, c) -> (a, t, c)>, affine_map<(a, t, c) -> (a, t, c)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v8, %v8 : tensor<32x50x64xf32>, tensor<32x50x64xf32>) outs(%v9 : tensor<32x50x64xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<32x50x64xf32>
  %v11 = tensor.empty() : tensor<32x64xf32>
  %v13 = arith.constant 0.0 : f32
  %v14 = linalg.fill ins(%v13 : f32) outs(%v11 : tensor<32x64xf32>) -> tensor<32x64xf32>
  %v12 = linalg.generic {indexing_maps = [affine_map<(a, t, c) -> (a, t, c)>, affine_map<(a, t, c) -> (a, c)>], iterator_types = ["parallel", "reduction", "parallel"]} ins(%v10 : tensor<32x50x64xf32>) outs(%v14 : tensor<32x64xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.addf %i0, %o : f32
    linalg.yield %r : f32
  } -> tensor<32x64xf32>
  %v15 = tensor.empty() : tensor<32x64xf32>
  %v16 = linalg.generic {indexing_maps = [affine_map<(a, c) -> (a, c)>, affine_map<(a, c) -> (a, c)>], iterator_types = ["parallel", "parallel"]} ins(%v12 : tensor<32x64xf32>) outs(%v15 : tensor<32x64xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %c = arith.constant 2.000000e-02 : f32
    %r = arith.mulf %i0, %c : f32
    linalg.yield %r : f32
  } -> tensor<32x64xf32>
  %v17 = tensor.empty() : tensor<32x64xf32>
  %v18 = linalg.generic {indexing_maps = [affine_map<(a, c) -> (a, c)>, affine_map<(a, c) -> (a, c)>], iterator_types = ["parallel", "parallel"]} ins(%v16 : tensor<32x64xf32>) outs(%v17 : tensor<32x64xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = math.sqrt %i0 : f32
    linalg.yield %r : f32
  } -> tensor<32x64xf32>
  %v19 = tensor.empty() : tensor<32x50x64xf32>
  %v20 = linalg.generic {indexing_maps = [affine_map<(a, t, c) -> (a, t, c)>, affine_map<(a, t, c) -> (a, c)>, affine_map<(a, t, c) -> (a, t, c)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v8, %v18 : tensor<32x50x64xf32>, tensor<32x64xf32>) outs(%v19 : tensor<32x50x64xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.divf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<32x50x64xf32>
  return %v6, %v16, %v20 : tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x50x64xf32>
}
