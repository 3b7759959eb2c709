// One linear op, and its transpose backwards.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<row: 3, col: 3, f32>
func.func @cholesky(%a: !a) -> (!a, !xtensor.linear<(!a) -> !a>) {
  %r0, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !a):
    %l = xtensor.cholesky %x on [row, col] : !a
    xtensor.yield %l : !a
  } : (!a) -> (!a, !xtensor.linear<(!a) -> !a>)
  return %r0, %back : !a, !xtensor.linear<(!a) -> !a>
}

// LINEAR-LABEL: func.func @cholesky(
// LINEAR-SAME: %[[A:[a-z0-9]+]]:
// LINEAR-NEXT: %[[L:.+]] = xtensor.cholesky %[[A]] on [row, col]
// LINEAR-NEXT: %[[MAP:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T:[a-z0-9]+]]:
// LINEAR-NEXT: %[[X:.+]] = xtensor.cholesky_tangent %[[L]], %[[T]] on [row, col] :
// LINEAR-NEXT: xtensor.yield %[[X]]
// LINEAR-NEXT: }
// LINEAR-NEXT: xtensor.transposed %[[MAP]]
// LINEAR: return

// BACK-LABEL: func.func @cholesky(
// BACK-SAME: %[[A:[a-z0-9]+]]:
// BACK-NEXT: %[[L:.+]] = xtensor.cholesky %[[A]] on [row, col]
// BACK-NEXT: xtensor.linear {
// BACK-NEXT: ^bb0(%[[T:[a-z0-9]+]]:
// BACK: %[[X:.+]] = xtensor.cholesky_tangent %[[L]], %[[T]] on [row, col] transposed :
// BACK-NEXT: xtensor.yield %[[X]]
// BACK-NEXT: }
// BACK: return
