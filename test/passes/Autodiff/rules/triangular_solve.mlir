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
// LINEAR-NEXT: %[[V1:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]: {{[^%]+}}, %[[T1:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V2:.+]] = xtensor.triangular_contract %[[T0]], %[[V0]] over [col] on [row, col]
// LINEAR-NEXT: %[[V3:.+]] = xtensor.sub %[[T1]], %[[V2]]
// LINEAR-NEXT: %[[V4:.+]] = xtensor.triangular_solve %[[A]], %[[V3]] on [row, col]
// LINEAR-NEXT: xtensor.yield %[[V4]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V5:.+]] = xtensor.transposed %[[V1]]
// LINEAR: return

// BACK-LABEL: func.func @triangular_solve(
// BACK-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// BACK: %[[V0:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V1:.+]] = xtensor.triangular_solve %[[A]], %[[T0]] on [col, row] {upper}
// BACK-NEXT: %[[V2:.+]] = xtensor.neg %[[V1]]
// BACK-NEXT: %[[V3:.+]] = xtensor.triangular_contract %[[V2]], %{{.+}} over [n] on [row, col]
// BACK-NEXT: xtensor.yield %[[V3]], %[[V1]]
// BACK-NEXT: }
// BACK: return
