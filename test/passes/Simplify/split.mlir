// Splits and merges move past elementwise ops, to where they are views of what is stored.
// RUN: xtensor-opt %s --xtensor-simplify | FileCheck %s

!x = !xtensor.array<a: 4, b: 6, f32>
!w = !xtensor.array<a: 4, f32>
!s = !xtensor.array<a: 4, o: 2, b: 3, f32>

// CHECK-LABEL: func.func @of_a_product
// CHECK: %[[X:.*]] = xtensor.split %arg0 b into [o, b] sizes [2, 3]
// CHECK: %[[P:.*]] = xtensor.mul %[[X]], %arg1 : <a: 4, o: 2, b: 3, f32>, <a: 4, f32>
// CHECK: %[[Y:.*]] = xtensor.tanh %[[P]]
// CHECK: return %[[Y]]
func.func @of_a_product(%x: !x, %w: !w) -> !s {
  %0 = xtensor.mul %x, %w : !x, !w
  %1 = xtensor.tanh %0 : !x
  %2 = xtensor.split %1 b into [o, b] sizes [2, 3] : !x
  return %2 : !s
}

// Who else reads the product would make it twice.
// CHECK-LABEL: func.func @read_as_it_is
// CHECK: %[[P:.*]] = xtensor.tanh %arg0
// CHECK: xtensor.split %[[P]]
func.func @read_as_it_is(%x: !x) -> (!x, !s) {
  %0 = xtensor.tanh %x : !x
  %1 = xtensor.split %0 b into [o, b] sizes [2, 3] : !x
  return %0, %1 : !x, !s
}

// The new dims come last; in an elementwise op they would not.
// CHECK-LABEL: func.func @in_another_order
// CHECK: %[[P:.*]] = xtensor.mul %arg0, %arg1
// CHECK: xtensor.split %[[P]] a
func.func @in_another_order(%x: !x, %w: !xtensor.array<c: 2, f32>) -> !xtensor.array<b: 6, c: 2, o: 2, a: 2, f32> {
  %0 = xtensor.mul %x, %w : !x, !xtensor.array<c: 2, f32>
  %1 = xtensor.split %0 a into [o, a] sizes [2, 2] : !xtensor.array<a: 4, b: 6, c: 2, f32>
  return %1 : !xtensor.array<b: 6, c: 2, o: 2, a: 2, f32>
}

// CHECK-LABEL: func.func @of_a_merged
// CHECK: %[[X:.*]] = xtensor.split %arg1 b into [o, b] sizes [2, 3]
// CHECK: %[[P:.*]] = xtensor.mul %arg0, %[[X]] : <a: 4, o: 2, b: 3, f32>, <a: 4, o: 2, b: 3, f32>
// CHECK: %[[Y:.*]] = xtensor.merge %[[P]] [o, b] into b
// CHECK: return %[[Y]]
func.func @of_a_merged(%s: !s, %x: !x) -> !x {
  %0 = xtensor.merge %s [o, b] into b : !s
  %1 = xtensor.mul %0, %x : !x, !x
  return %1 : !x
}

// A number moves before all that only moves: there is one loop for both products.
// CHECK-LABEL: func.func @number_with_reordered
// CHECK: %[[P:.*]] = xtensor.mul %arg0, %arg1
// CHECK: %[[Q:.*]] = xtensor.mul %[[P]], %arg2
// CHECK: %[[B:.*]] = xtensor.broadcast %[[Q]]
// CHECK: %[[M:.*]] = xtensor.merge %[[B]] [o, b] into b
// CHECK: %[[Y:.*]] = xtensor.broadcast %[[M]]
// CHECK: return %[[Y]]
func.func @number_with_reordered(%s: !xtensor.array<o: 2, b: 3, a: 4, f32>, %t: !xtensor.array<o: 2, b: 3, a: 4, f32>,
                                 %n: !xtensor.array<f32>) -> !xtensor.array<b: 6, a: 4, f32> {
  %0 = xtensor.mul %s, %t : !xtensor.array<o: 2, b: 3, a: 4, f32>, !xtensor.array<o: 2, b: 3, a: 4, f32>
  %1 = xtensor.broadcast %0 : (!xtensor.array<o: 2, b: 3, a: 4, f32>) -> !s
  %2 = xtensor.merge %1 [o, b] into b : !s
  %3 = xtensor.broadcast %2 : (!x) -> !xtensor.array<b: 6, a: 4, f32>
  %4 = xtensor.mul %3, %n : !xtensor.array<b: 6, a: 4, f32>, !xtensor.array<f32>
  return %4 : !xtensor.array<b: 6, a: 4, f32>
}

// CHECK-LABEL: func.func @one_undoes_the_other
// CHECK-NEXT: %[[R:.*]] = xtensor.rename %arg0 [o, b] to [p, q]
// CHECK-NEXT: return %[[R]]
func.func @one_undoes_the_other(%s: !s) -> !xtensor.array<a: 4, p: 2, q: 3, f32> {
  %0 = xtensor.merge %s [o, b] into b : !s
  %1 = xtensor.split %0 b into [p, q] sizes [2, 3] : !x
  return %1 : !xtensor.array<a: 4, p: 2, q: 3, f32>
}

// Other sizes are another array.
// CHECK-LABEL: func.func @of_other_sizes
// CHECK: xtensor.merge
// CHECK: xtensor.split
func.func @of_other_sizes(%s: !s) -> !xtensor.array<a: 4, p: 3, q: 2, f32> {
  %0 = xtensor.merge %s [o, b] into b : !s
  %1 = xtensor.split %0 b into [p, q] sizes [3, 2] : !x
  return %1 : !xtensor.array<a: 4, p: 3, q: 2, f32>
}
