// RUN: xtensor-opt %s --xtensor-schedule | FileCheck %s
// RUN: not xtensor-opt %s --xtensor-schedule=target=abacus 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: no schedules for target 'abacus'

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#col = affine_map<(i, j) -> (j)>
#t = affine_map<(i, j) -> (j, i)>

// CHECK-LABEL: func.func @kinds
func.func @kinds(%x: tensor<64x32xf32>, %h: tensor<64x32xf16>, %r: tensor<64xf32>, %c: tensor<32xf32>, %hr: tensor<64xf16>, %g: tensor<64xi64>, %xt: tensor<32x64xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>, tensor<64xf32>, tensor<32xf32>, tensor<64xf16>, tensor<32x64xf32>, tensor<64xf32>, tensor<64xi64>) {
  // CHECK: xtensor.schedule = {kind = "elementwise", unroll = 2 : i64, vector = 1 : i64}
  // CHECK: arith.negf
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x32xf32>) outs(%x : tensor<64x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.negf %a : f32
    linalg.yield %v : f32
  } -> tensor<64x32xf32>
  // CHECK: xtensor.schedule = {kind = "math", unroll = 1 : i64, vector = 1 : i64}
  // CHECK: math.exp
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x32xf32>) outs(%x : tensor<64x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = math.exp %a : f32
    linalg.yield %v : f32
  } -> tensor<64x32xf32>
  // CHECK: xtensor.schedule = {kind = "row-reduction", unroll = 4 : i64, vector = 1 : i64}
  %2 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x32xf32>) outs(%r : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.addf %a, %o : f32
    linalg.yield %v : f32
  } -> tensor<64xf32>
  // CHECK: xtensor.schedule = {kind = "column-reduction", unroll = 4 : i64, vector = 1 : i64}
  %3 = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<64x32xf32>) outs(%c : tensor<32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.addf %a, %o : f32
    linalg.yield %v : f32
  } -> tensor<32xf32>
  // No row for f16: the one for any type.
  // CHECK: xtensor.schedule = {kind = "row-reduction", unroll = 4 : i64, vector = 1 : i64}
  %4 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%h : tensor<64x32xf16>) outs(%hr : tensor<64xf16>) {
  ^bb0(%a: f16, %o: f16):
    %v = arith.addf %a, %o : f16
    linalg.yield %v : f16
  } -> tensor<64xf16>
  // A transposed operand: what is written is contiguous.
  // CHECK: xtensor.schedule = {kind = "elementwise", unroll = 2 : i64, vector = 1 : i64}
  %5 = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x32xf32>) outs(%xt : tensor<32x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<32x64xf32>
  // An argmax has no single combiner.
  // CHECK: xtensor.schedule = {kind = "other", unroll = 1 : i64, vector = 1 : i64}
  %6:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x32xf32>) outs(%r, %g : tensor<64xf32>, tensor<64xi64>) {
  ^bb0(%a: f32, %o: f32, %p: i64):
    %j = linalg.index 1 : index
    %j64 = arith.index_cast %j : index to i64
    %more = arith.cmpf ogt, %a, %o : f32
    %v = arith.select %more, %a, %o : f32
    %q = arith.select %more, %j64, %p : i64
    linalg.yield %v, %q : f32, i64
  } -> (tensor<64xf32>, tensor<64xi64>)
  return %0, %1, %2, %3, %4, %5, %6#0, %6#1 : tensor<64x32xf32>, tensor<64x32xf32>, tensor<64xf32>, tensor<32xf32>, tensor<64xf16>, tensor<32x64xf32>, tensor<64xf32>, tensor<64xi64>
}

// A contraction goes to the library from a certain size on.
// CHECK-LABEL: func.func @contractions
// CHECK: xtensor.schedule = {kind = "contraction", library = "gemm"}
// CHECK: xtensor.schedule = {kind = "contraction", unroll = 1 : i64, vector = 1 : i64}
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
func.func @contractions(%x: tensor<64x32xf32>, %y: tensor<32x16xf32>, %o: tensor<64x16xf32>, %p: tensor<2x3xf32>, %q: tensor<3x4xf32>, %s: tensor<2x4xf32>) -> (tensor<64x16xf32>, tensor<2x4xf32>) {
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<64x32xf32>, tensor<32x16xf32>) outs(%o : tensor<64x16xf32>) {
  ^bb0(%l: f32, %r: f32, %acc: f32):
    %m = arith.mulf %l, %r : f32
    %v = arith.addf %m, %acc : f32
    linalg.yield %v : f32
  } -> tensor<64x16xf32>
  %1 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : tensor<2x3xf32>, tensor<3x4xf32>) outs(%s : tensor<2x4xf32>) {
  ^bb0(%l: f32, %r: f32, %acc: f32):
    %m = arith.mulf %l, %r : f32
    %v = arith.addf %m, %acc : f32
    linalg.yield %v : f32
  } -> tensor<2x4xf32>
  return %0, %1 : tensor<64x16xf32>, tensor<2x4xf32>
}

// Chunks of a parallel loop: 100 vector instructions an iteration, 16384 wanted.
// CHECK-LABEL: func.func @grain
// CHECK: } {xtensor.schedule = {grain = 163 : i64}}
#v = affine_map<(i) -> (i)>
func.func @grain(%x: tensor<1000x100xf32>, %o: tensor<1000x100xf32>) -> tensor<1000x100xf32> {
  %0 = scf.forall (%i) in (1000) shared_outs(%out = %o) -> (tensor<1000x100xf32>) {
    %row = tensor.extract_slice %x[%i, 0] [1, 100] [1, 1] : tensor<1000x100xf32> to tensor<100xf32>
    %place = tensor.extract_slice %out[%i, 0] [1, 100] [1, 1] : tensor<1000x100xf32> to tensor<100xf32>
    %1 = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%row : tensor<100xf32>) outs(%place : tensor<100xf32>) {
    ^bb0(%a: f32, %b: f32):
      %n = arith.negf %a : f32
      linalg.yield %n : f32
    } -> tensor<100xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %out[%i, 0] [1, 100] [1, 1] : tensor<100xf32> into tensor<1000x100xf32>
    }
  }
  return %0 : tensor<1000x100xf32>
}
