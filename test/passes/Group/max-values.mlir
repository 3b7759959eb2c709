// RUN: xtensor-opt %s --xtensor-group | FileCheck %s --check-prefix=ANY
// RUN: xtensor-opt %s --xtensor-group=max-values=4 | FileCheck %s --check-prefix=FOUR

// Three results that read one large value are one group, unless it may name but four tensors: any
// two of them read three and make two, and each stays alone.

#id = affine_map<(d0, d1) -> (d0, d1)>
// ANY-LABEL: func.func @siblings
// ANY-COUNT-1: scf.forall (
// ANY-NOT: scf.forall (
// FOUR-LABEL: func.func @siblings
// FOUR-COUNT-3: scf.forall (
// FOUR-NOT: scf.forall (
func.func @siblings(%x: tensor<256x256xf32>, %a: tensor<256x256xf32>, %b: tensor<256x256xf32>,
                    %c: tensor<256x256xf32>)
    -> (tensor<256x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>) {
  %e = tensor.empty() : tensor<256x256xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %a : tensor<256x256xf32>, tensor<256x256xf32>) outs(%e : tensor<256x256xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %s = arith.addf %u, %v : f32
    linalg.yield %s : f32
  } -> tensor<256x256xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<256x256xf32>, tensor<256x256xf32>) outs(%e : tensor<256x256xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %s = arith.mulf %u, %v : f32
    linalg.yield %s : f32
  } -> tensor<256x256xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %c : tensor<256x256xf32>, tensor<256x256xf32>) outs(%e : tensor<256x256xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %s = arith.subf %u, %v : f32
    linalg.yield %s : f32
  } -> tensor<256x256xf32>
  return %0, %1, %2 : tensor<256x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>
}
