// As solve; the other triangle, which is not read, gets nothing.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<row: 3, col: 3, f32>
!b = !xtensor.array<row: 3, n: 2, f32>
!x = !xtensor.array<col: 3, n: 2, f32>
func.func @triangular_solve(%a: !a, %b: !b) -> (!x, !xtensor.linear<(!x) -> (!a, !b)>) {
  %r0, %back = xtensor.pullback at(%a, %b) wrt [0, 1] {
  ^bb0(%x: !a, %y: !b):
    %r = xtensor.triangular_solve %x, %y on [row, col] : !a, !b
    xtensor.yield %r : !x
  } : (!a, !b) -> (!x, !xtensor.linear<(!x) -> (!a, !b)>)
  return %r0, %back : !x, !xtensor.linear<(!x) -> (!a, !b)>
}

// LINEAR-LABEL: func.func @triangular_solve(
// LINEAR-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.triangular_solve %[[A]], %[[B]] on [row, col]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V2:.+]] = xtensor.iota
// LINEAR-NEXT: %[[V3:.+]] = xtensor.compare ge %[[V1]], %[[V2]]
// LINEAR-NEXT: %[[V4:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]: {{[^%]+}}, %[[T1:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V5:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V6:.+]] = xtensor.select %[[V3]], %[[T0]], %[[V5]]
// LINEAR-NEXT: %[[V7:.+]] = xtensor.contract %[[V6]], %[[V0]] over [col]
// LINEAR-NEXT: %[[V8:.+]] = xtensor.sub %[[T1]], %[[V7]]
// LINEAR-NEXT: %[[V9:.+]] = xtensor.triangular_solve %[[A]], %[[V8]] on [row, col]
// LINEAR-NEXT: xtensor.yield %[[V9]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V10:.+]] = xtensor.transposed %[[V4]]
// LINEAR: return

// BACK-LABEL: func.func @triangular_solve(
// BACK-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// BACK: %[[V0:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V1:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V2:.+]] = xtensor.triangular_solve %[[A]], %[[T0]] on [col, row] {upper}
// BACK-NEXT: %[[V3:.+]] = xtensor.neg %[[V2]]
// BACK-NEXT: %[[V4:.+]] = xtensor.contract %[[V3]], %{{.+}} over [n]
// BACK-NEXT: %[[V5:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V6:.+]] = xtensor.select %{{.+}}, %[[V4]], %[[V5]]
// BACK-NEXT: xtensor.yield %[[V6]], %[[V2]]
// BACK-NEXT: }
// BACK: return
