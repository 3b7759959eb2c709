// d/da: b
// d/db: -a
// both times 1 / (a * a + b * b)
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<a: 3, b: 2, f32>
!b = !xtensor.array<b: 2, f32>
func.func @atan2(%a: !a, %b: !b) -> (!a, !xtensor.linear<(!a) -> (!a, !b)>) {
  %p, %back = xtensor.pullback at(%a, %b) wrt [0, 1] {
  ^bb0(%x: !a, %y: !b):
    %r = xtensor.atan2 %x, %y : !a, !b
    xtensor.yield %r : !a
  } : (!a, !b) -> (!a, !xtensor.linear<(!a) -> (!a, !b)>)
  return %p, %back : !a, !xtensor.linear<(!a) -> (!a, !b)>
}

// LINEAR-LABEL: func.func @atan2(
// LINEAR-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.atan2 %[[A]], %[[B]]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.neg %[[A]]
// LINEAR-NEXT: %[[V2:.+]] = xtensor.mul %[[A]], %[[A]]
// LINEAR-NEXT: %[[V3:.+]] = xtensor.mul %[[B]], %[[B]]
// LINEAR-NEXT: %[[V4:.+]] = xtensor.add %[[V2]], %[[V3]]
// LINEAR-NEXT: %[[V5:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V6:.+]] = xtensor.div %[[V5]], %[[V4]]
// LINEAR-NEXT: %[[V7:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]: {{[^%]+}}, %[[T1:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V8:.+]] = xtensor.mul %[[T0]], %[[B]]
// LINEAR-NEXT: %[[V9:.+]] = xtensor.mul %[[V1]], %[[T1]]
// LINEAR-NEXT: %[[V10:.+]] = xtensor.add %[[V8]], %[[V9]]
// LINEAR-NEXT: %[[V11:.+]] = xtensor.mul %[[V6]], %[[V10]]
// LINEAR-NEXT: xtensor.yield %[[V11]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V12:.+]] = xtensor.transposed %[[V7]]
// LINEAR: return

// BACK-LABEL: func.func @atan2(
// BACK-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// BACK: %[[V1:.+]] = xtensor.neg
// BACK: %[[V6:.+]] = xtensor.div
// BACK: %[[V7:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V8:.+]] = xtensor.mul %[[T0]], %[[V6]]
// BACK-NEXT: %[[V9:.+]] = xtensor.contract %[[V8]], %[[V1]] over [a]
// BACK-NEXT: %[[V10:.+]] = xtensor.mul %[[V8]], %[[B]]
// BACK-NEXT: xtensor.yield %[[V10]], %[[V9]]
// BACK-NEXT: }
// BACK: return
