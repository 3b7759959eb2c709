// The outs of a routine's call are where the results are wanted: no buffer beside them, no copy.
// RUN: xtensor-opt %s --split-input-file --xtensor-bufferize --xtensor-out-params | FileCheck %s

// A result, and a part of a result.
// CHECK-LABEL: func.func @in_place(
// CHECK-SAME: %[[A:.*]]: memref<2x3xf32>, %[[L:.*]]: memref<2x3xf32>, %[[BOTH:.*]]: memref<4x3xf32>)
// CHECK-NOT: memref.alloc
// CHECK: xtensor.library "xt_name" ins(%[[A]] : memref<2x3xf32>) outs(%[[L]] : memref<2x3xf32>)
// CHECK-SAME: {axes = [array<i64: 1, 0>, array<i64: 1, 0>], options = array<i64: 7>}
// CHECK: %[[PART:.*]] = memref.subview %[[BOTH]][2, 0] [2, 3] [1, 1]
// CHECK: xtensor.library "xt_name" ins(%[[L]] : memref<2x3xf32>) outs(%[[PART]] :
// CHECK: return
func.func @in_place(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<4x3xf32>) {
  %e = tensor.empty() : tensor<2x3xf32>
  %l = xtensor.library "xt_name" ins(%a : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>)
      {axes = [array<i64: 1, 0>, array<i64: 1, 0>], options = array<i64: 7>} -> tensor<2x3xf32>
  %both = tensor.empty() : tensor<4x3xf32>
  %f = tensor.empty() : tensor<2x3xf32>
  %m = xtensor.library "xt_name" ins(%l : tensor<2x3xf32>) outs(%f : tensor<2x3xf32>) -> tensor<2x3xf32>
  %0 = tensor.insert_slice %m into %both[2, 0] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<4x3xf32>
  %1 = tensor.insert_slice %a into %0[0, 0] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<4x3xf32>
  return %l, %1 : tensor<2x3xf32>, tensor<4x3xf32>
}

// -----

// The caller's array is never written: an update of it works on a copy.
// CHECK-LABEL: func.func @update(
// CHECK-SAME: %[[A:.*]]: memref<?x3xf32>, %[[OUT:.*]]: memref<?x3xf32>)
// CHECK: %[[COPY:.*]] = memref.reinterpret_cast %[[OUT]]
// CHECK: memref.copy %[[A]], %[[COPY]]
// CHECK: xtensor.library "xt_name" outs(%[[COPY]] : memref<?x3xf32>)
func.func @update(%a: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %r = xtensor.library "xt_name" outs(%a : tensor<?x3xf32>) -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}

// -----

// Strides are no reason to copy, unless the routine says so.
// CHECK-LABEL: func.func @contiguous(
// CHECK-SAME: %[[A:.*]]: memref<4x6xf32>
// CHECK: %[[SLICE:.*]] = memref.subview %[[A]][0, 0] [4, 3] [1, 2]
// CHECK: xtensor.library "xt_name" ins(%[[SLICE]] :
// CHECK: %[[COPY:.*]] = memref.alloc() : memref<4x3xf32>
// CHECK: memref.copy %[[SLICE]], %[[COPY]]
// CHECK: xtensor.library "xt_name" ins(%[[COPY]] : memref<4x3xf32>) {{.*}} {contiguous}
func.func @contiguous(%a: tensor<4x6xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>) {
  %s = tensor.extract_slice %a[0, 0] [4, 3] [1, 2] : tensor<4x6xf32> to tensor<4x3xf32>
  %e = tensor.empty() : tensor<4x3xf32>
  %f = tensor.empty() : tensor<4x3xf32>
  %0 = xtensor.library "xt_name" ins(%s : tensor<4x3xf32>) outs(%e : tensor<4x3xf32>) -> tensor<4x3xf32>
  %1 = xtensor.library "xt_name" ins(%s : tensor<4x3xf32>) outs(%f : tensor<4x3xf32>) {contiguous} -> tensor<4x3xf32>
  return %0, %1 : tensor<4x3xf32>, tensor<4x3xf32>
}
