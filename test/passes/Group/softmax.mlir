// RUN: xtensor-opt %s --xtensor-fuse-elementwise --xtensor-split-reductions --xtensor-group | FileCheck %s
// RUN: xtensor-opt %s --xtensor-fuse-elementwise --xtensor-split-reductions --xtensor-group \
// RUN:   --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" \
// RUN:   --buffer-results-to-out-params="hoist-static-allocs modify-public-functions" --canonicalize --cse --canonicalize \
// RUN:   | FileCheck %s --check-prefix=BUFFERS

// One loop over the rows does all of a softmax, with one row of scratch.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<64x1024xf32>)
// CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<64x1024xf32>
// CHECK: %[[R:.*]] = scf.forall (%[[I:.*]]) in (64) shared_outs(%[[OUT:.*]] = %[[EMPTY]])
// CHECK: %[[ROW:.*]] = tensor.extract_slice %[[X]][%[[I]], 0] [1, 1024] [1, 1] : tensor<64x1024xf32> to tensor<1024xf32>
// CHECK: linalg.fill {{.*}} -> tensor<f32>
// CHECK: %[[MAX:.*]] = linalg.generic {{.*}}["reduction"]} ins(%[[ROW]] : tensor<1024xf32>)
// CHECK: %[[SCRATCH:.*]] = tensor.empty() : tensor<1024xf32>
// CHECK: %[[EXP:.*]] = linalg.generic {{.*}} ins(%[[ROW]], %[[MAX]] : tensor<1024xf32>, tensor<f32>) outs(%[[SCRATCH]]
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}}["reduction"]} ins(%[[EXP]] : tensor<1024xf32>)
// CHECK: %[[PLACE:.*]] = tensor.extract_slice %[[OUT]][%[[I]], 0] [1, 1024] [1, 1]
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[EXP]], %[[SUM]] : tensor<1024xf32>, tensor<f32>) outs(%[[PLACE]]
// CHECK: tensor.parallel_insert_slice %[[Y]] into %[[OUT]][%[[I]], 0] [1, 1024] [1, 1]
// CHECK-NOT: linalg.generic
// CHECK: return %[[R]]

// In place: the only buffers are the scratch row and the two scalars.
// BUFFERS-LABEL: func.func @main
// BUFFERS-NOT: memref.alloc
// BUFFERS: scf.forall
// BUFFERS: memref.alloc() {{.*}} : memref<f32>
// BUFFERS: memref.alloc() {{.*}} : memref<1024xf32>
// BUFFERS: memref.alloc() {{.*}} : memref<f32>
// BUFFERS-NOT: memref.alloc
// BUFFERS-NOT: memref.copy
// BUFFERS: return

func.func @main(%a0: tensor<64x1024xf32>) -> (tensor<64x1024xf32>) {
  %v1 = tensor.empty() : tensor<64xf32>
  %v3 = arith.constant 0xFF800000 : f32
  %v4 = linalg.fill ins(%v3 : f32) outs(%v1 : tensor<64xf32>) -> tensor<64xf32>
  %v2 = linalg.generic {indexing_maps = [affine_map<(b, f) -> (b, f)>, affine_map<(b, f) -> (b)>], iterator_types = ["parallel", "reduction"]} ins(%a0 : tensor<64x1024xf32>) outs(%v4 : tensor<64xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.maximumf %i0, %o : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %v5 = tensor.empty() : tensor<64x1024xf32>
  %v6 = linalg.generic {indexing_maps = [affine_map<(b, f) -> (b, f)>, affine_map<(b, f) -> (b)>, affine_map<(b, f) -> (b, f)>], iterator_types = ["parallel", "parallel"]} ins(%a0, %v2 : tensor<64x1024xf32>, tensor<64xf32>) outs(%v5 : tensor<64x1024xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.subf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<64x1024xf32>
  %v7 = tensor.empty() : tensor<64x1024xf32>
  %v8 = linalg.generic {indexing_maps = [affine_map<(b, f) -> (b, f)>, affine_map<(b, f) -> (b, f)>], iterator_types = ["parallel", "parallel"]} ins(%v6 : tensor<64x1024xf32>) outs(%v7 : tensor<64x1024xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = math.exp %i0 : f32
    linalg.yield %r : f32
  } -> tensor<64x1024xf32>
  %v9 = tensor.empty() : tensor<64xf32>
  %v11 = arith.constant 0.0 : f32
  %v12 = linalg.fill ins(%v11 : f32) outs(%v9 : tensor<64xf32>) -> tensor<64xf32>
  %v10 = linalg.generic {indexing_maps = [affine_map<(b, f) -> (b, f)>, affine_map<(b, f) -> (b)>], iterator_types = ["parallel", "reduction"]} ins(%v8 : tensor<64x1024xf32>) outs(%v12 : tensor<64xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.addf %i0, %o : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %v13 = tensor.empty() : tensor<64x1024xf32>
  %v14 = linalg.generic {indexing_maps = [affine_map<(b, f) -> (b, f)>, affine_map<(b, f) -> (b)>, affine_map<(b, f) -> (b, f)>], iterator_types = ["parallel", "parallel"]} ins(%v8, %v10 : tensor<64x1024xf32>, tensor<64xf32>) outs(%v13 : tensor<64x1024xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.divf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<64x1024xf32>
  return %v14 : tensor<64x1024xf32>
}
