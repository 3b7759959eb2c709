// How many elements an iteration has follows from the caches that the module names: four bytes for
// each element, all of the first level. Without a name the defaults hold (32 KiB and 512 KiB).
// RUN: xtensor-opt %s --xtensor-group --split-input-file | FileCheck %s

// CHECK-LABEL: func @default
// CHECK: scf.forall {{.*}} step (8192)
func.func @default(%x: tensor<1048576xf32>) -> tensor<1048576xf32> {
  %empty = tensor.empty() : tensor<1048576xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<1048576xf32>) outs(%empty : tensor<1048576xf32>) {
  ^bb0(%a: f32, %out: f32):
    %b = arith.addf %a, %a : f32
    linalg.yield %b : f32
  } -> tensor<1048576xf32>
  return %y : tensor<1048576xf32>
}

// -----

module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" =
    #dlti.target_device_spec<"L1_cache_size_in_bytes" = 8192 : i64>>} {
  // CHECK-LABEL: func @small
  // CHECK: scf.forall {{.*}} step (2048)
  func.func @small(%x: tensor<1048576xf32>) -> tensor<1048576xf32> {
    %empty = tensor.empty() : tensor<1048576xf32>
    %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                         iterator_types = ["parallel"]}
        ins(%x : tensor<1048576xf32>) outs(%empty : tensor<1048576xf32>) {
    ^bb0(%a: f32, %out: f32):
      %b = arith.addf %a, %a : f32
      linalg.yield %b : f32
    } -> tensor<1048576xf32>
    return %y : tensor<1048576xf32>
  }
}
