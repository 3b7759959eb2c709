// RUN: xtensor-opt %s --xtensor-fuse-elementwise --xtensor-split-reductions --xtensor-group | FileCheck %s

// The softmax of attention is one loop over batch and rows between the two
// contractions.
// CHECK-LABEL: func.func @main
// CHECK: %[[S:.*]] = linalg.generic {{.*}}["parallel", "parallel", "parallel", "reduction"]
// CHECK: %[[W:.*]] = scf.forall (%[[B:.*]], %[[I:.*]]) in (4, 64)
// CHECK: tensor.extract_slice %[[S]][%[[B]], %[[I]], 0] [1, 1, 128] [1, 1, 1] : tensor<4x64x128xf32> to tensor<128xf32>
// CHECK: scf.forall.in_parallel
// CHECK-NOT: scf.forall
// CHECK: linalg.generic {{.*}}["parallel", "parallel", "parallel", "reduction"]} ins(%[[W]],

func.func @main(%a0: tensor<4x64x32xf32>, %a1: tensor<4x128x32xf32>, %a2: tensor<4x128x32xf32>) -> (tensor<4x64x32xf32>) {
  %v1 = tensor.empty() : tensor<4x64x128xf32>
  %v3 = arith.constant 0.0 : f32
  %v4 = linalg.fill ins(%v3 : f32) outs(%v1 : tensor<4x64x128xf32>) -> tensor<4x64x128xf32>
  %v2 = linalg.generic {indexing_maps = [affine_map<(b, q, k, d) -> (b, q, d)>, affine_map<(b, q, k, d) -> (b, k, d)>, affine_map<(b, q, k, d) -> (b, q, k)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%a0, %a1 : tensor<4x64x32xf32>, tensor<4x128x32xf32>) outs(%v4 : tensor<4x64x128xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %m = arith.mulf %i0, %i1 : f32
    %r = arith.addf %m, %o : f32
    linalg.yield %r : f32
  } -> tensor<4x64x128xf32>
  %v5 = tensor.empty() : tensor<4x64x128xf32>
  %v6 = linalg.generic {indexing_maps = [affine_map<(b, q, k) -> (b, q, k)>, affine_map<(b, q, k) -> (b, q, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v2 : tensor<4x64x128xf32>) outs(%v5 : tensor<4x64x128xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %c = arith.constant 1.250000e-01 : f32
    %r = arith.mulf %i0, %c : f32
    linalg.yield %r : f32
  } -> tensor<4x64x128xf32>
  %v7 = tensor.empty() : tensor<4x64xf32>
  %v9 = arith.constant 0xFF800000 : f32
  %v10 = linalg.fill ins(%v9 : f32) outs(%v7 : tensor<4x64xf32>) -> tensor<4x64xf32>
  %v8 = linalg.generic {indexing_maps = [affine_map<(b, q, k) -> (b, q, k)>, affine_map<(b, q, k) -> (b, q)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v6 : tensor<4x64x128xf32>) outs(%v10 : tensor<4x64xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.maximumf %i0, %o : f32
    linalg.yield %r : f32
  } -> tensor<4x64xf32>
  %v11 = tensor.empty() : tensor<4x64x128xf32>
  %v12 = linalg.generic {indexing_maps = [affine_map<(b, q, k) -> (b, q, k)>, affine_map<(b, q, k) -> (b, q)>, affine_map<(b, q, k) -> (b, q, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v6, %v8 : tensor<4x64x128xf32>, tensor<4x64xf32>) outs(%v11 : tensor<4x64x128xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.subf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<4x64x128xf32>
  %v13 = tensor.empty() : tensor<4x64x128xf32>
  %v14 = linalg.generic {indexing_maps = [affine_map<(b, q, k) -> (b, q, k)>, affine_map<(b, q, k) -> (b, q, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v12 : tensor<4x64x128xf32>) outs(%v13 : tensor<4x64x128xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = math.exp %i0 : f32
    linalg.yield %r : f32
  } -> tensor<4x64x128xf32>
  %v15 = tensor.empty() : tensor<4x64xf32>
  %v17 = arith.constant 0.0 : f32
  %v18 = linalg.fill ins(%v17 : f32) outs(%v15 : tensor<4x64xf32>) -> tensor<4x64xf32>
  %v16 = linalg.generic {indexing_maps = [affine_map<(b, q, k) -> (b, q, k)>, affine_map<(b, q, k) -> (b, q)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v14 : tensor<4x64x128xf32>) outs(%v18 : tensor<4x64xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.addf %i0, %o : f32
    linalg.yield %r : f32
  } -> tensor<4x64xf32>
  %v19 = tensor.empty() : tensor<4x64x128xf32>
  %v20 = linalg.generic {indexing_maps = [affine_map<(b, q, k) -> (b, q, k)>, affine_map<(b, q, k) -> (b, q)>, affine_map<(b, q, k) -> (b, q, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v14, %v16 : tensor<4x64x128xf32>, tensor<4x64xf32>) outs(%v19 : tensor<4x64x128xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.divf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<4x64x128xf32>
  %v21 = tensor.empty() : tensor<4x64x32xf32>
  %v23 = arith.constant 0.0 : f32
  %v24 = linalg.fill ins(%v23 : f32) outs(%v21 : tensor<4x64x32xf32>) -> tensor<4x64x32xf32>
  %v22 = linalg.generic {indexing_maps = [affine_map<(b, q, d, k) -> (b, q, k)>, affine_map<(b, q, d, k) -> (b, k, d)>, affine_map<(b, q, d, k) -> (b, q, d)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%v20, %a2 : tensor<4x64x128xf32>, tensor<4x128x32xf32>) outs(%v24 : tensor<4x64x32xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %m = arith.mulf %i0, %i1 : f32
    %r = arith.addf %m, %o : f32
    linalg.yield %r : f32
  } -> tensor<4x64x32xf32>
  return %v22 : tensor<4x64x32xf32>
}
