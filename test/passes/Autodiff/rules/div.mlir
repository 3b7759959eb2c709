// d/da: 1
// d/db: -y
// both times 1 / b
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<a: 3, b: 2, f32>
!b = !xtensor.array<b: 2, f32>
func.func @div(%a: !a, %b: !b) -> (!a, !xtensor.linear<(!a) -> (!a, !b)>) {
  %p, %back = xtensor.pullback at(%a, %b) wrt [0, 1] {
  ^bb0(%x: !a, %y: !b):
    %r = xtensor.div %x, %y : !a, !b
    xtensor.yield %r : !a
  } : (!a, !b) -> (!a, !xtensor.linear<(!a) -> (!a, !b)>)
  return %p, %back : !a, !xtensor.linear<(!a) -> (!a, !b)>
}

// LINEAR-LABEL: func.func @div(
// LINEAR-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.div %[[A]], %[[B]]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.neg %[[V0]]
// LINEAR-NEXT: %[[V2:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V3:.+]] = xtensor.div %[[V2]], %[[B]]
// LINEAR-NEXT: %[[V4:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]: {{[^%]+}}, %[[T1:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V5:.+]] = xtensor.mul %[[V1]], %[[T1]]
// LINEAR-NEXT: %[[V6:.+]] = xtensor.add %[[T0]], %[[V5]]
// LINEAR-NEXT: %[[V7:.+]] = xtensor.mul %[[V6]], %[[V3]]
// LINEAR-NEXT: xtensor.yield %[[V7]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V8:.+]] = xtensor.transposed %[[V4]]
// LINEAR: return

// BACK-LABEL: func.func @div(
// BACK-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// BACK: xtensor.div
// BACK: %[[V1:.+]] = xtensor.neg
// BACK: %[[V3:.+]] = xtensor.div
// BACK: %[[V4:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V5:.+]] = xtensor.mul %[[T0]], %[[V3]]
// BACK-NEXT: %[[V6:.+]] = xtensor.contract %[[V5]], %[[V1]] over [a]
// BACK-NEXT: xtensor.yield %[[V5]], %[[V6]]
// BACK-NEXT: }
// BACK: return
