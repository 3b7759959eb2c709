// Broadcast to the dim of size 1.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<a: 3, b: 1, f32>
!r = !xtensor.array<a: 3, f32>
func.func @squeeze(%a: !a) -> (!r, !xtensor.linear<(!r) -> !a>) {
  %p, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !a):
    %r = xtensor.squeeze %x [b] : !a
    xtensor.yield %r : !r
  } : (!a) -> (!r, !xtensor.linear<(!r) -> !a>)
  return %p, %back : !r, !xtensor.linear<(!r) -> !a>
}

// LINEAR-LABEL: func.func @squeeze(
// LINEAR-SAME: %[[A:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.squeeze %[[A]] [b]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V2:.+]] = xtensor.squeeze %[[T0]] [b]
// LINEAR-NEXT: xtensor.yield %[[V2]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V3:.+]] = xtensor.transposed %[[V1]]
// LINEAR: return

// BACK-LABEL: func.func @squeeze(
// BACK-SAME: %[[A:[a-z0-9]+]]:
// BACK: %[[V1:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V2:.+]] = xtensor.broadcast %[[T0]] : (!xtensor.array<a: 3, f32>) -> !xtensor.array<a: 3, b: 1, f32>
// BACK-NEXT: xtensor.yield %[[V2]]
// BACK-NEXT: }
// BACK: return
