// Each branch gets what was chosen of it, a zero elsewhere.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<a: 3, i1>
!b = !xtensor.array<a: 3, b: 2, f32>
!c = !xtensor.array<b: 2, f32>
func.func @select(%a: !a, %b: !b, %c: !c) -> (!b, !xtensor.linear<(!b) -> (!b, !c)>) {
  %p, %back = xtensor.pullback at(%a, %b, %c) wrt [1, 2] {
  ^bb0(%x: !a, %y: !b, %z: !c):
    %r = xtensor.select %x, %y, %z : !a, !b, !c
    xtensor.yield %r : !b
  } : (!a, !b, !c) -> (!b, !xtensor.linear<(!b) -> (!b, !c)>)
  return %p, %back : !b, !xtensor.linear<(!b) -> (!b, !c)>
}

// LINEAR-LABEL: func.func @select(
// LINEAR-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]: {{[^%]+}}, %[[C:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.select %[[A]], %[[B]], %[[C]]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]: {{[^%]+}}, %[[T1:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V2:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V3:.+]] = xtensor.select %[[A]], %[[T0]], %[[T1]]
// LINEAR-NEXT: xtensor.yield %[[V3]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V4:.+]] = xtensor.transposed %[[V1]]
// LINEAR: return

// BACK-LABEL: func.func @select(
// BACK-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]: {{[^%]+}}, %[[C:[a-z0-9]+]]:
// BACK: %[[V1:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V2:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V3:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V4:.+]] = xtensor.select %[[A]], %[[T0]], %[[V3]]
// BACK-NEXT: %[[V5:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V6:.+]] = xtensor.select %[[A]], %[[V5]], %[[T0]]
// BACK-NEXT: %[[V7:.+]] = xtensor.reduce sum %[[V6]] over [a]
// BACK-NEXT: xtensor.yield %[[V4]], %[[V7]]
// BACK-NEXT: }
// BACK: return
