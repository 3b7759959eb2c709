// RUN: xtensor-opt %s --xtensor-fuse-elementwise --xtensor-split-reductions --xtensor-group | FileCheck %s

// The gradient of a layer normalisation: one loop over rows, and one over
// blocks of columns for the two weight gradients. Nothing of the size of the
// input is stored but dx.
// CHECK-LABEL: func.func @main
// CHECK: %[[ROWS:.*]]:3 = scf.forall (%{{.*}}) in (64) {{.*}} -> (tensor<64xf32>, tensor<64xf32>, tensor<64x1024xf32>)
// CHECK: math.rsqrt
// CHECK: %[[COLUMNS:.*]]:2 = scf.forall (%[[J:.*]]) = (0) to (1024) step (128) {{.*}} -> (tensor<1024xf32>, tensor<1024xf32>)
// CHECK: tensor.extract_slice %{{.*}}[0, %[[J]]] [64, 128] [1, 1] : tensor<64x1024xf32> to tensor<64x128xf32>
// CHECK: linalg.generic {{.*}}["reduction", "parallel"]} ins({{.*}}, %[[ROWS]]#0, %[[ROWS]]#1
// CHECK: linalg.generic {{.*}}["reduction", "parallel"]
// CHECK-NOT: linalg.generic
// CHECK: return %[[ROWS]]#2, %[[COLUMNS]]#0, %[[COLUMNS]]#1

func.func @main(%a0: tensor<64x1024xf32>, %a1: tensor<1024xf32>, %a2: tensor<64x1024xf32>) -> (tensor<64x1024xf32>, tensor<1024xf32>, tensor<1024xf32>) {
  %v1 = tensor.empty() : tensor<64xf32>
  %v3 = arith.constant 0.0 : f32
  %v4 = linalg.fill ins(%v3 : f32) outs(%v1 : tensor<64xf32>) -> tensor<64xf32>
  %v2 = linalg.generic {indexing_maps = [affine_map<(b, f) -> (b, f)>, affine_map<(b, f) -> (b)>], iterator_types = ["parallel", "reduction"]} ins(%a0 : tensor<64x1024xf32>) outs(%v4 : tensor<64xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.addf %i0, %o : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %v5 = tensor.empty() : tensor<64xf32>
  %v6 = linalg.generic {indexing_maps = [affine_map<(b) -> (b)>, affine_map<(b) -> (b)>], iterator_types = ["parallel"]} ins(%v2 : tensor<64xf32>) outs(%v5 : tensor<64xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %c = arith.constant 9.765625e-04 : f32
    %r = arith.mulf %i0, %c : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %v7 = tensor.empty() : tensor<64x1024xf32>
  %v8 = linalg.generic {indexing_maps = [affine_map<(b, f) -> (b, f)>, affine_map<(b, f) -> (b)>, affine_map<(b, f) -> (b, f)>], iterator_types = ["parallel", "parallel"]} ins(%a0, %v6 : tensor<64x1024xf32>, tensor<64xf32>) outs(%v7 : tensor<64x1024xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.subf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<64x1024xf32>
  %v9 = tensor.empty() : tensor<64x1024xf32>
  %v10 = linalg.generic {indexing_maps = [affine_map<(b, f) -> (b, f)>, affine_map<(b, f) -> (b, f)>, affine_map<(b, f) -> (b, f)>], iterator_types = ["parallel", "parallel"]} ins(%v8, %v8 : tensor<64x1024xf32>, tensor<64x1024xf32>) outs(%v9 : tensor<64x1024xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<64x1024xf32>
  %v11 = tensor.empty() : tensor<64xf32>
  %v13 = arith.constant 0.0 : f32
  %v14 = linalg.fill ins(%v13 : f32) outs(%v11 : tensor<64xf32>) -> tensor<64xf32>
  %v12 = linalg.generic {indexing_maps = [affine_map<(b, f) -> (b, f)>, affine_map<(b, f) -> (b)>], iterator_types = ["parallel", "reduction"]} ins(%v10 : tensor<64x1024xf32>) outs(%v14 : tensor<64xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.addf %i0, %o : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %v15 = tensor.empty() : tensor<64xf32>
  %v16 = linalg.generic {indexing_maps = [affine_map<(b) -> (b)>, affine_map<(b) -> (b)>], iterator_types = ["parallel"]} ins(%v12 : tensor<64xf32>) outs(%v15 : tensor<64xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %c = arith.constant 9.765625e-04 : f32
    %r = arith.mulf %i0, %c : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %v17 = tensor.empty() : tensor<64xf32>
  %v18 = linalg.generic {indexing_maps = [affine_map<(b) -> (b)>, affine_map<(b) -> (b)>], iterator_types = ["parallel"]} ins(%v16 : tensor<64xf32>) outs(%v17 : tensor<64xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %c = arith.constant 1.000000e-05 : f32
    %r = arith.addf %i0, %c : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %v19 = tensor.empty() : tensor<64xf32>
  %v20 = linalg.generic {indexing_maps = [affine_map<(b) -> (b)>, affine_map<(b) -> (b)>], iterator_types = ["parallel"]} ins(%v18 : tensor<64xf32>) outs(%v19 : tensor<64xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = math.rsqrt %i0 : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %v21 = tensor.empty() : tensor<64x1024xf32>
  %v22 = linalg.generic {indexing_maps = [affine_map<(b, f) -> (b, f)>, affine_map<(b, f) -> (b)>, affine_map<(b, f) -> (b, f)>], iterator_types = ["parallel", "parallel"]} ins(%v8, %v20 : tensor<64x1024xf32>, tensor<64xf32>) outs(%v21 : tensor<64x1024xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<64x1024xf32>
  %v23 = tensor.empty() : tensor<64x1024xf32>
  %v24 = linalg.generic {indexing_maps = [affine_map<(b, f) -> (b, f)>, affine_map<(b, f) -> (f)>, affine_map<(b, f) -> (b, f)>], iterator_types = ["parallel", "parallel"]} ins(%a2, %a1 : tensor<64x1024xf32>, tensor<1024xf32>) outs(%v23 : tensor<64x1024xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<64x1024xf32>
  %v25 = tensor.empty() : tensor<64xf32>
  %v27 = arith.constant 0.0 : f32
  %v28 = linalg.fill ins(%v27 : f32) outs(%v25 : tensor<64xf32>) -> tensor<64xf32>
  %v26 = linalg.generic {indexing_maps = [affine_map<(b, f) -> (b, f)>, affine_map<(b, f) -> (b)>], iterator_types = ["parallel", "reduction"]} ins(%v24 : tensor<64x1024xf32>) outs(%v28 : tensor<64xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.addf %i0, %o : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %v29 = tensor.empty() : tensor<64xf32>
  %v30 = linalg.generic {indexing_maps = [affine_map<(b) -> (b)>, affine_map<(b) -> (b)>], iterator_types = ["parallel"]} ins(%v26 : tensor<64xf32>) outs(%v29 : tensor<64xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %c = arith.constant 9.765625e-04 : f32
    %r = arith.mulf %i0, %c : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %v31 = tensor.empty() : tensor<64x1024xf32>
  %v32 = linalg.generic {indexing_maps = [affine_map<(b, f) -> (b, f)>, affine_map<(b, f) -> (b, f)>, affine_map<(b, f) -> (b, f)>], iterator_types = ["parallel", "parallel"]} ins(%v24, %v22 : tensor<64x1024xf32>, tensor<64x1024xf32>) outs(%v31 : tensor<64x1024xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<64x1024xf32>
  %v33 = tensor.empty() : tensor<64xf32>
  %v35 = arith.constant 0.0 : f32
  %v36 = linalg.fill ins(%v35 : f32) outs(%v33 : tensor<64xf32>) -> tensor<64xf32>
  %v34 = linalg.generic {indexing_maps = [affine_map<(b, f) -> (b, f)>, affine_map<(b, f) -> (b)>], iterator_types = ["parallel", "reduction"]} ins(%v32 : tensor<64x1024xf32>) outs(%v36 : tensor<64xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.addf %i0, %o : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %v37 = tensor.empty() : tensor<64xf32>
  %v38 = linalg.generic {indexing_maps = [affine_map<(b) -> (b)>, affine_map<(b) -> (b)>], iterator_types = ["parallel"]} ins(%v34 : tensor<64xf32>) outs(%v37 : tensor<64xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %c = arith.constant 9.765625e-04 : f32
    %r = arith.mulf %i0, %c : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %v39 = tensor.empty() : tensor<64x1024xf32>
  %v40 = linalg.generic {indexing_maps = [affine_map<(b, f) -> (b, f)>, affine_map<(b, f) -> (b)>, affine_map<(b, f) -> (b, f)>], iterator_types = ["parallel", "parallel"]} ins(%v24, %v30 : tensor<64x1024xf32>, tensor<64xf32>) outs(%v39 : tensor<64x1024xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.subf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<64x1024xf32>
  %v41 = tensor.empty() : tensor<64x1024xf32>
  %v42 = linalg.generic {indexing_maps = [affine_map<(b, f) -> (b, f)>, affine_map<(b, f) -> (b)>, affine_map<(b, f) -> (b, f)>], iterator_types = ["parallel", "parallel"]} ins(%v22, %v38 : tensor<64x1024xf32>, tensor<64xf32>) outs(%v41 : tensor<64x1024xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<64x1024xf32>
  %v43 = tensor.empty() : tensor<64x1024xf32>
  %v44 = linalg.generic {indexing_maps = [affine_map<(b, f) -> (b, f)>, affine_map<(b, f) -> (b, f)>, affine_map<(b, f) -> (b, f)>], iterator_types = ["parallel", "parallel"]} ins(%v40, %v42 : tensor<64x1024xf32>, tensor<64x1024xf32>) outs(%v43 : tensor<64x1024xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.subf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<64x1024xf32>
  %v45 = tensor.empty() : tensor<64x1024xf32>
  %v46 = linalg.generic {indexing_maps = [affine_map<(b, f) -> (b, f)>, affine_map<(b, f) -> (b)>, affine_map<(b, f) -> (b, f)>], iterator_types = ["parallel", "parallel"]} ins(%v44, %v20 : tensor<64x1024xf32>, tensor<64xf32>) outs(%v45 : tensor<64x1024xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<64x1024xf32>
  %v47 = tensor.empty() : tensor<64x1024xf32>
  %v48 = linalg.generic {indexing_maps = [affine_map<(b, f) -> (b, f)>, affine_map<(b, f) -> (b, f)>, affine_map<(b, f) -> (b, f)>], iterator_types = ["parallel", "parallel"]} ins(%a2, %v22 : tensor<64x1024xf32>, tensor<64x1024xf32>) outs(%v47 : tensor<64x1024xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<64x1024xf32>
  %v49 = tensor.empty() : tensor<1024xf32>
  %v51 = arith.constant 0.0 : f32
  %v52 = linalg.fill ins(%v51 : f32) outs(%v49 : tensor<1024xf32>) -> tensor<1024xf32>
  %v50 = linalg.generic {indexing_maps = [affine_map<(b, f) -> (b, f)>, affine_map<(b, f) -> (f)>], iterator_types = ["reduction", "parallel"]} ins(%v48 : tensor<64x1024xf32>) outs(%v52 : tensor<1024xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.addf %i0, %o : f32
    linalg.yield %r : f32
  } -> tensor<1024xf32>
  %v53 = tensor.empty() : tensor<1024xf32>
  %v55 = arith.constant 0.0 : f32
  %v56 = linalg.fill ins(%v55 : f32) outs(%v53 : tensor<1024xf32>) -> tensor<1024xf32>
  %v54 = linalg.generic {indexing_maps = [affine_map<(b, f) -> (b, f)>, affine_map<(b, f) -> (f)>], iterator_types = ["reduction", "parallel"]} ins(%a2 : tensor<64x1024xf32>) outs(%v56 : tensor<1024xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.addf %i0, %o : f32
    linalg.yield %r : f32
  } -> tensor<1024xf32>
  return %v46, %v50, %v54 : tensor<64x1024xf32>, tensor<1024xf32>, tensor<1024xf32>
}
