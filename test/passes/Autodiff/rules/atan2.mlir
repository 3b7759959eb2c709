// d/da: b * overLarger(a, b)
// d/db: -a * overLarger(a, b)
// both times slopeOfAngle(a, b, overLarger(a, b))
// The reciprocal of the larger magnitude keeps the squares within the range of floats.
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
// LINEAR: %[[V1:.+]] = xtensor.stop_gradient
// LINEAR-NEXT: %[[V2:.+]] = xtensor.mul %[[B]], %[[V1]]
// LINEAR-NEXT: %[[V3:.+]] = xtensor.neg %[[A]]
// LINEAR: %[[V4:.+]] = xtensor.stop_gradient
// LINEAR-NEXT: %[[V5:.+]] = xtensor.mul %[[V3]], %[[V4]]
// LINEAR: %[[LESS:.+]] = xtensor.compare lt
// LINEAR-NEXT: %[[LARGER:.+]] = xtensor.select %[[LESS]]
// LINEAR-NEXT: %[[ONE:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[OVER:.+]] = xtensor.div %[[ONE]], %[[LARGER]]
// LINEAR: %[[FINITE:.+]] = xtensor.select {{.+}}, %[[OVER]]
// LINEAR-NEXT: %[[V6:.+]] = xtensor.stop_gradient %[[FINITE]]
// LINEAR-NEXT: %[[X:.+]] = xtensor.mul %[[A]], %[[V6]]
// LINEAR-NEXT: %[[Y:.+]] = xtensor.mul %[[B]], %[[V6]]
// LINEAR-NEXT: %[[V7:.+]] = xtensor.mul %[[X]], %[[X]]
// LINEAR-NEXT: %[[V8:.+]] = xtensor.mul %[[Y]], %[[Y]]
// LINEAR-NEXT: %[[V9:.+]] = xtensor.add %[[V7]], %[[V8]]
// LINEAR-NEXT: %[[V10:.+]] = xtensor.div %[[V6]], %[[V9]]
// LINEAR-NEXT: %[[V11:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]: {{[^%]+}}, %[[T1:[a-z0-9]+]]:
// LINEAR-NEXT: %[[S0:.+]] = xtensor.mul %[[T0]], %[[V2]]
// LINEAR-NEXT: %[[S1:.+]] = xtensor.mul %[[V5]], %[[T1]]
// LINEAR-NEXT: %[[S2:.+]] = xtensor.add %[[S0]], %[[S1]]
// LINEAR-NEXT: %[[S3:.+]] = xtensor.mul %[[V10]], %[[S2]]
// LINEAR-NEXT: xtensor.yield %[[S3]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V12:.+]] = xtensor.transposed %[[V11]]
// LINEAR: return

// BACK-LABEL: func.func @atan2(
// BACK-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// BACK: stop_gradient
// BACK-NEXT: %[[V2:.+]] = xtensor.mul %[[B]]
// BACK: %[[V3:.+]] = xtensor.neg %[[A]]
// BACK: stop_gradient
// BACK-NEXT: %[[V5:.+]] = xtensor.mul %[[V3]]
// BACK: %[[V9:.+]] = xtensor.add
// BACK-NEXT: %[[V10:.+]] = xtensor.div {{.+}}, %[[V9]]
// BACK-NEXT: %[[V11:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[S0:.+]] = xtensor.mul %[[T0]], %[[V10]]
// BACK-NEXT: %[[S1:.+]] = xtensor.contract %[[S0]], %[[V5]] over [a]
// BACK-NEXT: %[[S2:.+]] = xtensor.mul %[[S0]], %[[V2]]
// BACK-NEXT: xtensor.yield %[[S2]], %[[S1]]
// BACK-NEXT: }
// BACK: return
