// What is computed of arrays that are padded with zeros becomes what is there, part by part, one after another.
// RUN: xtensor-opt %s --xtensor-simplify | FileCheck %s

!x = !xtensor.array<a: 4, b: 3, f32>
!y = !xtensor.array<a: 4, b: 6, f32>
!f = !xtensor.array<f32>

// CHECK-LABEL: func.func @side_by_side
// CHECK-NEXT: %[[Y:.*]] = xtensor.concat %arg1, %arg0 along b
// CHECK-NEXT: return %[[Y]]
func.func @side_by_side(%p: !x, %q: !x) -> !y {
  %zero = xtensor.constant dense<0.0> : tensor<f32> as <f32>
  %0 = xtensor.pad %p with %zero [b] low [3] high [0] interior [0] : !x, !f
  %1 = xtensor.pad %q with %zero [b] low [0] high [3] interior [0] : !x, !f
  %2 = xtensor.add %0, %1 : !y, !y
  return %2 : !y
}

// What overlaps is added in the order in which it was; where nothing is there are zeros, and what is not padded goes along.
// CHECK-LABEL: func.func @overlapping
// CHECK-DAG: %[[W0:.*]] = xtensor.slice %arg2 [b] offsets [0] sizes [1]
// CHECK-DAG: %[[W1:.*]] = xtensor.slice %arg2 [b] offsets [1] sizes [1]
// CHECK-DAG: %[[P0:.*]] = xtensor.slice %arg0 [b] offsets [0] sizes [1]
// CHECK-DAG: %[[S1:.*]] = xtensor.add %[[W1]], %[[P0]]
// CHECK-DAG: %[[W2:.*]] = xtensor.slice %arg2 [b] offsets [2] sizes [2]
// CHECK-DAG: %[[P1:.*]] = xtensor.slice %arg0 [b] offsets [1] sizes [2]
// CHECK-DAG: %[[Q0:.*]] = xtensor.slice %arg1 [b] offsets [0] sizes [2]
// CHECK-DAG: %[[S2:.*]] = xtensor.add %[[W2]], %[[P1]]
// CHECK-DAG: %[[T2:.*]] = xtensor.add %[[S2]], %[[Q0]]
// CHECK-DAG: %[[W4:.*]] = xtensor.slice %arg2 [b] offsets [4] sizes [1]
// CHECK-DAG: %[[Q2:.*]] = xtensor.slice %arg1 [b] offsets [2] sizes [1]
// CHECK-DAG: %[[T4:.*]] = xtensor.add %[[W4]], %[[Q2]]
// CHECK-DAG: %[[W5:.*]] = xtensor.slice %arg2 [b] offsets [5] sizes [1]
// CHECK: xtensor.concat %[[W0]], %[[S1]], %[[T2]], %[[T4]], %[[W5]] along b
func.func @overlapping(%p: !x, %q: !x, %w: !y) -> !y {
  %zero = xtensor.constant dense<0.0> : tensor<f32> as <f32>
  %0 = xtensor.pad %p with %zero [b] low [1] high [2] interior [0] : !x, !f
  %1 = xtensor.pad %q with %zero [b] low [2] high [1] interior [0] : !x, !f
  %2 = xtensor.add %w, %0 : !y, !y
  %3 = xtensor.add %2, %1 : !y, !y
  return %3 : !y
}

!one = !xtensor.array<a: 4, b: 1, f32>

// Differences of neighbours: a sign that is changed is taken into the sum.
// CHECK-LABEL: func.func @gaps_and_signs
// CHECK-DAG: %[[N:.*]] = xtensor.neg %arg0
// CHECK-DAG: %[[Z:.*]] = xtensor.broadcast {{.*}} -> !xtensor.array<a: 4, b: 2, f32>
// CHECK-DAG: %[[D:.*]] = xtensor.sub %arg1, %arg0
// CHECK: xtensor.concat %[[N]], %[[Z]], %[[D]], %[[Z]] along b
func.func @gaps_and_signs(%p: !one, %q: !one) -> !y {
  %zero = xtensor.constant dense<0.0> : tensor<f32> as <f32>
  %n = xtensor.neg %p : !one
  %0 = xtensor.pad %n with %zero [b] low [0] high [5] interior [0] : !one, !f
  %1 = xtensor.pad %n with %zero [b] low [3] high [2] interior [0] : !one, !f
  %2 = xtensor.pad %q with %zero [b] low [3] high [2] interior [0] : !one, !f
  %3 = xtensor.add %1, %2 : !y, !y
  %4 = xtensor.add %0, %3 : !y, !y
  return %4 : !y
}

!c = !xtensor.array<a: 2, b: 3, f32>

// One dim after the other: corners of a square.
// CHECK-LABEL: func.func @two_dims
// CHECK-DAG: %[[UP:.*]] = xtensor.concat %arg0, %arg1 along b
// CHECK-DAG: %[[DOWN:.*]] = xtensor.concat %arg2, %arg3 along b
// CHECK: xtensor.concat %[[UP]], %[[DOWN]] along a
// CHECK-NOT: xtensor.pad
func.func @two_dims(%p: !c, %q: !c, %r: !c, %s: !c) -> !y {
  %zero = xtensor.constant dense<0.0> : tensor<f32> as <f32>
  %0 = xtensor.pad %p with %zero [a, b] low [0, 0] high [2, 3] interior [0, 0] : !c, !f
  %1 = xtensor.pad %q with %zero [a, b] low [0, 3] high [2, 0] interior [0, 0] : !c, !f
  %2 = xtensor.pad %r with %zero [b, a] low [0, 2] high [3, 0] interior [0, 0] : !c, !f
  %3 = xtensor.pad %s with %zero [b, a] low [3, 2] high [0, 0] interior [0, 0] : !c, !f
  %4 = xtensor.add %0, %1 : !y, !y
  %5 = xtensor.add %2, %3 : !y, !y
  %6 = xtensor.add %4, %5 : !y, !y
  return %6 : !y
}

// A single one, beside an array that is not padded: an edge of a difference.
// CHECK-LABEL: func.func @single
// CHECK-DAG: %[[E:.*]] = xtensor.slice %arg1 [b] offsets [0] sizes [1]
// CHECK-DAG: %[[M:.*]] = xtensor.slice %arg1 [b] offsets [1] sizes [3]
// CHECK-DAG: %[[D:.*]] = xtensor.sub %[[M]], %arg0
// CHECK-DAG: %[[R:.*]] = xtensor.slice %arg1 [b] offsets [4] sizes [2]
// CHECK: xtensor.concat %[[E]], %[[D]], %[[R]] along b
func.func @single(%p: !x, %w: !y) -> !y {
  %zero = xtensor.constant dense<0.0> : tensor<f32> as <f32>
  %0 = xtensor.pad %p with %zero [b] low [1] high [2] interior [0] : !x, !f
  %1 = xtensor.sub %w, %0 : !y, !y
  return %1 : !y
}

// A finite number times zero is zero. Other numbers may be infinite: these are multiplied by zero, and the sum has that
// term, too.
// CHECK-LABEL: func.func @scaled
// CHECK-DAG: %[[TWO:.*]] = xtensor.constant dense<2.0
// CHECK-DAG: %[[ZERO:.*]] = xtensor.constant dense<0.0
// CHECK-DAG: %[[NONE:.*]] = xtensor.mul %arg2, %[[ZERO]]
// CHECK-DAG: %[[P:.*]] = xtensor.mul %arg0, %[[TWO]]
// CHECK-DAG: %[[Q:.*]] = xtensor.mul %arg1, %arg2
// CHECK-DAG: %[[A:.*]] = xtensor.add %[[P]], %[[NONE]]
// CHECK: xtensor.concat %[[A]], %[[Q]] along b
func.func @scaled(%p: !x, %q: !x, %s: !f) -> !y {
  %zero = xtensor.constant dense<0.0> : tensor<f32> as <f32>
  %two = xtensor.constant dense<2.0> : tensor<f32> as <f32>
  %0 = xtensor.pad %p with %zero [b] low [0] high [3] interior [0] : !x, !f
  %1 = xtensor.pad %q with %zero [b] low [3] high [0] interior [0] : !x, !f
  %2 = xtensor.mul %0, %two : !y, !f
  %3 = xtensor.mul %1, %s : !y, !f
  %4 = xtensor.add %2, %3 : !y, !y
  return %4 : !y
}

// Any function of padded arrays, where there is zero, too. The op that takes the part of an array without the dim is
// broadcast to the part.
// CHECK-LABEL: func.func @functions
// CHECK-DAG: %[[ZERO:.*]] = xtensor.constant dense<0.0
// CHECK-DAG: %[[LEFT:.*]] = xtensor.select %arg2, %arg0, %[[ZERO]]
// CHECK-DAG: %[[EL:.*]] = xtensor.exp %[[LEFT]]
// CHECK-DAG: %[[RIGHT:.*]] = xtensor.select %arg2, %[[ZERO]], %arg1
// CHECK-DAG: %[[ER:.*]] = xtensor.exp %[[RIGHT]]
// CHECK: xtensor.concat %[[EL]], %[[ER]] along b
func.func @functions(%p: !x, %q: !x, %c: !xtensor.array<a: 4, i1>) -> !y {
  %zero = xtensor.constant dense<0.0> : tensor<f32> as <f32>
  %0 = xtensor.pad %p with %zero [b] low [0] high [3] interior [0] : !x, !f
  %1 = xtensor.pad %q with %zero [b] low [3] high [0] interior [0] : !x, !f
  %2 = xtensor.select %c, %0, %1 : !xtensor.array<a: 4, i1>, !y, !y
  %3 = xtensor.exp %2 : !y
  return %3 : !y
}

!u = !xtensor.array<a: 64, b: 64, c: 64, f32>
!ua = !xtensor.array<a: 62, b: 64, c: 64, f32>
!ub = !xtensor.array<a: 64, b: 62, c: 64, f32>
!uc = !xtensor.array<a: 64, b: 64, c: 62, f32>

// Cut at every end of a term, a cube with edges would become 125 parts. Only what lies between the edges of the first dim
// is one, and is cut again; the edges keep their pads.
// CHECK-LABEL: func.func @many_parts
// CHECK: xtensor.pad {{.*}} [b] low [2] high [0] interior [0] : <a: 2, b: 62, c: 64, f32>
// CHECK-NOT: xtensor.pad {{.*}}<a: 60,
// CHECK: xtensor.concat %{{.*}}, %{{.*}}, %{{.*}} along a : {{.*}}<a: 2, b: 64, c: 64, f32>, {{.*}}<a: 60, b: 64, c: 64, f32>, {{.*}}<a: 2, b: 64, c: 64, f32>
func.func @many_parts(%a: !ua, %b: !ub, %c: !uc, %a1: !xtensor.array<a: 63, b: 64, c: 64, f32>, %b1: !xtensor.array<a: 64, b: 63, c: 64, f32>, %c1: !xtensor.array<a: 64, b: 64, c: 63, f32>) -> !u {
  %zero = xtensor.constant dense<0.0> : tensor<f32> as <f32>
  %0 = xtensor.pad %a with %zero [a] low [2] high [0] interior [0] : !ua, !f
  %1 = xtensor.pad %a with %zero [a] low [0] high [2] interior [0] : !ua, !f
  %2 = xtensor.pad %b with %zero [b] low [2] high [0] interior [0] : !ub, !f
  %3 = xtensor.pad %b with %zero [b] low [0] high [2] interior [0] : !ub, !f
  %4 = xtensor.pad %c with %zero [c] low [2] high [0] interior [0] : !uc, !f
  %5 = xtensor.pad %c with %zero [c] low [0] high [2] interior [0] : !uc, !f
  %6 = xtensor.pad %a1 with %zero [a] low [1] high [0] interior [0] : !xtensor.array<a: 63, b: 64, c: 64, f32>, !f
  %7 = xtensor.pad %a1 with %zero [a] low [0] high [1] interior [0] : !xtensor.array<a: 63, b: 64, c: 64, f32>, !f
  %8 = xtensor.pad %b1 with %zero [b] low [1] high [0] interior [0] : !xtensor.array<a: 64, b: 63, c: 64, f32>, !f
  %9 = xtensor.pad %b1 with %zero [b] low [0] high [1] interior [0] : !xtensor.array<a: 64, b: 63, c: 64, f32>, !f
  %10 = xtensor.pad %c1 with %zero [c] low [1] high [0] interior [0] : !xtensor.array<a: 64, b: 64, c: 63, f32>, !f
  %11 = xtensor.pad %c1 with %zero [c] low [0] high [1] interior [0] : !xtensor.array<a: 64, b: 64, c: 63, f32>, !f
  %12 = xtensor.add %0, %1 : !u, !u
  %13 = xtensor.add %12, %2 : !u, !u
  %14 = xtensor.add %13, %3 : !u, !u
  %15 = xtensor.add %14, %4 : !u, !u
  %16 = xtensor.add %15, %5 : !u, !u
  %17 = xtensor.add %16, %6 : !u, !u
  %18 = xtensor.add %17, %7 : !u, !u
  %19 = xtensor.add %18, %8 : !u, !u
  %20 = xtensor.add %19, %9 : !u, !u
  %21 = xtensor.add %20, %10 : !u, !u
  %22 = xtensor.add %21, %11 : !u, !u
  return %22 : !u
}

// What is differentiated waits: the derivatives of padded arrays are padded arrays again.
// CHECK-LABEL: func.func @differentiated
// CHECK: xtensor.pad %{{.*}} [b] low [3] high [0]
// CHECK: xtensor.pad %{{.*}} [b] low [0] high [3]
// CHECK-NOT: xtensor.concat
// CHECK: return
func.func @differentiated(%p: !x, %dp: !x) -> !y {
  %r:2 = xtensor.pushforward at(%p) wrt [0] along(%dp) {
  ^bb0(%v: !x):
    %zero = xtensor.constant dense<0.0> : tensor<f32> as <f32>
    %0 = xtensor.pad %v with %zero [b] low [3] high [0] interior [0] : !x, !f
    %1 = xtensor.pad %v with %zero [b] low [0] high [3] interior [0] : !x, !f
    %2 = xtensor.add %0, %1 : !y, !y
    xtensor.yield %2 : !y
  } : (!x, !x) -> (!y, !y)
  return %r#1 : !y
}

!z = !xtensor.array<a: 4, b: 9, f32>

// Concatenations, such as rolls, are cut, too.
// CHECK-LABEL: func.func @concatenated
// CHECK-DAG: %[[E:.*]] = xtensor.slice %arg0 [b] offsets [5] sizes [1]
// CHECK-DAG: %[[M:.*]] = xtensor.slice %arg0 [b] offsets [0] sizes [5]
// CHECK-DAG: %[[XE:.*]] = xtensor.slice %arg0 [b] offsets [0] sizes [1]
// CHECK-DAG: %[[XM:.*]] = xtensor.slice %arg0 [b] offsets [1] sizes [5]
// CHECK-DAG: %[[DE:.*]] = xtensor.sub %[[XE]], %[[E]]
// CHECK-DAG: %[[DM:.*]] = xtensor.sub %[[XM]], %[[M]]
// CHECK: %[[D:.*]] = xtensor.concat %[[DE]], %[[DM]] along b
// CHECK-DAG: %[[L:.*]] = xtensor.slice %arg2 [b] offsets [0] sizes [3]
// CHECK-DAG: %[[PL:.*]] = xtensor.mul %arg1, %[[L]]
// CHECK-DAG: %[[R:.*]] = xtensor.slice %arg2 [b] offsets [3] sizes [6]
// CHECK-DAG: %[[PR:.*]] = xtensor.mul %arg0, %[[R]]
// CHECK: %[[P:.*]] = xtensor.concat %[[PL]], %[[PR]] along b
// CHECK: return %[[D]], %[[P]]
func.func @concatenated(%x: !y, %p: !x, %w: !z) -> (!y, !z) {
  %0 = xtensor.slice %x [b] offsets [5] sizes [1] strides [1] : !y
  %1 = xtensor.slice %x [b] offsets [0] sizes [5] strides [1] : !y
  %2 = xtensor.concat %0, %1 along b : !one, !xtensor.array<a: 4, b: 5, f32>
  %3 = xtensor.sub %x, %2 : !y, !y
  %4 = xtensor.concat %p, %x along b : !x, !y
  %5 = xtensor.mul %4, %w : !z, !z
  return %3, %5 : !y, !z
}

// A function of a single one is computed of all of it; others than zeros are there; what lies between neighbours is no
// part; a concatenation of many, or that is stored anyway, is read.
// CHECK-LABEL: func.func @left_as_they_are
// CHECK-NOT: xtensor.concat
// CHECK: xtensor.concat %arg3, %arg3, %arg3, %arg3, %arg3, %arg3 along b
// CHECK: %[[BOTH:.*]] = xtensor.concat %arg0, %arg1 along b
// CHECK-NOT: xtensor.concat
// CHECK: return
func.func @left_as_they_are(%p: !x, %q: !x, %w: !y, %o: !one) -> (!y, !y, !y, !y, !y, !y) {
  %zero = xtensor.constant dense<0.0> : tensor<f32> as <f32>
  %one = xtensor.constant dense<1.0> : tensor<f32> as <f32>
  %0 = xtensor.pad %p with %zero [b] low [1] high [2] interior [0] : !x, !f
  %1 = xtensor.exp %0 : !y
  %2 = xtensor.pad %q with %one [b] low [2] high [1] interior [0] : !x, !f
  %3 = xtensor.add %w, %2 : !y, !y
  %4 = xtensor.pad %p with %zero [b] low [1] high [0] interior [1] : !x, !f
  %5 = xtensor.pad %q with %zero [b] low [0] high [1] interior [1] : !x, !f
  %6 = xtensor.add %4, %5 : !y, !y
  %7 = xtensor.concat %o, %o, %o, %o, %o, %o along b : !one, !one, !one, !one, !one, !one
  %8 = xtensor.add %7, %w : !y, !y
  %9 = xtensor.concat %p, %q along b : !x, !x
  %10 = xtensor.add %9, %w : !y, !y
  return %1, %3, %6, %8, %9, %10 : !y, !y, !y, !y, !y, !y
}

!seven = !xtensor.array<a: 7, f32>
!six = !xtensor.array<a: 6, f32>
!last = !xtensor.array<a: 1, f32>

// Differences of differences: the inner one is computed wherever it is read, part by part.
// CHECK-LABEL: func.func @difference_of_difference
// CHECK-DAG: %[[X0:.*]] = xtensor.slice %arg0 [a] offsets [0] sizes [1]
// CHECK-DAG: %[[X1:.*]] = xtensor.slice %arg0 [a] offsets [1] sizes [1]
// CHECK-DAG: %[[D1:.*]] = xtensor.sub %[[X1]], %[[X0]]
// CHECK-DAG: %[[Y1:.*]] = xtensor.sub %[[D1]], %[[X0]]
// CHECK-DAG: %[[A:.*]] = xtensor.slice %arg0 [a] offsets [2] sizes [5]
// CHECK-DAG: %[[B:.*]] = xtensor.slice %arg0 [a] offsets [1] sizes [5]
// CHECK-DAG: %[[C:.*]] = xtensor.slice %arg0 [a] offsets [0] sizes [5]
// CHECK-DAG: %[[R:.*]] = xtensor.sub %[[A]], %[[B]]
// CHECK-DAG: %[[L:.*]] = xtensor.sub %[[B]], %[[C]]
// CHECK-DAG: %[[Y2:.*]] = xtensor.sub %[[R]], %[[L]]
// CHECK: %[[Y:.*]] = xtensor.concat %[[X0]], %[[Y1]], %[[Y2]] along a
// CHECK: return %[[Y]]
func.func @difference_of_difference(%x: !seven) -> !seven {
  %zero = xtensor.constant dense<0.0> : tensor<f32> as <f32>
  %0 = xtensor.slice %x [a] offsets [0] sizes [6] strides [1] : !seven
  %1 = xtensor.pad %0 with %zero [a] low [1] high [0] interior [0] : !six, !f
  %2 = xtensor.sub %x, %1 : !seven, !seven
  %3 = xtensor.slice %2 [a] offsets [0] sizes [6] strides [1] : !seven
  %4 = xtensor.pad %3 with %zero [a] low [1] high [0] interior [0] : !six, !f
  %5 = xtensor.sub %2, %4 : !seven, !seven
  return %5 : !seven
}

// A function takes many instructions, so it is computed once and stored. Its argument is cut, and so is what reads it.
// CHECK-LABEL: func.func @stored
// CHECK-COUNT-2: xtensor.exp
// CHECK: %[[E:.*]] = xtensor.concat %{{.*}}, %{{.*}} along a
// CHECK-NOT: xtensor.exp
// CHECK-DAG: %[[M:.*]] = xtensor.slice %[[E]] [a] offsets [1] sizes [6]
// CHECK-DAG: %[[N:.*]] = xtensor.slice %[[E]] [a] offsets [0] sizes [6]
// CHECK-DAG: %[[D:.*]] = xtensor.sub %[[M]], %[[N]]
// CHECK: return
func.func @stored(%x: !seven) -> !seven {
  %zero = xtensor.constant dense<0.0> : tensor<f32> as <f32>
  %0 = xtensor.slice %x [a] offsets [0] sizes [6] strides [1] : !seven
  %1 = xtensor.pad %0 with %zero [a] low [1] high [0] interior [0] : !six, !f
  %2 = xtensor.sub %x, %1 : !seven, !seven
  %e = xtensor.exp %2 : !seven
  %3 = xtensor.slice %e [a] offsets [0] sizes [6] strides [1] : !seven
  %4 = xtensor.pad %3 with %zero [a] low [1] high [0] interior [0] : !six, !f
  %5 = xtensor.sub %e, %4 : !seven, !seven
  return %5 : !seven
}

// A shift of the difference of a roll. The zeros are multiplied by a number that may be infinite.
// CHECK-LABEL: func.func @of_a_roll
// CHECK-NOT: xtensor.pad
// CHECK: xtensor.concat %{{.*}}, %{{.*}}, %{{.*}} along a
// CHECK-NOT: xtensor.concat
// CHECK: return
func.func @of_a_roll(%x: !seven, %k: !f) -> !seven {
  %zero = xtensor.constant dense<0.0> : tensor<f32> as <f32>
  %0 = xtensor.slice %x [a] offsets [6] sizes [1] strides [1] : !seven
  %1 = xtensor.slice %x [a] offsets [0] sizes [6] strides [1] : !seven
  %2 = xtensor.concat %0, %1 along a : !last, !six
  %3 = xtensor.sub %x, %2 : !seven, !seven
  %4 = xtensor.slice %3 [a] offsets [1] sizes [6] strides [1] : !seven
  %5 = xtensor.pad %4 with %zero [a] low [0] high [1] interior [0] : !six, !f
  %6 = xtensor.mul %5, %k : !seven, !f
  %7 = xtensor.sub %6, %3 : !seven, !seven
  return %7 : !seven
}

// Two dims, one after the other, through what moves elements along the other dim.
// CHECK-LABEL: func.func @corner
// CHECK-NOT: xtensor.pad
// CHECK: return
func.func @corner(%x: !y) -> !y {
  %zero = xtensor.constant dense<0.0> : tensor<f32> as <f32>
  %0 = xtensor.slice %x [a] offsets [0] sizes [3] strides [1] : !y
  %1 = xtensor.pad %0 with %zero [a] low [1] high [0] interior [0] : !xtensor.array<a: 3, b: 6, f32>, !f
  %2 = xtensor.sub %x, %1 : !y, !y
  %3 = xtensor.slice %2 [b] offsets [0] sizes [5] strides [1] : !y
  %4 = xtensor.pad %3 with %zero [b] low [1] high [0] interior [0] : !xtensor.array<a: 4, b: 5, f32>, !f
  %5 = xtensor.sub %2, %4 : !y, !y
  return %5 : !y
}

// Functions of functions that are concatenated: these are stored, and the others computed of all of it.
// CHECK-LABEL: func.func @functions_of_functions
// CHECK: %[[E:.*]] = xtensor.concat
// CHECK: %[[S:.*]] = xtensor.add %[[E]], %arg2
// CHECK: %[[T:.*]] = xtensor.tanh %[[S]]
// CHECK: return %[[T]]
func.func @functions_of_functions(%p: !last, %q: !six, %z: !seven) -> !seven {
  %0 = xtensor.exp %p : !last
  %1 = xtensor.exp %q : !six
  %2 = xtensor.concat %0, %1 along a : !last, !six
  %3 = xtensor.add %2, %z : !seven, !seven
  %4 = xtensor.tanh %3 : !seven
  return %4 : !seven
}
