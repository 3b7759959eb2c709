// Sum.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<a: 3, f32>
!r = !xtensor.array<b: 2, a: 3, f32>
func.func @broadcast(%a: !a) -> (!r, !xtensor.linear<(!r) -> !a>) {
  %p, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !a):
    %r = xtensor.broadcast %x : (!a) -> !r
    xtensor.yield %r : !r
  } : (!a) -> (!r, !xtensor.linear<(!r) -> !a>)
  return %p, %back : !r, !xtensor.linear<(!r) -> !a>
}

// LINEAR-LABEL: func.func @broadcast(
// LINEAR-SAME: %[[A:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.broadcast %[[A]] : (!xtensor.array<a: 3, f32>) -> !xtensor.array<b: 2, a: 3, f32>
// LINEAR-NEXT: %[[V1:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V2:.+]] = xtensor.broadcast %[[T0]] : (!xtensor.array<a: 3, f32>) -> !xtensor.array<b: 2, a: 3, f32>
// LINEAR-NEXT: xtensor.yield %[[V2]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V3:.+]] = xtensor.transposed %[[V1]]
// LINEAR: return

// BACK-LABEL: func.func @broadcast(
// BACK-SAME: %[[A:[a-z0-9]+]]:
// BACK: %[[V1:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V2:.+]] = xtensor.reduce sum %[[T0]] over [b]
// BACK-NEXT: xtensor.yield %[[V2]]
// BACK-NEXT: }
// BACK: return
