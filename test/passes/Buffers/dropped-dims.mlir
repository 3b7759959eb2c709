// A view whose type does not determine which of two unit dims it drops says so by collapse_shape;
// the others stay as they are.
// RUN: xtensor-opt %s --split-input-file --xtensor-bufferize | FileCheck %s

// The unit dim in front stays, and that of the row goes. Their strides are unknown alike.
// CHECK-LABEL: func.func @ambiguous
// CHECK: %[[ALL:.*]] = memref.subview {{.*}} [1, 5, 1, %{{.*}}] {{.*}} to memref<1x5x1x?xf64, {{.*}}>
// CHECK: memref.collapse_shape %[[ALL]] {{\[}}[0], [1, 2], [3]] : {{.*}} into memref<1x5x?xf64, {{.*}}>
func.func @ambiguous(%x: tensor<1x5x3x?xf64>, %row: index, %n: index) -> tensor<1x5x?xf64> {
  %0 = tensor.extract_slice %x[0, 0, %row, 0] [1, 5, 1, %n] [1, 1, 1, 1] : tensor<1x5x3x?xf64> to tensor<1x5x?xf64>
  return %0 : tensor<1x5x?xf64>
}

// -----

// CHECK-LABEL: func.func @determined
// CHECK: memref.subview {{.*}} [1, 5, 1, 7] {{.*}} to memref<1x5x7xf64, {{.*}}>
// CHECK-NOT: memref.collapse_shape
func.func @determined(%x: tensor<1x5x3x7xf64>, %row: index) -> tensor<1x5x7xf64> {
  %0 = tensor.extract_slice %x[0, 0, %row, 0] [1, 5, 1, 7] [1, 1, 1, 1] : tensor<1x5x3x7xf64> to tensor<1x5x7xf64>
  return %0 : tensor<1x5x7xf64>
}

// -----

// CHECK-LABEL: func.func @no_unit_dim_stays
// CHECK: memref.subview {{.*}} [1, 5, 1, %{{.*}}] {{.*}} to memref<5x?xf64, {{.*}}>
// CHECK-NOT: memref.collapse_shape
func.func @no_unit_dim_stays(%x: tensor<1x5x3x?xf64>, %row: index, %n: index) -> tensor<5x?xf64> {
  %0 = tensor.extract_slice %x[0, 0, %row, 0] [1, 5, 1, %n] [1, 1, 1, 1] : tensor<1x5x3x?xf64> to tensor<5x?xf64>
  return %0 : tensor<5x?xf64>
}

// -----

// Upstream has no answer for a stride that memory cannot have.
// CHECK-LABEL: func.func @impossible_strides
// CHECK: memref.subview {{.*}} [-1, 1, 1, 1]
// CHECK: memref.subview {{.*}} [9223372036854775807, 1, 1, 1]
func.func @impossible_strides(%x: tensor<1x5x3x7xf64>, %row: index) -> (tensor<1x5x7xf64>, tensor<1x5x7xf64>) {
  %0 = tensor.extract_slice %x[0, 0, %row, 0] [1, 5, 1, 7] [-1, 1, 1, 1] : tensor<1x5x3x7xf64> to tensor<1x5x7xf64>
  %1 = tensor.extract_slice %x[0, 0, %row, 0] [1, 5, 1, 7] [9223372036854775807, 1, 1, 1] : tensor<1x5x3x7xf64> to tensor<1x5x7xf64>
  return %0, %1 : tensor<1x5x7xf64>, tensor<1x5x7xf64>
}

// -----

// A step changes the stride by which upstream looks for the dim that stays.
// CHECK-LABEL: func.func @step
// CHECK: %[[ALL:.*]] = memref.subview {{.*}} [1, 1] [2, 1] : {{.*}} to memref<1x1xf64, {{.*}}>
// CHECK: memref.collapse_shape %[[ALL]] {{\[}}[0, 1]]
func.func @step(%x: tensor<1x1xf64>) -> tensor<1xf64> {
  %0 = tensor.extract_slice %x[0, 0] [1, 1] [2, 1] : tensor<1x1xf64> to tensor<1xf64>
  return %0 : tensor<1xf64>
}
