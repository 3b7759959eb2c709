// Slice; the value gets the sum of the rest.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<a: 3, f32>
!b = !xtensor.array<f32>
!r = !xtensor.array<a: 8, f32>
func.func @pad(%a: !a, %b: !b) -> (!r, !xtensor.linear<(!r) -> (!a, !b)>) {
  %p, %back = xtensor.pullback at(%a, %b) wrt [0, 1] {
  ^bb0(%x: !a, %y: !b):
    %r = xtensor.pad %x with %y [a] low [1] high [2] interior [1] : !a, !b
    xtensor.yield %r : !r
  } : (!a, !b) -> (!r, !xtensor.linear<(!r) -> (!a, !b)>)
  return %p, %back : !r, !xtensor.linear<(!r) -> (!a, !b)>
}

// LINEAR-LABEL: func.func @pad(
// LINEAR-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.pad %[[A]] with %[[B]] [a] low [1] high [2] interior [1]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]: {{[^%]+}}, %[[T1:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V2:.+]] = xtensor.pad %[[T0]] with %[[T1]] [a] low [1] high [2] interior [1]
// LINEAR-NEXT: xtensor.yield %[[V2]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V3:.+]] = xtensor.transposed %[[V1]]
// LINEAR: return

// BACK-LABEL: func.func @pad(
// BACK-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// BACK: %[[V1:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V2:.+]] = xtensor.slice %[[T0]] [a] offsets [1] sizes [3] strides [2]
// BACK-NEXT: %[[V3:.+]] = xtensor.constant dense<false>
// BACK-NEXT: %[[V4:.+]] = xtensor.broadcast %[[V3]] : (!xtensor.array<i1>) -> !xtensor.array<a: 3, i1>
// BACK-NEXT: %[[V5:.+]] = xtensor.constant dense<true>
// BACK-NEXT: %[[V6:.+]] = xtensor.pad %[[V4]] with %[[V5]] [a] low [1] high [2] interior [1]
// BACK-NEXT: %[[V7:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V8:.+]] = xtensor.select %[[V6]], %[[T0]], %[[V7]]
// BACK-NEXT: %[[V9:.+]] = xtensor.reduce sum %[[V8]] over [a]
// BACK-NEXT: xtensor.yield %[[V2]], %[[V9]]
// BACK-NEXT: }
// BACK: return
