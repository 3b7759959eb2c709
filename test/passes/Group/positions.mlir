// RUN: xtensor-opt %s --xtensor-group | FileCheck %s
// RUN: xtensor-opt %s --xtensor-group=alone=false | FileCheck %s --check-prefix=DEVICE

// Each row is read at the same positions. The op that makes these does not join: blocks of columns would read a part
// of each row, from where it lies, and come back to it after all other rows.
// CHECK-LABEL: func.func @main
// CHECK: %[[AT:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<10000xi32>)
// CHECK: scf.forall (%[[I:.*]], %{{.*}}) = (0, 0) to (64, 10000)
// CHECK: tensor.extract_slice %[[AT]]
// CHECK: tensor.extract %arg0
// CHECK: scf.forall.in_parallel
// CHECK: return
// On a device, one kernel does both.
// DEVICE: scf.forall
// DEVICE: arith.minui
// DEVICE: tensor.extract %arg0
// DEVICE: scf.forall.in_parallel
func.func @main(%x: tensor<64x16384xf32>, %i: tensor<10000xi32>) -> tensor<64x10000xf32> {
  %last = arith.constant 16383 : i32
  %e = tensor.empty() : tensor<10000xi32>
  %at = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> (k)>], iterator_types = ["parallel"]} ins(%i : tensor<10000xi32>) outs(%e : tensor<10000xi32>) {
  ^bb0(%p: i32, %o: i32):
    %0 = arith.minui %p, %last : i32
    linalg.yield %0 : i32
  } -> tensor<10000xi32>
  %f = tensor.empty() : tensor<64x10000xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(r, k) -> (k)>, affine_map<(r, k) -> (r, k)>], iterator_types = ["parallel", "parallel"]} ins(%at : tensor<10000xi32>) outs(%f : tensor<64x10000xf32>) {
  ^bb0(%p: i32, %o: f32):
    %r = linalg.index 0 : index
    %j = arith.index_cast %p : i32 to index
    %0 = tensor.extract %x[%r, %j] : tensor<64x16384xf32>
    linalg.yield %0 : f32
  } -> tensor<64x10000xf32>
  return %y : tensor<64x10000xf32>
}
