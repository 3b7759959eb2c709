// RUN: xtensor-opt %s --split-input-file --xtensor-group | FileCheck %s

// A block of what is read in steps, or from a place on, is a slice: no element is an iteration of
// its own.
// CHECK-DAG: #[[TWICE:.*]] = affine_map<(d0) -> (d0 * 2)>
// CHECK-DAG: #[[SAME:.*]] = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @steps
// CHECK: scf.forall (%[[I:.*]]) = (0) to (65536) step (2048)
// CHECK: tensor.extract_slice %{{.*}} [4095] [1] : tensor<200000xf32> to tensor<4095xf32>
// CHECK: tensor.extract_slice %{{.*}} [2048] [1] : tensor<200000xf32> to tensor<2048xf32>
// CHECK: linalg.generic {indexing_maps = [#[[TWICE]], #[[SAME]], #[[SAME]]]
func.func @steps(%x: tensor<200000xf32>) -> tensor<65536xf32> {
  %e = tensor.empty() : tensor<65536xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (2 * i + 1)>, affine_map<(i) -> (i + 7)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x, %x : tensor<200000xf32>, tensor<200000xf32>) outs(%e : tensor<65536xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<65536xf32>
  return %y : tensor<65536xf32>
}

// -----

// Backwards: the block of the result is read from its last element on.
// CHECK-DAG: #[[BACK:.*]] = affine_map<(d0) -> (-d0 + 2047)>
// CHECK-LABEL: func.func @flip
// CHECK: scf.forall (%[[I:.*]]) = (0) to (65536) step (2048)
// CHECK: tensor.extract_slice %{{.*}} [2048] [1] : tensor<65536xf32> to tensor<2048xf32>
// CHECK: linalg.generic {indexing_maps = [#[[BACK]],
func.func @flip(%x: tensor<65536xf32>) -> tensor<65536xf32> {
  %e = tensor.empty() : tensor<65536xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (65535 - i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<65536xf32>) outs(%e : tensor<65536xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<65536xf32>
  return %y : tensor<65536xf32>
}

// -----

// Backwards in blocks that differ in size: no blocks.
// CHECK-LABEL: func.func @flip_of_a_prime
// CHECK-NOT: scf.forall
// CHECK: return
func.func @flip_of_a_prime(%x: tensor<65537xf32>) -> tensor<65537xf32> {
  %e = tensor.empty() : tensor<65537xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (65536 - i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<65537xf32>) outs(%e : tensor<65537xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<65537xf32>
  return %y : tensor<65537xf32>
}
