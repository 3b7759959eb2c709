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

#long = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#all = affine_map<(d0, d1) -> ()>

// What the scan shows is multiplied with the product of all rows: it would be stored until that is there, so the
// reduction stays one of its own. A factor of the same row does not wait for the others.
// CHECK-LABEL: func.func @waits_for_all
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<1024x64xf32>)
// CHECK: %[[T:.*]] = linalg.generic {{.*}} ins(%[[Y]] : tensor<1024xf32>)
// CHECK: %[[S:.*]]:2 = linalg.generic {{.*}} ins(%arg0 : tensor<1024x64xf32>) {{.*}} attrs = {xtensor.scan = "forward"}
// CHECK: %[[ROW:.*]] = linalg.generic {{.*}} ins(%[[S]]#1 : tensor<1024xf32>)
// CHECK: ins(%arg0, %[[S]]#0, %[[T]], %[[ROW]]
func.func @waits_for_all(%x: tensor<1024x64xf32>) -> tensor<1024x64xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<1024x64xf32>
  %k = tensor.empty() : tensor<1024xf32>
  %ones = linalg.fill ins(%one : f32) outs(%k : tensor<1024xf32>) -> tensor<1024xf32>
  %n = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%one : f32) outs(%n : tensor<f32>) -> tensor<f32>
  %y = linalg.generic {indexing_maps = [#long, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<1024x64xf32>) outs(%ones : tensor<1024xf32>) {
  ^bb0(%a: f32, %run: f32):
    %m = arith.mulf %run, %a : f32
    linalg.yield %m : f32
  } -> tensor<1024xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%y : tensor<1024xf32>) outs(%start : tensor<f32>) {
  ^bb0(%a: f32, %run: f32):
    %m = arith.mulf %run, %a : f32
    linalg.yield %m : f32
  } -> tensor<f32>
  %s:2 = linalg.generic {indexing_maps = [#long, #long, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<1024x64xf32>) outs(%e, %ones : tensor<1024x64xf32>, tensor<1024xf32>) attrs = {xtensor.scan = "forward"} {
  ^bb0(%a: f32, %o: f32, %run: f32):
    %m = arith.mulf %run, %a : f32
    linalg.yield %run, %m : f32, f32
  } -> (tensor<1024x64xf32>, tensor<1024xf32>)
  %of_row = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%y : tensor<1024xf32>) outs(%k : tensor<1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.addf %a, %a : f32
    linalg.yield %m : f32
  } -> tensor<1024xf32>
  %d:2 = linalg.generic {indexing_maps = [#long, #long, #all, #row, #long, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %s#0, %t, %of_row : tensor<1024x64xf32>, tensor<1024x64xf32>, tensor<f32>, tensor<1024xf32>)
      outs(%e, %ones : tensor<1024x64xf32>, tensor<1024xf32>) attrs = {xtensor.scan = "reverse"} {
  ^bb0(%a: f32, %p: f32, %f: f32, %g: f32, %o: f32, %run: f32):
    %m = arith.mulf %run, %a : f32
    %q = arith.mulf %p, %run : f32
    %r = arith.mulf %q, %f : f32
    %v = arith.mulf %r, %g : f32
    linalg.yield %v, %m : f32, f32
  } -> (tensor<1024x64xf32>, tensor<1024xf32>)
  return %d#0 : tensor<1024x64xf32>
}
