// RUN: xtensor-opt %s --xtensor-fuse-elementwise --xtensor-split-reductions --xtensor-group | FileCheck %s

// The gradient of a two-layer perceptron: contractions stay outside; what is
// between them is one loop each. The last layer's tanh and the gradient at its
// input are one loop.
// CHECK-LABEL: func.func @main
// CHECK: linalg.generic {{.*}}["parallel", "parallel", "reduction"]
// CHECK: %[[H:.*]] = scf.forall (%{{.*}}) = (0) to (64) step (16)
// CHECK: math.tanh
// CHECK: linalg.generic {{.*}}["parallel", "parallel", "reduction"]} ins(%[[H]],
// CHECK: %[[LAST:.*]]:2 = scf.forall
// CHECK: math.tanh
// CHECK: arith.negf
// CHECK: scf.forall.in_parallel
// CHECK: linalg.generic {{.*}}["parallel", "parallel", "reduction"]} ins(%[[H]], %[[LAST]]#1
// CHECK: linalg.generic {{.*}}["parallel", "parallel", "reduction"]} ins(%[[LAST]]#1
// CHECK: scf.forall
// CHECK: scf.forall.in_parallel
// CHECK-NOT: scf.forall
// CHECK: linalg.generic {{.*}}["parallel", "parallel", "reduction"]
// CHECK: return

func.func @main(%a0: tensor<64x64xf32>, %a1: tensor<64x64xf32>, %a2: tensor<64x64xf32>, %a3: tensor<64x64xf32>, %a4: tensor<64xf32>, %a5: tensor<64xf32>) -> (tensor<f32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %v1 = tensor.empty() : tensor<64x64xf32>
  %v3 = arith.constant 0.0 : f32
  %v4 = linalg.fill ins(%v3 : f32) outs(%v1 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %v2 = linalg.generic {indexing_maps = [affine_map<(b, h1, h0) -> (b, h0)>, affine_map<(b, h1, h0) -> (h0, h1)>, affine_map<(b, h1, h0) -> (b, h1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a0, %a2 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%v4 : tensor<64x64xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %m = arith.mulf %i0, %i1 : f32
    %r = arith.addf %m, %o : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %v5 = tensor.empty() : tensor<64x64xf32>
  %v6 = linalg.generic {indexing_maps = [affine_map<(b, h1) -> (b, h1)>, affine_map<(b, h1) -> (h1)>, affine_map<(b, h1) -> (b, h1)>], iterator_types = ["parallel", "parallel"]} ins(%v2, %a4 : tensor<64x64xf32>, tensor<64xf32>) outs(%v5 : tensor<64x64xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.addf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %v7 = tensor.empty() : tensor<64x64xf32>
  %v8 = linalg.generic {indexing_maps = [affine_map<(b, h1) -> (b, h1)>, affine_map<(b, h1) -> (b, h1)>], iterator_types = ["parallel", "parallel"]} ins(%v6 : tensor<64x64xf32>) outs(%v7 : tensor<64x64xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = math.tanh %i0 : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %v9 = tensor.empty() : tensor<64x64xf32>
  %v11 = arith.constant 0.0 : f32
  %v12 = linalg.fill ins(%v11 : f32) outs(%v9 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %v10 = linalg.generic {indexing_maps = [affine_map<(b, h2, h1) -> (b, h1)>, affine_map<(b, h2, h1) -> (h1, h2)>, affine_map<(b, h2, h1) -> (b, h2)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v8, %a3 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%v12 : tensor<64x64xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %m = arith.mulf %i0, %i1 : f32
    %r = arith.addf %m, %o : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %v13 = tensor.empty() : tensor<64x64xf32>
  %v14 = linalg.generic {indexing_maps = [affine_map<(b, h2) -> (b, h2)>, affine_map<(b, h2) -> (h2)>, affine_map<(b, h2) -> (b, h2)>], iterator_types = ["parallel", "parallel"]} ins(%v10, %a5 : tensor<64x64xf32>, tensor<64xf32>) outs(%v13 : tensor<64x64xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.addf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %v15 = tensor.empty() : tensor<64x64xf32>
  %v16 = linalg.generic {indexing_maps = [affine_map<(b, h2) -> (b, h2)>, affine_map<(b, h2) -> (b, h2)>], iterator_types = ["parallel", "parallel"]} ins(%v14 : tensor<64x64xf32>) outs(%v15 : tensor<64x64xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = math.tanh %i0 : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %v17 = tensor.empty() : tensor<64x64xf32>
  %v18 = linalg.generic {indexing_maps = [affine_map<(b, h2) -> (b, h2)>, affine_map<(b, h2) -> (b, h2)>, affine_map<(b, h2) -> (b, h2)>], iterator_types = ["parallel", "parallel"]} ins(%v16, %a1 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%v17 : tensor<64x64xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.subf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %v19 = tensor.empty() : tensor<64x64xf32>
  %v20 = linalg.generic {indexing_maps = [affine_map<(b, h2) -> (b, h2)>, affine_map<(b, h2) -> (b, h2)>, affine_map<(b, h2) -> (b, h2)>], iterator_types = ["parallel", "parallel"]} ins(%v18, %v18 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%v19 : tensor<64x64xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %v21 = tensor.empty() : tensor<f32>
  %v23 = arith.constant 0.0 : f32
  %v24 = linalg.fill ins(%v23 : f32) outs(%v21 : tensor<f32>) -> tensor<f32>
  %v22 = linalg.generic {indexing_maps = [affine_map<(b, h2) -> (b, h2)>, affine_map<(b, h2) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%v20 : tensor<64x64xf32>) outs(%v24 : tensor<f32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.addf %i0, %o : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  %v25 = tensor.empty() : tensor<f32>
  %v26 = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%v22 : tensor<f32>) outs(%v25 : tensor<f32>) {
  ^bb0(%i0: f32, %o: f32):
    %c = arith.constant 2.441406e-04 : f32
    %r = arith.mulf %i0, %c : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  %v27 = tensor.empty() : tensor<64x64xf32>
  %v28 = linalg.generic {indexing_maps = [affine_map<(b, h2) -> (b, h2)>, affine_map<(b, h2) -> (b, h2)>], iterator_types = ["parallel", "parallel"]} ins(%v18 : tensor<64x64xf32>) outs(%v27 : tensor<64x64xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %c = arith.constant 4.882812e-04 : f32
    %r = arith.mulf %i0, %c : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %v29 = tensor.empty() : tensor<64x64xf32>
  %v30 = linalg.generic {indexing_maps = [affine_map<(b, h2) -> (b, h2)>, affine_map<(b, h2) -> (b, h2)>, affine_map<(b, h2) -> (b, h2)>], iterator_types = ["parallel", "parallel"]} ins(%v16, %v16 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%v29 : tensor<64x64xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %v31 = tensor.empty() : tensor<64x64xf32>
  %v32 = linalg.generic {indexing_maps = [affine_map<(b, h2) -> (b, h2)>, affine_map<(b, h2) -> (b, h2)>], iterator_types = ["parallel", "parallel"]} ins(%v30 : tensor<64x64xf32>) outs(%v31 : tensor<64x64xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.negf %i0 : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %v33 = tensor.empty() : tensor<64x64xf32>
  %v34 = linalg.generic {indexing_maps = [affine_map<(b, h2) -> (b, h2)>, affine_map<(b, h2) -> (b, h2)>], iterator_types = ["parallel", "parallel"]} ins(%v32 : tensor<64x64xf32>) outs(%v33 : tensor<64x64xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %c = arith.constant 1.000000e+00 : f32
    %r = arith.addf %i0, %c : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %v35 = tensor.empty() : tensor<64x64xf32>
  %v36 = linalg.generic {indexing_maps = [affine_map<(b, h2) -> (b, h2)>, affine_map<(b, h2) -> (b, h2)>, affine_map<(b, h2) -> (b, h2)>], iterator_types = ["parallel", "parallel"]} ins(%v28, %v34 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%v35 : tensor<64x64xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %v37 = tensor.empty() : tensor<64xf32>
  %v39 = arith.constant 0.0 : f32
  %v40 = linalg.fill ins(%v39 : f32) outs(%v37 : tensor<64xf32>) -> tensor<64xf32>
  %v38 = linalg.generic {indexing_maps = [affine_map<(b, h2) -> (b, h2)>, affine_map<(b, h2) -> (h2)>], iterator_types = ["reduction", "parallel"]} ins(%v36 : tensor<64x64xf32>) outs(%v40 : tensor<64xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.addf %i0, %o : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %v41 = tensor.empty() : tensor<64x64xf32>
  %v43 = arith.constant 0.0 : f32
  %v44 = linalg.fill ins(%v43 : f32) outs(%v41 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %v42 = linalg.generic {indexing_maps = [affine_map<(h1, h2, b) -> (b, h1)>, affine_map<(h1, h2, b) -> (b, h2)>, affine_map<(h1, h2, b) -> (h1, h2)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v8, %v36 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%v44 : tensor<64x64xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %m = arith.mulf %i0, %i1 : f32
    %r = arith.addf %m, %o : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %v45 = tensor.empty() : tensor<64x64xf32>
  %v47 = arith.constant 0.0 : f32
  %v48 = linalg.fill ins(%v47 : f32) outs(%v45 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %v46 = linalg.generic {indexing_maps = [affine_map<(b, h1, h2) -> (b, h2)>, affine_map<(b, h1, h2) -> (h1, h2)>, affine_map<(b, h1, h2) -> (b, h1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v36, %a3 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%v48 : tensor<64x64xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %m = arith.mulf %i0, %i1 : f32
    %r = arith.addf %m, %o : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %v49 = tensor.empty() : tensor<64x64xf32>
  %v50 = linalg.generic {indexing_maps = [affine_map<(b, h1) -> (b, h1)>, affine_map<(b, h1) -> (b, h1)>, affine_map<(b, h1) -> (b, h1)>], iterator_types = ["parallel", "parallel"]} ins(%v8, %v8 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%v49 : tensor<64x64xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %v51 = tensor.empty() : tensor<64x64xf32>
  %v52 = linalg.generic {indexing_maps = [affine_map<(b, h1) -> (b, h1)>, affine_map<(b, h1) -> (b, h1)>], iterator_types = ["parallel", "parallel"]} ins(%v50 : tensor<64x64xf32>) outs(%v51 : tensor<64x64xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.negf %i0 : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %v53 = tensor.empty() : tensor<64x64xf32>
  %v54 = linalg.generic {indexing_maps = [affine_map<(b, h1) -> (b, h1)>, affine_map<(b, h1) -> (b, h1)>], iterator_types = ["parallel", "parallel"]} ins(%v52 : tensor<64x64xf32>) outs(%v53 : tensor<64x64xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %c = arith.constant 1.000000e+00 : f32
    %r = arith.addf %i0, %c : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %v55 = tensor.empty() : tensor<64x64xf32>
  %v56 = linalg.generic {indexing_maps = [affine_map<(b, h1) -> (b, h1)>, affine_map<(b, h1) -> (b, h1)>, affine_map<(b, h1) -> (b, h1)>], iterator_types = ["parallel", "parallel"]} ins(%v46, %v54 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%v55 : tensor<64x64xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %v57 = tensor.empty() : tensor<64xf32>
  %v59 = arith.constant 0.0 : f32
  %v60 = linalg.fill ins(%v59 : f32) outs(%v57 : tensor<64xf32>) -> tensor<64xf32>
  %v58 = linalg.generic {indexing_maps = [affine_map<(b, h1) -> (b, h1)>, affine_map<(b, h1) -> (h1)>], iterator_types = ["reduction", "parallel"]} ins(%v56 : tensor<64x64xf32>) outs(%v60 : tensor<64xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.addf %i0, %o : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %v61 = tensor.empty() : tensor<64x64xf32>
  %v63 = arith.constant 0.0 : f32
  %v64 = linalg.fill ins(%v63 : f32) outs(%v61 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %v62 = linalg.generic {indexing_maps = [affine_map<(h0, h1, b) -> (b, h0)>, affine_map<(h0, h1, b) -> (b, h1)>, affine_map<(h0, h1, b) -> (h0, h1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a0, %v56 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%v64 : tensor<64x64xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %m = arith.mulf %i0, %i1 : f32
    %r = arith.addf %m, %o : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  return %v26, %v62, %v42, %v58, %v38 : tensor<f32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>
}
