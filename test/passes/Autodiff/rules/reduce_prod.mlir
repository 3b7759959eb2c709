// A tree of products of few elements, running products of many: nothing is divided by the input.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<a: 5, f32>
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
// LINEAR-NEXT: %[[V0:.+]] = xtensor.slice %[[A]] [a] offsets [4] sizes [1] strides [1]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.slice %[[A]] [a] offsets [0] sizes [2] strides [1]
// LINEAR-NEXT: %[[V2:.+]] = xtensor.slice %[[A]] [a] offsets [2] sizes [2] strides [1]
// LINEAR-NEXT: %[[V3:.+]] = xtensor.mul %[[V1]], %[[V2]]
// LINEAR-NEXT: %[[V4:.+]] = xtensor.slice %[[V3]] [a] offsets [0] sizes [1] strides [1]
// LINEAR-NEXT: %[[V5:.+]] = xtensor.slice %[[V3]] [a] offsets [1] sizes [1] strides [1]
// LINEAR-NEXT: %[[V6:.+]] = xtensor.mul %[[V4]], %[[V5]]
// LINEAR-NEXT: %[[V7:.+]] = xtensor.mul %[[V6]], %[[V0]]
// LINEAR-NEXT: %[[V8:.+]] = xtensor.squeeze %[[V7]] [a]
// LINEAR-NEXT: %[[V9:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V10:.+]] = xtensor.slice %[[T0]] [a] offsets [4] sizes [1] strides [1]
// LINEAR-NEXT: %[[V11:.+]] = xtensor.slice %[[T0]] [a] offsets [0] sizes [2] strides [1]
// LINEAR-NEXT: %[[V12:.+]] = xtensor.slice %[[T0]] [a] offsets [2] sizes [2] strides [1]
// LINEAR-NEXT: %[[V13:.+]] = xtensor.mul %[[V11]], %[[V2]]
// LINEAR-NEXT: %[[V14:.+]] = xtensor.mul %[[V1]], %[[V12]]
// LINEAR-NEXT: %[[V15:.+]] = xtensor.add %[[V13]], %[[V14]]
// LINEAR-NEXT: %[[V16:.+]] = xtensor.slice %[[V15]] [a] offsets [0] sizes [1] strides [1]
// LINEAR-NEXT: %[[V17:.+]] = xtensor.slice %[[V15]] [a] offsets [1] sizes [1] strides [1]
// LINEAR-NEXT: %[[V18:.+]] = xtensor.mul %[[V16]], %[[V5]]
// LINEAR-NEXT: %[[V19:.+]] = xtensor.mul %[[V4]], %[[V17]]
// LINEAR-NEXT: %[[V20:.+]] = xtensor.add %[[V18]], %[[V19]]
// LINEAR-NEXT: %[[V21:.+]] = xtensor.mul %[[V20]], %[[V0]]
// LINEAR-NEXT: %[[V22:.+]] = xtensor.mul %[[V6]], %[[V10]]
// LINEAR-NEXT: %[[V23:.+]] = xtensor.add %[[V21]], %[[V22]]
// LINEAR-NEXT: %[[V24:.+]] = xtensor.squeeze %[[V23]] [a]
// LINEAR-NEXT: xtensor.yield %[[V24]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V25:.+]] = xtensor.transposed %[[V9]]
// LINEAR: return

// BACK-LABEL: func.func @reduce_prod(
// BACK-SAME: %[[A:[a-z0-9]+]]:
// BACK: %[[V0:.+]] = xtensor.slice
// BACK: %[[V1:.+]] = xtensor.slice
// BACK: %[[V2:.+]] = xtensor.slice
// BACK: xtensor.mul
// BACK: %[[V4:.+]] = xtensor.slice
// BACK: %[[V5:.+]] = xtensor.slice
// BACK: %[[V6:.+]] = xtensor.mul
// BACK: %[[V9:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V10:.+]] = xtensor.broadcast %[[T0]] : (!xtensor.array<f32>) -> !xtensor.array<a: 1, f32>
// BACK-NEXT: %[[V11:.+]] = xtensor.mul %[[V10]], %[[V6]]
// BACK-NEXT: %[[V12:.+]] = xtensor.mul %[[V10]], %[[V0]]
// BACK-NEXT: %[[V13:.+]] = xtensor.mul %[[V12]], %[[V4]]
// BACK-NEXT: %[[V14:.+]] = xtensor.mul %[[V12]], %[[V5]]
// BACK-NEXT: %[[V15:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V16:.+]] = xtensor.pad %[[V13]] with %[[V15]] [a] low [1] high [0] interior [0]
// BACK-NEXT: %[[V17:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V18:.+]] = xtensor.pad %[[V14]] with %[[V17]] [a] low [0] high [1] interior [0]
// BACK-NEXT: %[[V19:.+]] = xtensor.add %[[V16]], %[[V18]]
// BACK-NEXT: %[[V20:.+]] = xtensor.mul %[[V19]], %[[V1]]
// BACK-NEXT: %[[V21:.+]] = xtensor.mul %[[V19]], %[[V2]]
// BACK-NEXT: %[[V22:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V23:.+]] = xtensor.pad %[[V20]] with %[[V22]] [a] low [2] high [1] interior [0]
// BACK-NEXT: %[[V24:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V25:.+]] = xtensor.pad %[[V21]] with %[[V24]] [a] low [0] high [3] interior [0]
// BACK-NEXT: %[[V26:.+]] = xtensor.add %[[V23]], %[[V25]]
// BACK-NEXT: %[[V27:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V28:.+]] = xtensor.pad %[[V11]] with %[[V27]] [a] low [4] high [0] interior [0]
// BACK-NEXT: %[[V29:.+]] = xtensor.add %[[V26]], %[[V28]]
// BACK-NEXT: xtensor.yield %[[V29]]
// BACK-NEXT: }
// BACK: return

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
