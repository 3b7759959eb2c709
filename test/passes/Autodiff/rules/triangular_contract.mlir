// A product with a triangle, and the triangle of a product: each other's transpose.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<row: 3, col: 3, f32>
!b = !xtensor.array<b: 2, col: 3, n: 2, f32>
!x = !xtensor.array<row: 3, b: 2, n: 2, f32>
func.func @triangular_contract(%a: !a, %b: !b) -> (!x, !xtensor.linear<(!x) -> (!a, !b)>) {
  %r0, %back = xtensor.pullback at(%a, %b) wrt [0, 1] {
  ^bb0(%x: !a, %y: !b):
    %r = xtensor.triangular_contract %x, %y over [col] on [row, col] {strict} : !a, !b
    xtensor.yield %r : !x
  } : (!a, !b) -> (!x, !xtensor.linear<(!x) -> (!a, !b)>)
  return %r0, %back : !x, !xtensor.linear<(!x) -> (!a, !b)>
}

// LINEAR-LABEL: func.func @triangular_contract(
// LINEAR-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.triangular_contract %[[A]], %[[B]] over [col] on [row, col] {strict}
// LINEAR-NEXT: %[[V1:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]: {{[^%]+}}, %[[T1:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V2:.+]] = xtensor.triangular_contract %[[T0]], %[[B]] over [col] on [row, col] {strict}
// LINEAR-NEXT: %[[V3:.+]] = xtensor.triangular_contract %[[A]], %[[T1]] over [col] on [row, col] {strict}
// LINEAR-NEXT: %[[V4:.+]] = xtensor.add %[[V2]], %[[V3]]
// LINEAR-NEXT: xtensor.yield %[[V4]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V5:.+]] = xtensor.transposed %[[V1]]
// LINEAR: return

// BACK-LABEL: func.func @triangular_contract(
// BACK-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// BACK: %[[V0:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V1:.+]] = xtensor.triangular_contract %[[T0]], %[[A]] over [row] on [row, col] {strict}
// BACK-NEXT: %[[V2:.+]] = xtensor.broadcast %[[V1]]
// BACK-NEXT: %[[V3:.+]] = xtensor.triangular_contract %[[T0]], %[[B]] over [b, n] on [row, col] {strict}
// BACK-NEXT: xtensor.yield %[[V3]], %[[V2]]
// BACK-NEXT: }
// BACK: return
