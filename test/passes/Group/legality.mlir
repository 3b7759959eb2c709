// RUN: xtensor-opt %s --split-input-file --xtensor-group | FileCheck %s

// A path from the first op over the contraction back to the last one: they are
// two loops, not one.
// CHECK-LABEL: func.func @diamond
// CHECK: %[[E:.*]] = scf.forall
// CHECK: math.exp
// CHECK: scf.forall.in_parallel
// CHECK: %[[G:.*]] = linalg.generic {{.*}}["parallel", "parallel", "reduction"]} ins(%[[E]],
// CHECK: scf.forall
// CHECK: tensor.extract_slice %[[E]]
// CHECK: arith.addf
#id = affine_map<(i, j) -> (i, j)>
func.func @diamond(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<64x64xf32>
  %e = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x64xf32>) outs(%e0 : tensor<64x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %e1 = tensor.empty() : tensor<64x64xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%e, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f1 : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %m, %o : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %e2 = tensor.empty() : tensor<64x64xf32>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%e, %g : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e2 : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = math.tanh %b : f32
    %r = arith.addf %a, %t : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  return %s : tensor<64x64xf32>
}

// -----

// `a` and `d` could be one group, `b` and `c` another; but d gathers from c,
// and b from a: the two groups would need each other.
// CHECK-LABEL: func.func @crossing
// CHECK: %[[C:.*]] = scf.forall
// CHECK: math.tanh
// CHECK: scf.forall.in_parallel
// CHECK: %[[AD:.*]]:2 = scf.forall
// CHECK: tensor.extract %[[C]]
// CHECK: arith.addf
// CHECK: scf.forall.in_parallel
// CHECK: scf.forall
// CHECK: tensor.extract %[[AD]]#0
// CHECK: arith.mulf
#id = affine_map<(i, j) -> (i, j)>
func.func @crossing(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %e = tensor.empty() : tensor<64x64xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%in: f32, %o: f32):
    %r = math.exp %in : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %c = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%in: f32, %o: f32):
    %r = math.tanh %in : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%in: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %g = tensor.extract %c[%j, %i] : tensor<64x64xf32>
    %v = arith.addf %in, %g : f32
    %r = math.exp %v : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%c : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%in: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %g = tensor.extract %a[%j, %i] : tensor<64x64xf32>
    %v = arith.mulf %in, %g : f32
    %r = math.exp %v : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  return %d, %b : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// Read inside and outside: a result of the loop, read as a row inside.
// CHECK-LABEL: func.func @inside_and_outside
// CHECK: %[[R:.*]]:2 = scf.forall (%[[I:.*]]) in (64) shared_outs(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}})
// CHECK: %[[PLACE:.*]] = tensor.extract_slice %[[A]][%[[I]], 0] [1, 1024] [1, 1]
// CHECK: %[[E:.*]] = linalg.generic {{.*}} outs(%[[PLACE]]
// CHECK: linalg.generic {{.*}}["reduction"]} ins(%[[E]] : tensor<1024xf32>)
// CHECK: tensor.parallel_insert_slice %[[E]] into %[[A]]
// CHECK: tensor.parallel_insert_slice %{{.*}} into %[[B]][%[[I]]] [1] [1] : tensor<f32> into tensor<64xf32>
// CHECK: return %[[R]]#0, %[[R]]#1
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @inside_and_outside(%x: tensor<64x1024xf32>) -> (tensor<64x1024xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<64x1024xf32>
  %e = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x1024xf32>) outs(%e0 : tensor<64x1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<64x1024xf32>
  %e1 = tensor.empty() : tensor<64xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%e : tensor<64x1024xf32>) outs(%f1 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  return %e, %s : tensor<64x1024xf32>, tensor<64xf32>
}

// -----

// A gather reads any row of its table: the table must be complete.
// CHECK-LABEL: func.func @gather
// CHECK: %[[TABLE:.*]] = scf.forall
// CHECK: math.exp
// CHECK: scf.forall.in_parallel
// CHECK: scf.forall
// CHECK: tensor.extract %[[TABLE]]
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @gather(%x: tensor<64x1024xf32>, %g: tensor<64xi32>) -> tensor<64x1024xf32> {
  %e0 = tensor.empty() : tensor<64x1024xf32>
  %e = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x1024xf32>) outs(%e0 : tensor<64x1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<64x1024xf32>
  %e1 = tensor.empty() : tensor<64x1024xf32>
  %s = linalg.generic {indexing_maps = [#row, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%g, %e : tensor<64xi32>, tensor<64x1024xf32>) outs(%e1 : tensor<64x1024xf32>) {
  ^bb0(%i: i32, %a: f32, %o: f32):
    %at = arith.index_cast %i : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %e[%at, %j] : tensor<64x1024xf32>
    %r = arith.addf %a, %v : f32
    linalg.yield %r : f32
  } -> tensor<64x1024xf32>
  return %s : tensor<64x1024xf32>
}

// -----

// Columns that no cache holds when they are read again: the centred rows are a loop of their own.
// CHECK-LABEL: func.func @long_columns
// CHECK: scf.forall (%{{.*}}) = (0) to (1024) step (128)
// CHECK: arith.addf
// CHECK: scf.forall.in_parallel
// CHECK: scf.forall (%{{.*}}) in (1024)
// CHECK: arith.subf
func.func @long_columns(%x: tensor<1024x1024xf32>, %s: tensor<1024xf32>) -> tensor<1024x1024xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<1024x1024xf32>) outs(%s : tensor<1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<1024xf32>
  %e = tensor.empty() : tensor<1024x1024xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x, %0 : tensor<1024x1024xf32>, tensor<1024xf32>) outs(%e : tensor<1024x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.subf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<1024x1024xf32>
  return %1 : tensor<1024x1024xf32>
}
