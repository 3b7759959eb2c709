// Of l nothing is read but the lower triangle: its tangent goes into a product with the result, and
// from there through the op itself.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<row: 3, col: 3, f32>
func.func @cholesky_tangent(%l: !a, %t: !a) -> (!a, !xtensor.linear<(!a) -> (!a, !a)>) {
  %r0, %back = xtensor.pullback at(%l, %t) wrt [0, 1] {
  ^bb0(%x: !a, %y: !a):
    %r = xtensor.cholesky_tangent %x, %y on [row, col] : !a, !a
    xtensor.yield %r : !a
  } : (!a, !a) -> (!a, !xtensor.linear<(!a) -> (!a, !a)>)
  return %r0, %back : !a, !xtensor.linear<(!a) -> (!a, !a)>
}

// LINEAR-LABEL: func.func @cholesky_tangent(
// LINEAR-SAME: %[[L:[a-z0-9]+]]: {{[^%]+}}, %[[T:[a-z0-9]+]]:
// LINEAR-NEXT: %[[X:.+]] = xtensor.cholesky_tangent %[[L]], %[[T]] on [row, col] :
// LINEAR-NEXT: %[[I:.+]] = xtensor.iota
// LINEAR-NEXT: %[[J:.+]] = xtensor.iota
// LINEAR-NEXT: %[[LOWER:.+]] = xtensor.compare ge %[[I]], %[[J]]
// LINEAR-NEXT: %[[XP:.+]] = xtensor.rename %[[X]] [col] to ["col~0"]
// LINEAR-NEXT: %[[TWO:.+]] = xtensor.constant dense<-2.000000e+00>
// LINEAR-NEXT: %[[FACTOR:.+]] = xtensor.mul %[[XP]], %[[TWO]]
// LINEAR-NEXT: %[[MAP:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[DL:[a-z0-9]+]]: {{[^%]+}}, %[[DT:[a-z0-9]+]]:
// LINEAR-NEXT: %[[ZERO:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[READ:.+]] = xtensor.select %[[LOWER]], %[[DL]], %[[ZERO]]
// LINEAR-NEXT: %[[TURNED:.+]] = xtensor.rename %[[READ]] [row, col] to [col, "col~0"]
// LINEAR-NEXT: %[[MOVED:.+]] = xtensor.contract %[[FACTOR]], %[[TURNED]] over ["col~0"]
// LINEAR-NEXT: %[[SUM:.+]] = xtensor.add %[[DT]], %[[MOVED]]
// LINEAR-NEXT: %[[DX:.+]] = xtensor.cholesky_tangent %[[L]], %[[SUM]] on [row, col] :
// LINEAR-NEXT: xtensor.yield %[[DX]]
// LINEAR-NEXT: }
// LINEAR-NEXT: xtensor.transposed %[[MAP]]
// LINEAR: return

// BACK-LABEL: func.func @cholesky_tangent(
// BACK-SAME: %[[L:[a-z0-9]+]]: {{[^%]+}}, %[[T:[a-z0-9]+]]:
// BACK: %[[LOWER:.+]] = xtensor.compare ge
// BACK: %[[FACTOR:.+]] = xtensor.mul
// BACK: xtensor.linear {
// BACK-NEXT: ^bb0(%[[CT:[a-z0-9]+]]:
// BACK: %[[DT:.+]] = xtensor.cholesky_tangent %[[L]], %[[CT]] on [row, col] transposed :
// BACK-NEXT: %[[MOVED:.+]] = xtensor.contract %[[DT]], %[[FACTOR]] over [row]
// BACK-NEXT: %[[TURNED:.+]] = xtensor.rename %[[MOVED]] [col, "col~0"] to [row, col]
// BACK: %[[DL:.+]] = xtensor.select %[[LOWER]], %[[TURNED]], %{{.+}}
// BACK-NEXT: xtensor.yield %[[DL]], %[[DT]]
// BACK-NEXT: }
// BACK: return
