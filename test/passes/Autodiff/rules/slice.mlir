// Pad with zeros where nothing was read, between as well.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<a: 7, f32>
!r = !xtensor.array<a: 2, f32>
func.func @slice(%a: !a) -> (!r, !xtensor.linear<(!r) -> !a>) {
  %p, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !a):
    %r = xtensor.slice %x [a] offsets [1] sizes [2] strides [3] : !a
    xtensor.yield %r : !r
  } : (!a) -> (!r, !xtensor.linear<(!r) -> !a>)
  return %p, %back : !r, !xtensor.linear<(!r) -> !a>
}

// LINEAR-LABEL: func.func @slice(
// LINEAR-SAME: %[[A:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.slice %[[A]] [a] offsets [1] sizes [2] strides [3]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V2:.+]] = xtensor.slice %[[T0]] [a] offsets [1] sizes [2] strides [3]
// LINEAR-NEXT: xtensor.yield %[[V2]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V3:.+]] = xtensor.transposed %[[V1]]
// LINEAR: return

// BACK-LABEL: func.func @slice(
// BACK-SAME: %[[A:[a-z0-9]+]]:
// BACK: %[[V1:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V2:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V3:.+]] = xtensor.pad %[[T0]] with %[[V2]] [a] low [1] high [2] interior [2]
// BACK-NEXT: xtensor.yield %[[V3]]
// BACK-NEXT: }
// BACK: return
