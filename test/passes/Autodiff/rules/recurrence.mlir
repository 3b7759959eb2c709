// A tangent of the decay enters times the value before; backwards decay comes late.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<t: 4, b: 3, f32>
!d = !xtensor.array<t: 4, f32>
!r = !xtensor.array<t: 4, b: 3, f32>
func.func @recurrence(%a: !d, %b: !a) -> (!r, !xtensor.linear<(!r) -> (!d, !a)>) {
  %p, %back = xtensor.pullback at(%a, %b) wrt [0, 1] {
  ^bb0(%x0: !d, %x1: !a):
    %r = xtensor.recurrence %x0, %x1 along t : !d, !a
    xtensor.yield %r : !r
  } : (!d, !a) -> (!r, !xtensor.linear<(!r) -> (!d, !a)>)
  return %p, %back : !r, !xtensor.linear<(!r) -> (!d, !a)>
}

// LINEAR-LABEL: func.func @recurrence(
// LINEAR-SAME: %[[A:[a-z0-9]+]]:
// LINEAR-SAME: %[[B:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.recurrence %[[A]], %[[B]] along t
// LINEAR-NEXT: %[[V1:.+]] = xtensor.recurrence %[[A]], %[[B]] along t {exclusive}
// LINEAR-NEXT: %[[V2:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:{{.*}} %[[T1:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V3:.+]] = xtensor.mul %[[T0]], %[[V1]]
// LINEAR-NEXT: %[[V4:.+]] = xtensor.add %[[V3]], %[[T1]]
// LINEAR-NEXT: %[[V5:.+]] = xtensor.recurrence %[[A]], %[[V4]] along t
// LINEAR-NEXT: xtensor.yield %[[V5]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V6:.+]] = xtensor.transposed %[[V2]]
// LINEAR: return

// BACK-LABEL: func.func @recurrence(
// BACK-SAME: %[[A:[a-z0-9]+]]:
// BACK-SAME: %[[B:[a-z0-9]+]]:
// BACK-NEXT: %[[V0:.+]] = xtensor.recurrence %[[A]], %[[B]] along t
// BACK-NEXT: %[[V1:.+]] = xtensor.recurrence %[[A]], %[[B]] along t {exclusive}
// BACK-NEXT: %[[V2:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V3:.+]] = xtensor.recurrence %[[A]], %[[T0]] along t {late, reverse}
// BACK-NEXT: %[[V4:.+]] = xtensor.contract %[[V3]], %[[V1]] over [b]
// BACK-NEXT: xtensor.yield %[[V4]], %[[V3]]
// BACK-NEXT: }
// BACK: return
