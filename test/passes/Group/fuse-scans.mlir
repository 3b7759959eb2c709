// What reads a running value moves into the loop that makes it; a reduction of what a scan combines is its last value.
// RUN: xtensor-opt %s --xtensor-fuse-scans | FileCheck %s

#xs = affine_map<(d0, d1) -> (d1, d0)>
#kept = affine_map<(d0, d1) -> (d0)>
#rows = affine_map<(d0, d1) -> (d0, d1)>
#lane = affine_map<(d0, d1) -> (d1)>

// The reader's loops are the other way round: the fused loops are the scan's.
// CHECK-LABEL: func.func @reader
// CHECK: %[[F:.*]]:2 = linalg.generic {indexing_maps = [#[[XS:.*]], #[[XS]], #[[KEPT:.*]], #[[XS]], #[[KEPT]]], iterator_types = ["parallel", "reduction"]}
// CHECK-SAME: ins(%arg0, %arg1, %arg2 : tensor<16x64xf32>, tensor<16x64xf32>, tensor<64xf32>)
// CHECK-SAME: attrs = {xtensor.scan = "reverse"}
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32, %[[W:.*]]: f32, %{{.*}}: f32, %[[ACC:.*]]: f32):
// CHECK-NEXT: %[[NEXT:.*]] = arith.mulf %[[ACC]], %[[X]]
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[ACC]], %[[Y]]
// CHECK-NEXT: %[[Q:.*]] = arith.mulf %[[P]], %[[W]]
// CHECK-NEXT: linalg.yield %[[Q]], %[[NEXT]]
// CHECK: return %[[F]]#0
func.func @reader(%x: tensor<16x64xf32>, %y: tensor<16x64xf32>, %w: tensor<64xf32>) -> tensor<16x64xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<16x64xf32>
  %k = tensor.empty() : tensor<64xf32>
  %ones = linalg.fill ins(%one : f32) outs(%k : tensor<64xf32>) -> tensor<64xf32>
  %0:2 = linalg.generic {indexing_maps = [#xs, #xs, #kept], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<16x64xf32>) outs(%e, %ones : tensor<16x64xf32>, tensor<64xf32>) attrs = {xtensor.scan = "reverse"} {
  ^bb0(%a: f32, %o: f32, %run: f32):
    %n = arith.mulf %run, %a : f32
    linalg.yield %run, %n : f32, f32
  } -> (tensor<16x64xf32>, tensor<64xf32>)
  %1 = linalg.generic {indexing_maps = [#rows, #rows, #lane, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%0#0, %y, %w : tensor<16x64xf32>, tensor<16x64xf32>, tensor<64xf32>) outs(%e : tensor<16x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.mulf %p, %c : f32
    linalg.yield %q : f32
  } -> tensor<16x64xf32>
  return %1 : tensor<16x64xf32>
}

// Values that somebody else reads are stored.
// CHECK-LABEL: func.func @two_readers
// CHECK: linalg.generic {{.*}} attrs = {xtensor.scan = "forward"}
// CHECK: linalg.generic
// CHECK: arith.negf
func.func @two_readers(%x: tensor<64xf32>, %zero: tensor<f32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %e = tensor.empty() : tensor<64xf32>
  %0:2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>],
      iterator_types = ["reduction"]} ins(%x : tensor<64xf32>) outs(%e, %zero : tensor<64xf32>, tensor<f32>)
      attrs = {xtensor.scan = "forward"} {
  ^bb0(%a: f32, %o: f32, %run: f32):
    %n = arith.addf %run, %a : f32
    linalg.yield %n, %n : f32, f32
  } -> (tensor<64xf32>, tensor<f32>)
  %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%0#0 : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<64xf32>
  return %0#0, %1 : tensor<64xf32>, tensor<64xf32>
}

// CHECK-LABEL: func.func @last_value
// CHECK: %[[S:.*]]:2 = linalg.generic {{.*}} attrs = {xtensor.scan = "forward"}
// CHECK-NOT: linalg.generic
// CHECK: return %[[S]]#0, %[[S]]#1
func.func @last_value(%x: tensor<16x64xf32>) -> (tensor<16x64xf32>, tensor<64xf32>) {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<16x64xf32>
  %k = tensor.empty() : tensor<64xf32>
  %ones = linalg.fill ins(%one : f32) outs(%k : tensor<64xf32>) -> tensor<64xf32>
  %0 = linalg.generic {indexing_maps = [#xs, #kept], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<16x64xf32>) outs(%ones : tensor<64xf32>) {
  ^bb0(%a: f32, %run: f32):
    %n = arith.mulf %run, %a : f32
    linalg.yield %n : f32
  } -> tensor<64xf32>
  %1:2 = linalg.generic {indexing_maps = [#xs, #xs, #kept], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<16x64xf32>) outs(%e, %ones : tensor<16x64xf32>, tensor<64xf32>) attrs = {xtensor.scan = "forward"} {
  ^bb0(%a: f32, %o: f32, %run: f32):
    %n = arith.mulf %run, %a : f32
    linalg.yield %run, %n : f32, f32
  } -> (tensor<16x64xf32>, tensor<64xf32>)
  return %1#0, %0 : tensor<16x64xf32>, tensor<64xf32>
}

// A sum of what is multiplied is something else.
// CHECK-LABEL: func.func @another_combination
// CHECK: arith.addf
// CHECK: xtensor.scan = "forward"
func.func @another_combination(%x: tensor<16x64xf32>) -> (tensor<16x64xf32>, tensor<64xf32>) {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<16x64xf32>
  %k = tensor.empty() : tensor<64xf32>
  %ones = linalg.fill ins(%one : f32) outs(%k : tensor<64xf32>) -> tensor<64xf32>
  %0 = linalg.generic {indexing_maps = [#xs, #kept], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<16x64xf32>) outs(%ones : tensor<64xf32>) {
  ^bb0(%a: f32, %run: f32):
    %n = arith.addf %run, %a : f32
    linalg.yield %n : f32
  } -> tensor<64xf32>
  %1:2 = linalg.generic {indexing_maps = [#xs, #xs, #kept], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<16x64xf32>) outs(%e, %ones : tensor<16x64xf32>, tensor<64xf32>) attrs = {xtensor.scan = "forward"} {
  ^bb0(%a: f32, %o: f32, %run: f32):
    %n = arith.mulf %run, %a : f32
    linalg.yield %run, %n : f32, f32
  } -> (tensor<16x64xf32>, tensor<64xf32>)
  return %1#0, %0 : tensor<16x64xf32>, tensor<64xf32>
}
