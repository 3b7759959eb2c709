// Contract with the others, in the operand's own order; a dim that only it has is broadcast.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<i: 2, k: 3, l: 5, f32>
!b = !xtensor.array<k: 3, j: 4, f32>
!r = !xtensor.array<i: 2, j: 4, f32>
func.func @contract(%a: !a, %b: !b) -> (!r, !xtensor.linear<(!r) -> (!a, !b)>) {
  %p, %back = xtensor.pullback at(%a, %b) wrt [0, 1] {
  ^bb0(%x: !a, %y: !b):
    %r = xtensor.contract %x, %y over [k, l] : !a, !b
    xtensor.yield %r : !r
  } : (!a, !b) -> (!r, !xtensor.linear<(!r) -> (!a, !b)>)
  return %p, %back : !r, !xtensor.linear<(!r) -> (!a, !b)>
}

// LINEAR-LABEL: func.func @contract(
// LINEAR-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.contract %[[A]], %[[B]] over [k, l]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]: {{[^%]+}}, %[[T1:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V2:.+]] = xtensor.contract %[[T0]], %[[B]] over [k, l]
// LINEAR-NEXT: %[[V3:.+]] = xtensor.contract %[[A]], %[[T1]] over [k, l]
// LINEAR-NEXT: %[[V4:.+]] = xtensor.add %[[V2]], %[[V3]]
// LINEAR-NEXT: xtensor.yield %[[V4]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V5:.+]] = xtensor.transposed %[[V1]]
// LINEAR: return

// BACK-LABEL: func.func @contract(
// BACK-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// BACK: %[[V1:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V2:.+]] = xtensor.contract %[[T0]], %[[A]] over [i, l] order [k, j]
// BACK-NEXT: %[[V3:.+]] = xtensor.contract %[[T0]], %[[B]] over [j]
// BACK-NEXT: %[[V4:.+]] = xtensor.broadcast %[[V3]] : (!xtensor.array<i: 2, k: 3, f32>) -> !xtensor.array<i: 2, k: 3, l: 5, f32>
// BACK-NEXT: xtensor.yield %[[V4]], %[[V2]]
// BACK-NEXT: }
// BACK: return
