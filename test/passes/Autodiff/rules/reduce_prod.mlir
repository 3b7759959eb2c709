// A tree of products of few elements side by side, running products of others: nothing is divided by the input.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<a: 3, f32>
!r = !xtensor.array<f32>
func.func @reduce_prod(%a: !a) -> (!r, !xtensor.linear<(!r) -> !a>) {
  %p, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !a):
    %r = xtensor.reduce prod %x over [a] : !a
    xtensor.yield %r : !r
  } : (!a) -> (!r, !xtensor.linear<(!r) -> !a>)
  return %p, %back : !r, !xtensor.linear<(!r) -> !a>
}

// LINEAR-LABEL: func.func @reduce_prod(
// LINEAR-SAME: %[[A:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.slice %[[A]] [a] offsets [2] sizes [1] strides [1]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.slice %[[A]] [a] offsets [0] sizes [1] strides [1]
// LINEAR-NEXT: %[[V2:.+]] = xtensor.slice %[[A]] [a] offsets [1] sizes [1] strides [1]
// LINEAR-NEXT: %[[V3:.+]] = xtensor.mul %[[V1]], %[[V2]]
// LINEAR-NEXT: %[[V4:.+]] = xtensor.mul %[[V3]], %[[V0]]
// LINEAR-NEXT: %[[V5:.+]] = xtensor.squeeze %[[V4]] [a]
// LINEAR-NEXT: %[[V6:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[T1:.+]] = xtensor.slice %[[T0]] [a] offsets [2] sizes [1] strides [1]
// LINEAR-NEXT: %[[T2:.+]] = xtensor.slice %[[T0]] [a] offsets [0] sizes [1] strides [1]
// LINEAR-NEXT: %[[T3:.+]] = xtensor.slice %[[T0]] [a] offsets [1] sizes [1] strides [1]
// LINEAR-NEXT: %[[T4:.+]] = xtensor.mul %[[T2]], %[[V2]]
// LINEAR-NEXT: %[[T5:.+]] = xtensor.mul %[[V1]], %[[T3]]
// LINEAR-NEXT: %[[T6:.+]] = xtensor.add %[[T4]], %[[T5]]
// LINEAR-NEXT: %[[T7:.+]] = xtensor.mul %[[T6]], %[[V0]]
// LINEAR-NEXT: %[[T8:.+]] = xtensor.mul %[[V3]], %[[T1]]
// LINEAR-NEXT: %[[T9:.+]] = xtensor.add %[[T7]], %[[T8]]
// LINEAR-NEXT: %[[T10:.+]] = xtensor.squeeze %[[T9]] [a]
// LINEAR-NEXT: xtensor.yield %[[T10]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V7:.+]] = xtensor.transposed %[[V6]]
// LINEAR: return

// BACK-LABEL: func.func @reduce_prod(
// BACK-SAME: %[[A:[a-z0-9]+]]:
// BACK: %[[V0:.+]] = xtensor.slice
// BACK: %[[V1:.+]] = xtensor.slice
// BACK: %[[V2:.+]] = xtensor.slice
// BACK: %[[V3:.+]] = xtensor.mul
// BACK: %[[V9:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[T1:.+]] = xtensor.broadcast %[[T0]] : (!xtensor.array<f32>) -> !xtensor.array<a: 1, f32>
// BACK-NEXT: %[[T2:.+]] = xtensor.mul %[[T1]], %[[V3]]
// BACK-NEXT: %[[T3:.+]] = xtensor.mul %[[T1]], %[[V0]]
// BACK-NEXT: %[[T4:.+]] = xtensor.mul %[[T3]], %[[V1]]
// BACK-NEXT: %[[T5:.+]] = xtensor.mul %[[T3]], %[[V2]]
// BACK-NEXT: %[[Z0:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[P0:.+]] = xtensor.pad %[[T4]] with %[[Z0]] [a] low [1] high [1] interior [0]
// BACK-NEXT: %[[Z1:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[P1:.+]] = xtensor.pad %[[T5]] with %[[Z1]] [a] low [0] high [2] interior [0]
// BACK-NEXT: %[[S0:.+]] = xtensor.add %[[P0]], %[[P1]]
// BACK-NEXT: %[[Z2:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[P2:.+]] = xtensor.pad %[[T2]] with %[[Z2]] [a] low [2] high [0] interior [0]
// BACK-NEXT: %[[S1:.+]] = xtensor.add %[[S0]], %[[P2]]
// BACK-NEXT: xtensor.yield %[[S1]]
// BACK-NEXT: }
// BACK: return

// Few rows are multiplied one after the other, as many are.
!few = !xtensor.array<a: 3, b: 16, f32>
!row = !xtensor.array<b: 16, f32>
func.func @reduce_prod_few_rows(%a: !few) -> (!row, !xtensor.linear<(!row) -> !few>) {
  %p, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !few):
    %r = xtensor.reduce prod %x over [a] : !few
    xtensor.yield %r : !row
  } : (!few) -> (!row, !xtensor.linear<(!row) -> !few>)
  return %p, %back : !row, !xtensor.linear<(!row) -> !few>
}

// LINEAR-LABEL: func.func @reduce_prod_few_rows(
// LINEAR-SAME: %[[A:[a-z0-9]+]]:
// LINEAR-NEXT: xtensor.reduce prod %[[A]] over [a]
// LINEAR-DAG: %[[BEFORE:.+]] = xtensor.cumulative prod %[[A]] along a {exclusive}
// LINEAR-DAG: %[[AFTER:.+]] = xtensor.cumulative prod %[[A]] along a {exclusive, reverse}
// LINEAR: %[[OTHERS:.+]] = xtensor.mul %[[BEFORE]], %[[AFTER]]
// LINEAR: xtensor.contract %[[OTHERS]]

// One dim after the other, the last stored first. Of each: what is before times what is after.
!m = !xtensor.array<a: 9, b: 12, f32>
func.func @reduce_prod_many(%a: !m) -> (!r, !xtensor.linear<(!r) -> !m>) {
  %p, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !m):
    %r = xtensor.reduce prod %x over [a, b] : !m
    xtensor.yield %r : !r
  } : (!m) -> (!r, !xtensor.linear<(!r) -> !m>)
  return %p, %back : !r, !xtensor.linear<(!r) -> !m>
}

// LINEAR-LABEL: func.func @reduce_prod_many(
// LINEAR-SAME: %[[A:[a-z0-9]+]]:
// LINEAR: %[[ROWS:.+]] = xtensor.reduce prod %[[A]] over [b]
// LINEAR-DAG: %[[BEFORE:.+]] = xtensor.cumulative prod %[[A]] along b {exclusive}
// LINEAR-DAG: %[[AFTER:.+]] = xtensor.cumulative prod %[[A]] along b {exclusive, reverse}
// LINEAR: %[[OTHERS:.+]] = xtensor.mul %[[BEFORE]], %[[AFTER]]
// LINEAR: xtensor.reduce prod %[[ROWS]] over [a]
// LINEAR: %[[REST:.+]] = xtensor.mul
// LINEAR: xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T:[a-z0-9]+]]:
// LINEAR-NEXT: %[[D:.+]] = xtensor.contract %[[OTHERS]], %[[T]] over [b]
// LINEAR-NEXT: %[[E:.+]] = xtensor.contract %[[REST]], %[[D]] over [a]
// LINEAR-NEXT: xtensor.yield %[[E]]

// Along what is stored last, many run side by side.
!l = !xtensor.array<a: 512, f32>
func.func @reduce_prod_long(%a: !l) -> (!r, !xtensor.linear<(!r) -> !l>) {
  %p, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !l):
    %r = xtensor.reduce prod %x over [a] : !l
    xtensor.yield %r : !r
  } : (!l) -> (!r, !xtensor.linear<(!r) -> !l>)
  return %p, %back : !r, !xtensor.linear<(!r) -> !l>
}

// LINEAR-LABEL: func.func @reduce_prod_long(
// LINEAR-SAME: %[[A:[a-z0-9]+]]:
// LINEAR: %[[SPLIT:.+]] = xtensor.split %[[A]] a into ["[[O:.+]]", a] sizes [32, 16]
// LINEAR: %[[SIDES:.+]] = xtensor.reduce prod %[[SPLIT]] over ["[[O]]"]
// LINEAR: xtensor.cumulative prod %[[SPLIT]] along "[[O]]" {exclusive}
// LINEAR: xtensor.reduce prod %[[SIDES]] over [a]
// LINEAR: xtensor.linear {
// LINEAR: xtensor.yield

// Long columns: parts of 16 rows, then the parts.
!c = !xtensor.array<a: 512, b: 128, f32>
!best = !xtensor.array<b: 128, f32>
func.func @reduce_prod_columns(%a: !c) -> (!best, !xtensor.linear<(!best) -> !c>) {
  %p, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !c):
    %r = xtensor.reduce prod %x over [a] : !c
    xtensor.yield %r : !best
  } : (!c) -> (!best, !xtensor.linear<(!best) -> !c>)
  return %p, %back : !best, !xtensor.linear<(!best) -> !c>
}

// LINEAR-LABEL: func.func @reduce_prod_columns(
// LINEAR-SAME: %[[A:[a-z0-9]+]]:
// LINEAR: %[[SPLIT:.+]] = xtensor.split %[[A]] a into ["[[O:.+]]", a] sizes [32, 16]
// LINEAR: %[[ROWS:.+]] = xtensor.broadcast %[[SPLIT]] {{.*}} -> !xtensor.array<"[[O]]": 32, a: 16, b: 128, f32>
// LINEAR: %[[PARTS:.+]] = xtensor.reduce prod %[[ROWS]] over [a]
// LINEAR: xtensor.cumulative prod %[[ROWS]] along a {exclusive}
// LINEAR: xtensor.reduce prod %[[PARTS]] over ["[[O]]"]
// LINEAR: xtensor.linear {
// LINEAR: xtensor.yield
