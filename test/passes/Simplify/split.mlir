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

// What several ops read that are all split moves on once the last of them is: no op stays behind, however deep they are.
// CHECK-LABEL: func.func @read_by_ops_that_are_split
// CHECK-NEXT: %[[X:.*]] = xtensor.split %arg0 b into [o, b] sizes [2, 3]
// CHECK-NOT: xtensor.split
// CHECK-COUNT-12: xtensor.mul
// CHECK-NOT: xtensor.split
// CHECK: return
func.func @read_by_ops_that_are_split(%x: !x) -> !s {
  %s0 = xtensor.sin %x : !x
  %0 = xtensor.mul %s0, %x : !x, !x
  %s1 = xtensor.sin %0 : !x
  %1 = xtensor.mul %s1, %0 : !x, !x
  %s2 = xtensor.sin %1 : !x
  %2 = xtensor.mul %s2, %1 : !x, !x
  %s3 = xtensor.sin %2 : !x
  %3 = xtensor.mul %s3, %2 : !x, !x
  %s4 = xtensor.sin %3 : !x
  %4 = xtensor.mul %s4, %3 : !x, !x
  %s5 = xtensor.sin %4 : !x
  %5 = xtensor.mul %s5, %4 : !x, !x
  %s6 = xtensor.sin %5 : !x
  %6 = xtensor.mul %s6, %5 : !x, !x
  %s7 = xtensor.sin %6 : !x
  %7 = xtensor.mul %s7, %6 : !x, !x
  %s8 = xtensor.sin %7 : !x
  %8 = xtensor.mul %s8, %7 : !x, !x
  %s9 = xtensor.sin %8 : !x
  %9 = xtensor.mul %s9, %8 : !x, !x
  %s10 = xtensor.sin %9 : !x
  %10 = xtensor.mul %s10, %9 : !x, !x
  %s11 = xtensor.sin %10 : !x
  %11 = xtensor.mul %s11, %10 : !x, !x
  %y = xtensor.split %11 b into [o, b] sizes [2, 3] : !x
  return %y : !s
}

// The new dims come last. The product runs in the order in which its operand is stored.
// CHECK-LABEL: func.func @in_another_order
// CHECK: %[[X:.*]] = xtensor.split %arg0 a into [o, a] sizes [2, 2]
// CHECK: %[[V:.*]] = xtensor.broadcast %[[X]] : (!xtensor.array<b: 6, o: 2, a: 2, f32>) -> !xtensor.array<o: 2, a: 2, b: 6, f32>
// CHECK: %[[P:.*]] = xtensor.mul %[[V]], %arg1 : <o: 2, a: 2, b: 6, f32>, <c: 2, f32>
// CHECK: %[[Y:.*]] = xtensor.broadcast %[[P]]
// CHECK: return %[[Y]]
func.func @in_another_order(%x: !x, %w: !xtensor.array<c: 2, f32>) -> !xtensor.array<b: 6, c: 2, o: 2, a: 2, f32> {
  %0 = xtensor.mul %x, %w : !x, !xtensor.array<c: 2, f32>
  %1 = xtensor.split %0 a into [o, a] sizes [2, 2] : !xtensor.array<a: 4, b: 6, c: 2, f32>
  return %1 : !xtensor.array<b: 6, c: 2, o: 2, a: 2, f32>
}

// The windows of both dims of an image: each split gets to the argument, past the order that the other one needs.
// CHECK-LABEL: func.func @of_both_dims
// CHECK-NEXT: %[[A:.*]] = xtensor.split %arg0 a into [a, p] sizes [2, 2]
// CHECK-NEXT: %[[B:.*]] = xtensor.split %[[A]] b into [b, q] sizes [3, 2]
// CHECK-NEXT: %[[V:.*]] = xtensor.broadcast %[[B]] {{.*}} -> !xtensor.array<a: 2, p: 2, b: 3, q: 2, c: 2, f32>
// CHECK-NEXT: %[[T:.*]] = xtensor.tanh %[[V]]
// CHECK-NEXT: %[[W:.*]] = xtensor.broadcast %[[T]]
// CHECK-NEXT: return %[[W]]
func.func @of_both_dims(%x: !xtensor.array<a: 4, b: 6, c: 2, f32>) -> !xtensor.array<a: 2, b: 3, c: 2, p: 2, q: 2, f32> {
  %0 = xtensor.tanh %x : !xtensor.array<a: 4, b: 6, c: 2, f32>
  %1 = xtensor.split %0 a into [a, p] sizes [2, 2] : !xtensor.array<a: 4, b: 6, c: 2, f32>
  %2 = xtensor.broadcast %1 : (!xtensor.array<b: 6, c: 2, a: 2, p: 2, f32>) -> !xtensor.array<a: 2, b: 6, c: 2, p: 2, f32>
  %3 = xtensor.split %2 b into [b, q] sizes [3, 2] : !xtensor.array<a: 2, b: 6, c: 2, p: 2, f32>
  %4 = xtensor.broadcast %3 : (!xtensor.array<a: 2, c: 2, p: 2, b: 3, q: 2, f32>) -> !xtensor.array<a: 2, b: 3, c: 2, p: 2, q: 2, f32>
  return %4 : !xtensor.array<a: 2, b: 3, c: 2, p: 2, q: 2, f32>
}

// A merge of dims that are neighbours copies nothing, so it goes before the new order.
// CHECK-LABEL: func.func @merge_of_reordered
// CHECK-NEXT: %[[M:.*]] = xtensor.merge %arg0 [o, b] into b
// CHECK-NEXT: %[[Y:.*]] = xtensor.broadcast %[[M]] : (!xtensor.array<c: 2, a: 4, b: 6, f32>) -> !xtensor.array<a: 4, c: 2, b: 6, f32>
// CHECK-NEXT: return %[[Y]]
func.func @merge_of_reordered(%x: !xtensor.array<o: 2, b: 3, c: 2, a: 4, f32>) -> !xtensor.array<a: 4, c: 2, b: 6, f32> {
  %0 = xtensor.broadcast %x : (!xtensor.array<o: 2, b: 3, c: 2, a: 4, f32>) -> !xtensor.array<a: 4, c: 2, o: 2, b: 3, f32>
  %1 = xtensor.merge %0 [o, b] into b : !xtensor.array<a: 4, c: 2, o: 2, b: 3, f32>
  return %1 : !xtensor.array<a: 4, c: 2, b: 6, f32>
}

// What is merged has to be moved: to where the result has it.
// CHECK-LABEL: func.func @reordered_merge
// CHECK-NEXT: %[[V:.*]] = xtensor.broadcast %arg0 : (!xtensor.array<o: 2, a: 4, b: 3, f32>) -> !xtensor.array<o: 2, b: 3, a: 4, f32>
// CHECK-NEXT: %[[M:.*]] = xtensor.merge %[[V]] [o, b] into b
// CHECK-NEXT: %[[Y:.*]] = xtensor.broadcast %[[M]]
// CHECK-NEXT: return %[[Y]]
func.func @reordered_merge(%x: !xtensor.array<o: 2, a: 4, b: 3, f32>) -> !xtensor.array<b: 6, a: 4, f32> {
  %0 = xtensor.merge %x [o, b] into b : !xtensor.array<o: 2, a: 4, b: 3, f32>
  %1 = xtensor.broadcast %0 : (!x) -> !xtensor.array<b: 6, a: 4, f32>
  return %1 : !xtensor.array<b: 6, a: 4, f32>
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
// CHECK: %[[M:.*]] = xtensor.merge %[[Q]] [o, b] into b
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
