// A kept pullback becomes two functions. tanh's own result serves as its residual.
// RUN: xtensor-opt %s --split-input-file --xtensor-differentiate --xtensor-split-pullbacks --xtensor-simplify --xtensor-verify-differentiated --verify-diagnostics | FileCheck %s

!x = !xtensor.array<b: 4, i: 3, f64>
!w = !xtensor.array<i: 3, o: 2, f64>
!h = !xtensor.array<b: 4, o: 2, f64>

// CHECK-LABEL: func.func @layer(
// CHECK-SAME: -> !xtensor.array<b: 4, o: 2, f64> attributes {xtensor.back = @layer.back}
// CHECK-NEXT: %[[H:.+]] = xtensor.contract
// CHECK-NEXT: %[[Y:.+]] = xtensor.tanh %[[H]]
// CHECK-NEXT: return %[[Y]] :

// Result 0 and argument 0 are what it needs beside the cotangent.
// CHECK-LABEL: func.func @layer.back(
// CHECK-SAME: %[[Y:[a-z0-9]+]]: !xtensor.array<b: 4, o: 2, f64>, %[[X:[a-z0-9]+]]: !xtensor.array<b: 4, i: 3, f64>, %[[CT:[a-z0-9]+]]: !xtensor.array<b: 4, o: 2, f64>
// CHECK-SAME: xtensor.residuals = array<i64: 0, -1>
// CHECK: %[[YY:.+]] = xtensor.mul %[[Y]], %[[Y]]
// CHECK: %[[D:.+]] = xtensor.sub %{{.+}}, %[[YY]]
// CHECK: %[[CH:.+]] = xtensor.mul %[[CT]], %[[D]]
// CHECK: %[[G:.+]] = xtensor.contract %[[CH]], %[[X]] over [b] order [i, o]
// CHECK: return %[[G]]
func.func @layer(%x: !x, %w: !w) -> (!h, !xtensor.linear<(!h) -> !w>) {
  %y, %back = xtensor.pullback at(%x, %w) wrt [1] {
  ^bb0(%x_: !x, %w_: !w):
    %h = xtensor.contract %x_, %w_ over [i] : !x, !w
    %e = xtensor.tanh %h : !h
    xtensor.yield %e : !h
  } : (!x, !w) -> (!h, !xtensor.linear<(!h) -> !w>)
  return %y, %back : !h, !xtensor.linear<(!h) -> !w>
}

// -----

!x = !xtensor.array<i: 3, f64>

// What is neither argument nor result nor cheap is returned beside the results.
// CHECK-LABEL: func.func @stored(
// CHECK: %[[E:.+]] = xtensor.exp
// CHECK: %[[Y:.+]] = xtensor.sin %[[E]]
// CHECK: %[[C:.+]] = xtensor.cos %[[E]]
// CHECK: return %[[Y]], %[[C]], %[[E]]
// CHECK-LABEL: func.func @stored.back(
// CHECK-SAME: xtensor.residuals = array<i64: 1, 2>
// CHECK-NOT: xtensor.cos
func.func @stored(%x: !x) -> (!x, !xtensor.linear<(!x) -> !x>) {
  %y, %back = xtensor.pullback at(%x) wrt [0] {
  ^bb0(%x_: !x):
    %e = xtensor.exp %x_ : !x
    %s = xtensor.sin %e : !x
    xtensor.yield %s : !x
  } : (!x) -> (!x, !xtensor.linear<(!x) -> !x>)
  return %y, %back : !x, !xtensor.linear<(!x) -> !x>
}

// -----

!x = !xtensor.array<i: 3, f64>
// expected-error @+1 {{'func.func' op returns more than one linear map; return one}}
func.func @two(%x: !x) -> (!xtensor.linear<(!x) -> !x>, !xtensor.linear<(!x) -> !x>) {
  %y, %back = xtensor.pullback at(%x) wrt [0] {
  ^bb0(%x_: !x):
    xtensor.yield %x_ : !x
  } : (!x) -> (!x, !xtensor.linear<(!x) -> !x>)
  return %back, %back : !xtensor.linear<(!x) -> !x>, !xtensor.linear<(!x) -> !x>
}
