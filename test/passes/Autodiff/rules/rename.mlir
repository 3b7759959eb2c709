// Names back, swapped ones too.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<a: 3, b: 3, f32>
!r = !xtensor.array<b: 3, a: 3, f32>
func.func @rename(%a: !a) -> (!r, !xtensor.linear<(!r) -> !a>) {
  %p, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !a):
    %r = xtensor.rename %x [a, b] to [b, a] : !a
    xtensor.yield %r : !r
  } : (!a) -> (!r, !xtensor.linear<(!r) -> !a>)
  return %p, %back : !r, !xtensor.linear<(!r) -> !a>
}

// LINEAR-LABEL: func.func @rename(
// LINEAR-SAME: %[[A:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.rename %[[A]] [a, b] to [b, a]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V2:.+]] = xtensor.rename %[[T0]] [a, b] to [b, a]
// LINEAR-NEXT: xtensor.yield %[[V2]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V3:.+]] = xtensor.transposed %[[V1]]
// LINEAR: return

// BACK-LABEL: func.func @rename(
// BACK-SAME: %[[A:[a-z0-9]+]]:
// BACK: %[[V1:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V2:.+]] = xtensor.rename %[[T0]] [b, a] to [a, b]
// BACK-NEXT: xtensor.yield %[[V2]]
// BACK-NEXT: }
// BACK: return
