// RUN: xtensor-opt %s --split-input-file --xtensor-split-reductions | FileCheck %s

// A full sum is the sum of row sums.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: (%[[X:.*]]: tensor<64x1024xf32>, %[[OLD:.*]]: tensor<f32>)
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00
// CHECK: %[[ZEROS:.*]] = linalg.fill ins(%[[ZERO]] : f32) {{.*}} -> tensor<64xf32>
// CHECK: %[[ROWS:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[X]] {{.*}} outs(%[[ZEROS]]
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction"]} ins(%[[ROWS]] {{.*}} outs(%[[OLD]]
// CHECK-NOT: arith.mulf
// CHECK: arith.addf
func.func @rows(%x: tensor<64x1024xf32>, %old: tensor<f32>) -> tensor<f32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%x : tensor<64x1024xf32>) outs(%old : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.mulf %a, %a : f32
    %r = arith.addf %m, %o : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Nothing but one long dim: chunks of it. The last one is shorter.
// CHECK-LABEL: func.func @chunks
// CHECK-SAME: (%[[X:.*]]: tensor<99991xf32>
// CHECK: %[[PARTS:.*]] = scf.forall (%[[I:.*]]) = (0) to (99991) step (3120) shared_outs(%[[OUT:.*]] = %{{.*}}) -> (tensor<33xf32>)
// CHECK-DAG: %[[STEP:.*]] = arith.constant 3120 : index
// CHECK: %[[REST:.*]] = arith.subi %{{.*}}, %[[I]]
// CHECK: %[[LENGTH:.*]] = arith.minsi %[[REST]], %[[STEP]]
// CHECK: %[[CHUNK:.*]] = arith.divui %[[I]], %[[STEP]]
// CHECK: tensor.extract_slice %[[X]][%[[I]]] [%[[LENGTH]]] [1] : tensor<99991xf32> to tensor<?xf32>
// CHECK: tensor.extract_slice %[[OUT]][%[[CHUNK]]] [1] [1] : tensor<33xf32> to tensor<f32>
// CHECK: linalg.fill ins(%[[NEUTRAL:.*]] : f32)
// CHECK: tensor.parallel_insert_slice %{{.*}} into %[[OUT]][%[[CHUNK]]] [1] [1]
// CHECK: linalg.generic {{.*}} ins(%[[PARTS]] : tensor<33xf32>)
// CHECK: arith.maximumf
func.func @chunks(%x: tensor<99991xf32>, %old: tensor<f32>) -> tensor<f32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<99991xf32>) outs(%old : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Few columns and many rows: 8 neighbouring rows are one row, which fills vectors. Chunks of these, one row of partial
// sums each, and then the sum of the 8 parts of a row.
// CHECK-LABEL: func.func @narrow_columns
// CHECK: %[[GROUPS:.*]] = tensor.expand_shape %{{.*}} output_shape [7500, 8, 10]
// CHECK: %[[WIDE:.*]] = tensor.collapse_shape %[[GROUPS]] {{\[\[}}0], [1, 2]] {{.*}} into tensor<7500x80xf32>
// CHECK: scf.forall (%[[I:.*]]) = (0) to (7500) step (150) shared_outs(%{{.*}} = %{{.*}}) -> (tensor<50x80xf32>)
// CHECK: tensor.extract_slice %[[WIDE]][%[[I]], 0] [150, 80] [1, 1] : tensor<7500x80xf32> to tensor<150x80xf32>
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]} ins(%{{.*}} : tensor<50x80xf32>)
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]} ins(%{{.*}} : tensor<8x10xf32>)
func.func @narrow_columns(%x: tensor<60000x10xf32>, %old: tensor<10xf32>) -> tensor<10xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<60000x10xf32>) outs(%old : tensor<10xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<10xf32>
  return %0 : tensor<10xf32>
}

// -----

// Rows that are left are added before the others.
// CHECK-LABEL: func.func @narrow_columns_left
// CHECK-SAME: %[[OLD:[^:]*]]: tensor<3xf32>)
// CHECK: tensor.extract_slice %{{.*}}[0, 0] [60000, 3] [1, 1]
// CHECK: %[[REST:.*]] = tensor.extract_slice %{{.*}}[60000, 0] [7, 3] [1, 1]
// CHECK: %[[FIRST:.*]] = linalg.generic {{.*}} ins(%[[REST]] {{.*}} outs(%[[OLD]]
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<32x3xf32>) outs(%[[FIRST]]
func.func @narrow_columns_left(%x: tensor<60007x3xf32>, %old: tensor<3xf32>) -> tensor<3xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<60007x3xf32>) outs(%old : tensor<3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// Rows or many columns are parallel already; small sums are not worth it; an
// argmax has no combiner that could join its parts.
// CHECK-LABEL: func.func @unchanged
// CHECK-COUNT-4: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK-NOT: scf.forall
#id = affine_map<(i, j) -> (i, j)>
#none = affine_map<(i) -> ()>
func.func @unchanged(%x: tensor<64x1024xf32>, %row: tensor<64xf32>, %col: tensor<1024xf32>, %s: tensor<f32>, %n: tensor<i64>, %v: tensor<100000xf32>) -> (tensor<64xf32>, tensor<1024xf32>, tensor<f32>, tensor<i64>) {
  %0 = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x1024xf32>) outs(%row : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %1 = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<64x1024xf32>) outs(%col : tensor<1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<1024xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, #none], iterator_types = ["reduction"]} ins(%row : tensor<64xf32>) outs(%s : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  %3:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, #none, #none], iterator_types = ["reduction"]} ins(%v : tensor<100000xf32>) outs(%s, %n : tensor<f32>, tensor<i64>) {
  ^bb0(%a: f32, %o: f32, %p: i64):
    %i = linalg.index 0 : index
    %i64 = arith.index_cast %i : index to i64
    %c = arith.cmpf ogt, %a, %o : f32
    %r = arith.select %c, %a, %o : f32
    %q = arith.select %c, %i64, %p : i64
    linalg.yield %r, %q : f32, i64
  } -> (tensor<f32>, tensor<i64>)
  return %0, %1, %2, %3#1 : tensor<64xf32>, tensor<1024xf32>, tensor<f32>, tensor<i64>
}

// -----

// Columns longer than a cache: parts of whole rows, which all that reads them so shares.
// CHECK-LABEL: func.func @long_columns
// CHECK-SAME: (%[[X:.*]]: tensor<1024x512xf32>
// CHECK: %[[CUT:.*]] = tensor.expand_shape %[[X]] {{\[\[}}0, 1], [2]] output_shape [32, 32, 512]
// CHECK: %[[PARTS:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "parallel"]} ins(%[[CUT]] : tensor<32x32x512xf32>) outs(%{{.*}} : tensor<32x512xf32>)
// CHECK: arith.addf
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]} ins(%[[PARTS]] : tensor<32x512xf32>)
// CHECK-NOT: tensor.expand_shape
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "parallel"]} ins(%[[CUT]] : tensor<32x32x512xf32>)
// CHECK: arith.maximumf
func.func @long_columns(%x: tensor<1024x512xf32>, %s: tensor<512xf32>, %m: tensor<512xf32>) -> (tensor<512xf32>, tensor<512xf32>) {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<1024x512xf32>) outs(%s : tensor<512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<512xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<1024x512xf32>) outs(%m : tensor<512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<512xf32>
  return %0, %1 : tensor<512xf32>, tensor<512xf32>
}

// -----

// The same behind a mask that is stored the other way: the wider elements say what a row is.
// CHECK-LABEL: func.func @behind_a_turned_mask
// CHECK-SAME: (%[[X:.*]]: tensor<1024x512xf32>, %[[M:.*]]: tensor<512x1024xi8>
// CHECK-DAG: tensor.expand_shape %[[X]] {{\[\[}}0, 1], [2]] output_shape [32, 32, 512]
// CHECK-DAG: tensor.expand_shape %[[M]] {{\[\[}}0], [1, 2]] output_shape [512, 32, 32]
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "parallel"]}
func.func @behind_a_turned_mask(%x: tensor<1024x512xf32>, %m: tensor<512x1024xi8>, %s: tensor<512xf32>) -> tensor<512xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]} ins(%x, %m : tensor<1024x512xf32>, tensor<512x1024xi8>) outs(%s : tensor<512xf32>) {
  ^bb0(%a: f32, %b: i8, %o: f32):
    %c0 = arith.constant 0 : i8
    %zero = arith.constant 0.0 : f32
    %on = arith.cmpi ne, %b, %c0 : i8
    %v = arith.select %on, %a, %zero : f32
    %r = arith.addf %o, %v : f32
    linalg.yield %r : f32
  } -> tensor<512xf32>
  return %0 : tensor<512xf32>
}

// -----

// What a running combination shows is added up along it first, where it is made.
#id = affine_map<(d0, d1) -> (d0, d1)>
#last = affine_map<(d0, d1) -> (d1)>
#shown = affine_map<(d0, d1) -> (d1, d0)>
#carried = affine_map<(d0, d1) -> (d0)>
#none = affine_map<(d0, d1) -> ()>

// CHECK-LABEL: func.func @along_a_scan
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]{{.*}} attrs =  {xtensor.scan
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}], iterator_types = ["reduction", "parallel"]}
// CHECK-SAME: outs(%{{.*}} : tensor<512xf32>)
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction"]{{.*}} ins(%{{.*}} : tensor<512xf32>)
func.func @along_a_scan(%x: tensor<256x512xf32>, %all: tensor<256x512xf32>, %run: tensor<512xf32>, %sum: tensor<f32>) -> tensor<f32> {
  %y:2 = linalg.generic {indexing_maps = [#shown, #shown, #carried], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<256x512xf32>) outs(%all, %run : tensor<256x512xf32>, tensor<512xf32>) attrs = {xtensor.scan = "forward"} {
  ^bb0(%in: f32, %out: f32, %r: f32):
    %n = arith.addf %r, %in : f32
    linalg.yield %n, %n : f32, f32
  } -> (tensor<256x512xf32>, tensor<512xf32>)
  %s = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction", "reduction"]} ins(%y#0 : tensor<256x512xf32>) outs(%sum : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.addf %out, %in : f32
    linalg.yield %n : f32
  } -> tensor<f32>
  return %s : tensor<f32>
}

// -----

// One row times the rows of a matrix: a dim of one element does not make the sums columns.
// CHECK-LABEL: func.func @one_row
// CHECK-NOT: tensor.expand_shape
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK-NOT: linalg.generic
func.func @one_row(%x: tensor<1x1024xf32>, %w: tensor<4096x1024xf32>, %old: tensor<1x4096xf32>) -> tensor<1x4096xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<1x1024xf32>, tensor<4096x1024xf32>) outs(%old : tensor<1x4096xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %o, %m : f32
    linalg.yield %r : f32
  } -> tensor<1x4096xf32>
  return %0 : tensor<1x4096xf32>
}
