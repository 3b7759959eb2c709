// Names become axes: operands are read through maps; slices, renames, new orders and broadcasts are
// part of the map, known numbers of the body.
// RUN: xtensor-opt %s --split-input-file --xtensor-to-linalg --xtensor-verify-linalg | FileCheck %s

// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[ODD:.*]] = affine_map<(d0, d1) -> (d1 * 2 + 1)>
// CHECK-LABEL: func.func @slice_is_a_map
// CHECK-SAME: (%[[A:.*]]: tensor<3x4xf32> {bufferization.writable = false, xtensor.type = !xtensor.array<j: 3, i: 4, f32>}, %[[B:.*]]: tensor<9xf32>
// CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<3x4xf32>
// CHECK-NEXT: %[[R:.*]] = linalg.generic {indexing_maps = [#[[ID]], #[[ODD]], #[[ID]]], iterator_types = ["parallel", "parallel"]} ins(%[[A]], %[[B]]
// CHECK: arith.mulf
// CHECK-NOT: linalg.generic
// CHECK: return %[[R]]
func.func @slice_is_a_map(%a: !xtensor.array<j: 3, i: 4, f32>, %b: !xtensor.array<i: 9, f32>)
    -> !xtensor.array<j: 3, i: 4, f32> {
  %1 = xtensor.slice %b [i] offsets [1] sizes [4] strides [2] : !xtensor.array<i: 9, f32>
  %2 = xtensor.mul %a, %1 : !xtensor.array<j: 3, i: 4, f32>, !xtensor.array<i: 4, f32>
  return %2 : !xtensor.array<j: 3, i: 4, f32>
}

// -----

// CHECK-DAG: #[[T:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[BACK:.*]] = affine_map<(d0, d1) -> (-d0 + 2, 0)>
// CHECK-LABEL: func.func @views_compose
// CHECK: linalg.generic {indexing_maps = [#[[T]], #[[BACK]], #{{.*}}]
// CHECK-NOT: linalg.generic
func.func @views_compose(%x: !xtensor.array<a: 4, b: 3, f32>, %y: !xtensor.array<c: 3, u: 1, f32>)
    -> !xtensor.array<i: 3, j: 4, f32> {
  %1 = xtensor.broadcast %x : (!xtensor.array<a: 4, b: 3, f32>) -> !xtensor.array<b: 3, a: 4, f32>
  %2 = xtensor.rename %1 [a, b] to [j, i] : !xtensor.array<b: 3, a: 4, f32>
  %3 = xtensor.squeeze %y [u] : !xtensor.array<c: 3, u: 1, f32>
  %4 = xtensor.reverse %3 [c] : !xtensor.array<c: 3, f32>
  %5 = xtensor.rename %4 [c] to [i] : !xtensor.array<c: 3, f32>
  %6 = xtensor.add %2, %5 : !xtensor.array<i: 3, j: 4, f32>, !xtensor.array<i: 3, f32>
  return %6 : !xtensor.array<i: 3, j: 4, f32>
}

// -----

// Numbers known to the compiler are worked out or stand in the body.
// CHECK-LABEL: func.func @numbers
// CHECK-NOT: linalg.fill
// CHECK: linalg.generic
// CHECK: arith.constant 6.000000e+00 : f32
// CHECK-NOT: linalg.generic
func.func @numbers(%x: !xtensor.array<i: 4, f32>) -> !xtensor.array<i: 4, f32> {
  %two = xtensor.constant dense<2.0> : tensor<f32> as !xtensor.array<f32>
  %three = xtensor.constant dense<3.0> : tensor<4xf32> as !xtensor.array<i: 4, f32>
  %six = xtensor.mul %two, %three : !xtensor.array<f32>, !xtensor.array<i: 4, f32>
  %y = xtensor.mul %x, %six : !xtensor.array<i: 4, f32>, !xtensor.array<i: 4, f32>
  return %y : !xtensor.array<i: 4, f32>
}

// -----

// bool is i8 in memory and i1 in bodies, bfloat16 is f32 in bodies, unsigned is signless.
// CHECK-LABEL: func.func @element_types
// CHECK-SAME: tensor<4xi8>
// CHECK-SAME: tensor<4xi8>
// CHECK-SAME: tensor<4xbf16>
// CHECK: ^bb0(%[[X:.*]]: bf16, %{{.*}}: bf16):
// CHECK-NEXT: %[[W:.*]] = arith.extf %[[X]] : bf16 to f32
// CHECK-NEXT: %[[L:.*]] = math.log %[[W]] : f32
// CHECK-NEXT: arith.truncf %[[L]] : f32 to bf16
// CHECK: arith.cmpi ult, {{.*}} : i8
// CHECK-NEXT: arith.extui {{.*}} : i1 to i8
// CHECK: ^bb0(%[[P:.*]]: i8, %[[Q:.*]]: i8, %{{.*}}: i8):
// CHECK: arith.cmpi ne, %[[P]]
// CHECK: arith.cmpi ne, %[[Q]]
// CHECK: arith.andi {{.*}} : i1
func.func @element_types(%m: !xtensor.array<i: 4, i1>, %u: !xtensor.array<i: 4, ui8>,
                         %h: !xtensor.array<i: 4, bf16>)
    -> (!xtensor.array<i: 4, i1>, !xtensor.array<i: 4, bf16>) {
  %0 = xtensor.log %h : !xtensor.array<i: 4, bf16>
  %c = xtensor.constant dense<7> : tensor<ui8> as !xtensor.array<ui8>
  %1 = xtensor.compare lt %u, %c : !xtensor.array<i: 4, ui8>, !xtensor.array<ui8>
  %2 = xtensor.and %1, %m : !xtensor.array<i: 4, i1>, !xtensor.array<i: 4, i1>
  return %2, %0 : !xtensor.array<i: 4, i1>, !xtensor.array<i: 4, bf16>
}

// -----

// One size per name, read from the argument that has it.
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: (%[[X:.*]]: tensor<?x3xf32>
// CHECK: %[[N:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK: tensor.empty(%[[N]]) : tensor<?x3xf32>
// CHECK: %[[I:.*]] = arith.index_cast %[[N]] : index to i64
// CHECK: %[[F:.*]] = arith.sitofp %[[I]] : i64 to f32
// CHECK: linalg.generic
// CHECK: arith.divf %{{.*}}, %[[F]]
func.func @dynamic(%x: !xtensor.array<n: ?, i: 3, f32>) -> !xtensor.array<n: ?, i: 3, f32> {
  %0 = xtensor.exp %x : !xtensor.array<n: ?, i: 3, f32>
  %n = xtensor.size %0 n : !xtensor.array<n: ?, i: 3, f32>
  %f = xtensor.cast %n to f32 : !xtensor.array<i64>
  %1 = xtensor.div %0, %f : !xtensor.array<n: ?, i: 3, f32>, !xtensor.array<f32>
  return %1 : !xtensor.array<n: ?, i: 3, f32>
}

// -----

// Factors by column first: the type has the columns first, but the product is stored as the array
// is, and only what must have the order of the type is transposed.
// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[COLUMN:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @factors_of_columns
// CHECK: tensor.empty() : tensor<8x4xf32>
// CHECK: linalg.generic {indexing_maps = [#[[COLUMN]], #[[ID]], #[[ID]]]
// CHECK: tensor.collapse_shape {{.*}} {{\[}}[0, 1]] : tensor<8x4xf32> into tensor<32xf32>
// CHECK-NOT: linalg.generic
func.func @factors_of_columns(%s: !xtensor.array<c: 4, f32>, %x: !xtensor.array<r: 8, c: 4, f32>)
    -> !xtensor.array<rc: 32, f32> {
  %1 = xtensor.mul %s, %x : !xtensor.array<c: 4, f32>, !xtensor.array<r: 8, c: 4, f32>
  %2 = xtensor.merge %1 [r, c] into rc : !xtensor.array<c: 4, r: 8, f32>
  return %2 : !xtensor.array<rc: 32, f32>
}
