// RUN: xtensor-opt %s --xtensor-bufferize --xtensor-out-params | FileCheck %s

// A result is computed in the caller's buffer. What is returned twice, or is an argument, is copied.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: memref<8xf32>, %[[Y:.*]]: memref<8xf32>, %[[AGAIN:.*]]: memref<8xf32>, %[[SAME:.*]]: memref<8xf32>)
// CHECK-NOT: memref.alloc
// CHECK: linalg.generic {{.*}} ins(%[[X]] : memref<8xf32>) outs(%[[Y]] : memref<8xf32>)
// CHECK: memref.copy %[[Y]], %[[AGAIN]]
// CHECK: memref.copy %[[X]], %[[SAME]]
// CHECK-NEXT: return{{$}}
#id = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  return %y, %y, %x : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// An update of an argument works on the out parameter, never on the caller's input.
// CHECK-LABEL: func.func @update
// CHECK-SAME: (%[[X:.*]]: memref<8xf32>, %[[V:.*]]: memref<2xf32>, %[[OUT:.*]]: memref<8xf32>)
// CHECK: memref.copy %[[X]], %[[OUT]]
// CHECK: %[[PART:.*]] = memref.subview %[[OUT]][3] [2] [1]
// CHECK: memref.copy %[[V]], %[[PART]]
func.func @update(%x: tensor<8xf32>, %v: tensor<2xf32>) -> tensor<8xf32> {
  %r = tensor.insert_slice %v into %x[3] [2] [1] : tensor<2xf32> into tensor<8xf32>
  return %r : tensor<8xf32>
}
