// RUN: xtensor-opt %s --split-input-file --xtensor-group | FileCheck %s

// Small, empty and rank-0 ops stay as they are: the caller's thread does them.
// CHECK-LABEL: func.func @small
// CHECK-NOT: scf.forall
// CHECK: return
#id = affine_map<(i, j) -> (i, j)>
#none = affine_map<() -> ()>
func.func @small(%x: tensor<8x16xf32>, %y: tensor<0x4096xf32>, %z: tensor<f32>) -> (tensor<8x16xf32>, tensor<0x4096xf32>, tensor<f32>) {
  %e0 = tensor.empty() : tensor<8x16xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x16xf32>) outs(%e0 : tensor<8x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<8x16xf32>
  %e1 = tensor.empty() : tensor<0x4096xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<0x4096xf32>) outs(%e1 : tensor<0x4096xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<0x4096xf32>
  %e2 = tensor.empty() : tensor<f32>
  %2 = linalg.generic {indexing_maps = [#none, #none], iterator_types = []} ins(%z : tensor<f32>) outs(%e2 : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %0, %1, %2 : tensor<8x16xf32>, tensor<0x4096xf32>, tensor<f32>
}

// -----

// One dim: blocks of it, all of one size if a divisor will do.
// CHECK-LABEL: func.func @vector
// CHECK-SAME: (%[[X:.*]]: tensor<1000000xf32>)
// CHECK: scf.forall (%[[I:.*]]) = (0) to (1000000) step (8000)
// CHECK: tensor.extract_slice %[[X]][%[[I]]] [8000] [1] : tensor<1000000xf32> to tensor<8000xf32>
#v = affine_map<(i) -> (i)>
func.func @vector(%x: tensor<1000000xf32>) -> tensor<1000000xf32> {
  %e0 = tensor.empty() : tensor<1000000xf32>
  %0 = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%x : tensor<1000000xf32>) outs(%e0 : tensor<1000000xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<1000000xf32>
  return %0 : tensor<1000000xf32>
}

// -----

// Short rows are taken several at a time, over both outer dims.
// CHECK-LABEL: func.func @short_rows
// CHECK: scf.forall (%[[I:.*]], %[[J:.*]]) = (0, 0) to (8, 512) step (1, 128)
// CHECK: tensor.extract_slice %{{.*}}[%[[I]], %[[J]], 0] [1, 128, 64] [1, 1, 1] : tensor<8x512x64xf32> to tensor<128x64xf32>
#id3 = affine_map<(i, j, k) -> (i, j, k)>
func.func @short_rows(%x: tensor<8x512x64xf32>) -> tensor<8x512x64xf32> {
  %e0 = tensor.empty() : tensor<8x512x64xf32>
  %0 = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<8x512x64xf32>) outs(%e0 : tensor<8x512x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<8x512x64xf32>
  return %0 : tensor<8x512x64xf32>
}

// -----

// A dynamic size counts as large; sizes are read outside of the loop. The
// row's place is part of the index.
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: (%[[X:.*]]: tensor<?x?xf32>)
// CHECK-DAG: %[[N:.*]] = tensor.dim %[[X]], %c0
// CHECK-DAG: %[[M:.*]] = tensor.dim %[[X]], %c1
// CHECK: scf.forall (%[[I:.*]]) in (%[[N]]) shared_outs(%[[OUT:.*]] = %{{.*}}) -> (tensor<?x?xf32>)
// CHECK: tensor.extract_slice %[[X]][%[[I]], 0] [1, %[[M]]] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
// CHECK: arith.index_cast %[[I]] : index to i32
#id = affine_map<(i, j) -> (i, j)>
func.func @dynamic(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e0 = tensor.empty(%n, %m) : tensor<?x?xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x?xf32>) outs(%e0 : tensor<?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %i32 = arith.index_cast %i : index to i32
    %f = arith.sitofp %i32 : i32 to f32
    %r = arith.mulf %a, %f : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// Short rows with a value per row: blocks of rows, so that the exp of a row's
// sum is taken in vectors.
// CHECK-LABEL: func.func @rows_of_eight
// CHECK: scf.forall (%[[I:.*]]) = (0) to (4096) step (256)
// CHECK: linalg.generic {{.*}}["parallel", "reduction"]} ins(%{{.*}} : tensor<256x8xf32>) outs(%{{.*}} : tensor<256xf32>)
// CHECK: linalg.generic {{.*}}["parallel"]} ins(%{{.*}} : tensor<256xf32>)
// CHECK: math.exp
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#v = affine_map<(i) -> (i)>
func.func @rows_of_eight(%x: tensor<4096x8xf32>) -> tensor<4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<4096xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<4096xf32>) -> tensor<4096xf32>
  %0 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4096x8xf32>) outs(%f0 : tensor<4096xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<4096xf32>
  %e1 = tensor.empty() : tensor<4096xf32>
  %1 = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%0 : tensor<4096xf32>) outs(%e1 : tensor<4096xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<4096xf32>
  return %1 : tensor<4096xf32>
}

// -----

// The body of a sequential loop is grouped like a function; a group is not
// grouped again.
// CHECK-LABEL: func.func @loop
// CHECK: scf.for
// CHECK: scf.forall
// CHECK-NOT: scf.forall (
// CHECK: scf.yield
#id = affine_map<(i, j) -> (i, j)>
func.func @loop(%x: tensor<64x1024xf32>, %n: index) -> tensor<64x1024xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %t = %c0 to %n step %c1 iter_args(%s = %x) -> (tensor<64x1024xf32>) {
    %e0 = tensor.empty() : tensor<64x1024xf32>
    %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<64x1024xf32>) outs(%e0 : tensor<64x1024xf32>) {
    ^bb0(%a: f32, %o: f32):
      %v = math.tanh %a : f32
      linalg.yield %v : f32
    } -> tensor<64x1024xf32>
    scf.yield %0 : tensor<64x1024xf32>
  }
  return %r : tensor<64x1024xf32>
}
