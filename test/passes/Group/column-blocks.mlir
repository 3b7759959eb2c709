// RUN: xtensor-opt %s --xtensor-fuse-elementwise --xtensor-split-reductions --xtensor-group | FileCheck %s

// Statistics over the first dim: blocks of columns, the last one shorter.
// Scratch has the size of a full block.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<60x1000xf32>)
// CHECK: scf.forall (%[[J:.*]]) = (0) to (1000) step (112)
// CHECK: %[[WIDTH:.*]] = arith.minsi
// CHECK: tensor.extract_slice %[[X]][0, %[[J]]] [60, %[[WIDTH]]] [1, 1] : tensor<60x1000xf32> to tensor<60x?xf32>
// CHECK: %[[WHOLE:.*]] = tensor.empty() : tensor<112xf32>
// CHECK: tensor.extract_slice %[[WHOLE]][0] [%[[WIDTH]]] [1] : tensor<112xf32> to tensor<?xf32>
// CHECK: scf.forall.in_parallel
// CHECK-NOT: linalg.generic
// CHECK: return

func.func @main(%a0: tensor<60x1000xf32>) -> (tensor<1000xf32>, tensor<60x1000xf32>) {
  %v1 = tensor.empty() : tensor<1000xf32>
  %v3 = arith.constant 0.0 : f32
  %v4 = linalg.fill ins(%v3 : f32) outs(%v1 : tensor<1000xf32>) -> tensor<1000xf32>
  %v2 = linalg.generic {indexing_maps = [affine_map<(n, c) -> (n, c)>, affine_map<(n, c) -> (c)>], iterator_types = ["reduction", "parallel"]} ins(%a0 : tensor<60x1000xf32>) outs(%v4 : tensor<1000xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.addf %i0, %o : f32
    linalg.yield %r : f32
  } -> tensor<1000xf32>
  %v5 = tensor.empty() : tensor<1000xf32>
  %v6 = linalg.generic {indexing_maps = [affine_map<(c) -> (c)>, affine_map<(c) -> (c)>], iterator_types = ["parallel"]} ins(%v2 : tensor<1000xf32>) outs(%v5 : tensor<1000xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %c = arith.constant 1.666667e-02 : f32
    %r = arith.mulf %i0, %c : f32
    linalg.yield %r : f32
  } -> tensor<1000xf32>
  %v7 = tensor.empty() : tensor<60x1000xf32>
  %v8 = linalg.generic {indexing_maps = [affine_map<(n, c) -> (n, c)>, affine_map<(n, c) -> (c)>, affine_map<(n, c) -> (n, c)>], iterator_types = ["parallel", "parallel"]} ins(%a0, %v6 : tensor<60x1000xf32>, tensor<1000xf32>) outs(%v7 : tensor<60x1000xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.subf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<60x1000xf32>
  %v9 = tensor.empty() : tensor<60x1000xf32>
  %v10 = linalg.generic {indexing_maps = [affine_map<(n, c) -> (n, c)>, affine_map<(n, c) -> (n, c)>, affine_map<(n, c) -> (n, c)>], iterator_types = ["parallel", "parallel"]} ins(%v8, %v8 : tensor<60x1000xf32>, tensor<60x1000xf32>) outs(%v9 : tensor<60x1000xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<60x1000xf32>
  %v11 = tensor.empty() : tensor<1000xf32>
  %v13 = arith.constant 0.0 : f32
  %v14 = linalg.fill ins(%v13 : f32) outs(%v11 : tensor<1000xf32>) -> tensor<1000xf32>
  %v12 = linalg.generic {indexing_maps = [affine_map<(n, c) -> (n, c)>, affine_map<(n, c) -> (c)>], iterator_types = ["reduction", "parallel"]} ins(%v10 : tensor<60x1000xf32>) outs(%v14 : tensor<1000xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.addf %i0, %o : f32
    linalg.yield %r : f32
  } -> tensor<1000xf32>
  %v15 = tensor.empty() : tensor<1000xf32>
  %v16 = linalg.generic {indexing_maps = [affine_map<(c) -> (c)>, affine_map<(c) -> (c)>], iterator_types = ["parallel"]} ins(%v12 : tensor<1000xf32>) outs(%v15 : tensor<1000xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %c = arith.constant 1.666667e-02 : f32
    %r = arith.mulf %i0, %c : f32
    linalg.yield %r : f32
  } -> tensor<1000xf32>
  %v17 = tensor.empty() : tensor<1000xf32>
  %v18 = linalg.generic {indexing_maps = [affine_map<(c) -> (c)>, affine_map<(c) -> (c)>], iterator_types = ["parallel"]} ins(%v16 : tensor<1000xf32>) outs(%v17 : tensor<1000xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = math.sqrt %i0 : f32
    linalg.yield %r : f32
  } -> tensor<1000xf32>
  %v19 = tensor.empty() : tensor<60x1000xf32>
  %v20 = linalg.generic {indexing_maps = [affine_map<(n, c) -> (n, c)>, affine_map<(n, c) -> (c)>, affine_map<(n, c) -> (n, c)>], iterator_types = ["parallel", "parallel"]} ins(%v8, %v18 : tensor<60x1000xf32>, tensor<1000xf32>) outs(%v19 : tensor<60x1000xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.divf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<60x1000xf32>
  return %v6, %v20 : tensor<1000xf32>, tensor<60x1000xf32>
}

// A scan of 64 x 1024 elements in each iteration: blocks of 64 columns keep what it shows in cache until the reverse
// one reads it.
#rows = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#kept = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @scans
// CHECK: scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (32, 1024) step (1, 64)
// CHECK: xtensor.scan = "forward"
// CHECK: xtensor.scan = "reverse"
// CHECK: scf.forall.in_parallel
func.func @scans(%x: tensor<32x64x1024xf32>) -> tensor<32x64x1024xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<32x64x1024xf32>
  %k = tensor.empty() : tensor<32x1024xf32>
  %ones = linalg.fill ins(%one : f32) outs(%k : tensor<32x1024xf32>) -> tensor<32x1024xf32>
  %s:2 = linalg.generic {indexing_maps = [#rows, #rows, #kept], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<32x64x1024xf32>) outs(%e, %ones : tensor<32x64x1024xf32>, tensor<32x1024xf32>) attrs = {xtensor.scan = "forward"} {
  ^bb0(%a: f32, %o: f32, %run: f32):
    %m = arith.mulf %run, %a : f32
    linalg.yield %run, %m : f32, f32
  } -> (tensor<32x64x1024xf32>, tensor<32x1024xf32>)
  %d:2 = linalg.generic {indexing_maps = [#rows, #rows, #rows, #kept], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %s#0 : tensor<32x64x1024xf32>, tensor<32x64x1024xf32>) outs(%e, %ones : tensor<32x64x1024xf32>, tensor<32x1024xf32>)
      attrs = {xtensor.scan = "reverse"} {
  ^bb0(%a: f32, %p: f32, %o: f32, %run: f32):
    %m = arith.mulf %run, %a : f32
    %q = arith.mulf %p, %run : f32
    linalg.yield %q, %m : f32, f32
  } -> (tensor<32x64x1024xf32>, tensor<32x1024xf32>)
  return %d#0 : tensor<32x64x1024xf32>
}
