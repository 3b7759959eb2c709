// RUN: xtensor-opt %s --xtensor-schedule | FileCheck %s

// Chunks of a parallel loop: 100 vector instructions an iteration, 16384 wanted.
// CHECK-LABEL: func.func @grain
// CHECK: } {xtensor.grain = 163 : i64}
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
