// RUN: xtensor-opt %s --xtensor-bufferize="readers=2" | FileCheck %s

// An argument of many readers is one buffer for all of them, copied where it is written.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: memref<8xf32>)
// CHECK-NOT: bufferization
// CHECK: %[[COPY:.*]] = memref.alloc
// CHECK: memref.copy %[[X]], %[[COPY]]
// CHECK: linalg.generic {{.*}} ins(%[[X]] : {{.*}}) outs(%[[COPY]]
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[X]] :
// CHECK-NOT: memref.copy
#id = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %z = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %x : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  return %y, %z : tensor<8xf32>, tensor<8xf32>
}
