// Constants and changes of shape: new views where they suffice, one copy where they do not.
// RUN: xtensor-opt %s --split-input-file --xtensor-to-linalg --xtensor-verify-linalg | FileCheck %s

// Neighbours in memory merge wherever they stand; the new dim comes last by its map.
// CHECK-LABEL: func.func @merge_neighbours
// CHECK: %[[C:.*]] = tensor.collapse_shape %arg0 {{\[}}[0, 1], [2]] : tensor<2x3x4xf32> into tensor<6x4xf32>
// CHECK: linalg.generic {{.*}} ins(%[[C]]
// CHECK: math.exp
// CHECK-NOT: linalg.generic
func.func @merge_neighbours(%x: !xtensor.array<a: 2, b: 3, c: 4, f32>) -> !xtensor.array<c: 4, z: 6, f32> {
  %m = xtensor.merge %x [a, b] into z : !xtensor.array<a: 2, b: 3, c: 4, f32>
  %y = xtensor.exp %m : !xtensor.array<c: 4, z: 6, f32>
  return %y : !xtensor.array<c: 4, z: 6, f32>
}

// -----

// CHECK-LABEL: func.func @merge_others
// CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<2x3xf32>) outs(%{{.*}} : tensor<3x2xf32>)
// CHECK: tensor.collapse_shape %[[P]] {{\[}}[0, 1]]
func.func @merge_others(%x: !xtensor.array<a: 2, b: 3, f32>) -> !xtensor.array<z: 6, f32> {
  %m = xtensor.merge %x [b, a] into z : !xtensor.array<a: 2, b: 3, f32>
  return %m : !xtensor.array<z: 6, f32>
}

// -----

// CHECK-LABEL: func.func @split
// CHECK: %[[N:.*]] = tensor.dim
// CHECK: %[[S:.*]] = tensor.expand_shape %arg0 {{\[}}[0, 1], [2]] output_shape [2, 3, %[[N]]] : tensor<6x?xf32> into tensor<2x3x?xf32>
// CHECK: linalg.generic {{.*}} ins(%[[S]]
func.func @split(%x: !xtensor.array<z: 6, n: ?, f32>) -> !xtensor.array<n: ?, a: 2, b: 3, f32> {
  %s = xtensor.split %x z into [a, b] sizes [2, 3] : !xtensor.array<z: 6, n: ?, f32>
  %y = xtensor.exp %s : !xtensor.array<n: ?, a: 2, b: 3, f32>
  return %y : !xtensor.array<n: ?, a: 2, b: 3, f32>
}

// -----

// A reduction that only the pad reads writes into its place.
// CHECK-LABEL: func.func @pad_reduced
// CHECK: %[[PLACE:.*]] = tensor.extract_slice %{{.*}}[2] [6] [1]
// CHECK-NEXT: %[[START:.*]] = linalg.fill ins(%{{.*}}) outs(%[[PLACE]]
// CHECK-NEXT: %[[SUM:.*]] = linalg.generic {{.*}} outs(%[[START]]
// CHECK: %[[WHOLE:.*]] = tensor.insert_slice %[[SUM]]
// CHECK-NEXT: return %[[WHOLE]]
func.func @pad_reduced(%x: !xtensor.array<a: 6, b: 3, f32>, %v: !xtensor.array<f32>) -> !xtensor.array<a: 8, f32> {
  %s = xtensor.reduce sum %x over [b] : !xtensor.array<a: 6, b: 3, f32>
  %y = xtensor.pad %s with %v [a] low [2] high [0] interior [0] : !xtensor.array<a: 6, f32>, !xtensor.array<f32>
  return %y : !xtensor.array<a: 8, f32>
}

// CHECK-LABEL: func.func @pad
// CHECK: %[[V:.*]] = tensor.extract %arg1[]
// CHECK: %[[F:.*]] = linalg.fill ins(%[[V]] : f32)
// CHECK: %[[S:.*]] = tensor.extract_slice %[[F]][1] [3] [2]
// CHECK: %[[W:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<3xf32>) outs(%[[S]] : tensor<3xf32>)
// CHECK: tensor.insert_slice %[[W]] into %[[F]][1] [3] [2] : tensor<3xf32> into tensor<8xf32>
func.func @pad(%x: !xtensor.array<a: 3, f32>, %v: !xtensor.array<f32>) -> !xtensor.array<a: 8, f32> {
  %y = xtensor.pad %x with %v [a] low [1] high [2] interior [1] : !xtensor.array<a: 3, f32>, !xtensor.array<f32>
  return %y : !xtensor.array<a: 8, f32>
}

// -----

// CHECK-LABEL: func.func @concat
// CHECK: %[[E:.*]] = tensor.empty() : tensor<5xf32>
// CHECK: %[[S:.*]] = tensor.extract_slice %[[E]][0] [2] [1]
// CHECK: linalg.generic {{.*}} ins(%arg0 : tensor<2xf32>) outs(%[[S]] : tensor<2xf32>)
// CHECK: %[[A:.*]] = tensor.insert_slice %{{.*}} into %[[E]][0] [2] [1]
// CHECK: %[[T:.*]] = tensor.extract_slice %[[A]][2] [3] [1]
// CHECK: linalg.generic {{.*}} ins(%arg1 : tensor<3xf32>) outs(%[[T]] : tensor<3xf32>)
// CHECK: tensor.insert_slice %{{.*}} into %[[A]][2] [3] [1]
func.func @concat(%x: !xtensor.array<a: 2, f32>, %y: !xtensor.array<a: 3, f32>) -> !xtensor.array<a: 5, f32> {
  %z = xtensor.concat %x, %y along a : !xtensor.array<a: 2, f32>, !xtensor.array<a: 3, f32>
  return %z : !xtensor.array<a: 5, f32>
}

// -----

// Short rows are written by one op, in the order in which they are returned.
// CHECK: #[[FIRST:.*]] = affine_map<(d0, d1) -> (0, d0)>
// CHECK: #[[SECOND:.*]] = affine_map<(d0, d1) -> (1, d0)>
// CHECK: #[[ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @concat_of_columns
// CHECK: linalg.generic {indexing_maps = [#[[FIRST]], #[[SECOND]], #[[ROW]], #{{.*}}]{{.*}} ins(%arg0, %arg0, %arg1 : tensor<2x50xf32>, tensor<2x50xf32>, tensor<50xf32>) outs(%{{.*}} : tensor<50x3xf32>)
// CHECK: ^bb0(%[[X0:.*]]: f32, %[[X1:.*]]: f32, %[[Y:.*]]: f32, %{{.*}}: f32):
// CHECK: %[[I:.*]] = linalg.index 1
// CHECK: %[[IS1:.*]] = arith.cmpi eq, %[[I]], %c1
// CHECK: %[[REST:.*]] = arith.select %[[IS1]], %[[X1]], %[[Y]]
// CHECK: %[[IS0:.*]] = arith.cmpi eq, %[[I]], %c0
// CHECK: %[[ALL:.*]] = arith.select %[[IS0]], %[[X0]], %[[REST]]
// CHECK: linalg.yield %[[ALL]]
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @concat_of_columns(%x: !xtensor.array<s: 2, a: 50, f32>, %y: !xtensor.array<a: 50, f32>) -> !xtensor.array<a: 50, s: 3, f32> {
  %0 = xtensor.broadcast %y : (!xtensor.array<a: 50, f32>) -> !xtensor.array<s: 1, a: 50, f32>
  %1 = xtensor.concat %x, %0 along s : !xtensor.array<s: 2, a: 50, f32>, !xtensor.array<s: 1, a: 50, f32>
  %2 = xtensor.broadcast %1 : (!xtensor.array<s: 3, a: 50, f32>) -> !xtensor.array<a: 50, s: 3, f32>
  return %2 : !xtensor.array<a: 50, s: 3, f32>
}

// -----

// A concat that another one reads is not stored: all parts are written into the whole, a convolution by its own loop.
// CHECK-LABEL: func.func @concat_of_concat
// CHECK: %[[E:.*]] = tensor.empty() : tensor<3x3xf32>
// CHECK: tensor.extract_slice %[[E]][0, 0] [2, 2] [1, 1]
// CHECK: %[[S:.*]] = tensor.extract_slice %{{.*}}[2, 0] [1, 2] [1, 1]
// CHECK: %[[Z:.*]] = linalg.fill ins(%{{.*}}) outs(%[[S]] : tensor<1x2xf32>)
// CHECK: linalg.generic {{.*}} ins({{.*}}) outs(%[[Z]] : tensor<1x2xf32>)
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[2, 0] [1, 2] [1, 1]
// CHECK: tensor.extract_slice %{{.*}}[0, 2] [3, 1] [1, 1]
// CHECK-NOT: tensor.empty
func.func @concat_of_concat(%x: !xtensor.array<a: 2, b: 2, f32>, %t: !xtensor.array<a: 1, b: 4, f32>,
                            %k: !xtensor.array<w: 3, f32>, %z: !xtensor.array<a: 3, b: 1, f32>)
    -> !xtensor.array<a: 3, b: 3, f32> {
  %w = xtensor.window %t b into w size 3 stride 1 dilation 1 : !xtensor.array<a: 1, b: 4, f32>
  %y = xtensor.contract %w, %k over [w] : !xtensor.array<a: 1, b: 2, w: 3, f32>, !xtensor.array<w: 3, f32>
  %0 = xtensor.concat %x, %y along a : !xtensor.array<a: 2, b: 2, f32>, !xtensor.array<a: 1, b: 2, f32>
  %1 = xtensor.concat %0, %z along b : !xtensor.array<a: 3, b: 2, f32>, !xtensor.array<a: 3, b: 1, f32>
  return %1 : !xtensor.array<a: 3, b: 3, f32>
}

// -----

// Positions are worked out, not stored; larger constants are tensors.
// CHECK-LABEL: func.func @known
// CHECK: %[[C:.*]] = arith.constant dense<[1, 5]> : tensor<2xi64>
// CHECK: linalg.generic {{.*}} ins(%[[C]] : tensor<2xi64>)
// CHECK: %[[I:.*]] = linalg.index 1
// CHECK: arith.addi %[[I]], %{{.*}} : index
// CHECK: arith.muli
// CHECK-NOT: linalg.generic
func.func @known() -> !xtensor.array<a: 2, b: 3, i64> {
  %c = xtensor.constant dense<[1, 5]> : tensor<2xi64> as !xtensor.array<a: 2, i64>
  %i = xtensor.iota : !xtensor.array<b: 4, i64>
  %s = xtensor.slice %i [b] offsets [1] sizes [3] strides [1] : !xtensor.array<b: 4, i64>
  %y = xtensor.mul %c, %s : !xtensor.array<a: 2, i64>, !xtensor.array<b: 3, i64>
  return %y : !xtensor.array<a: 2, b: 3, i64>
}
