// d/da: b * pow(a, where(both(equal(a, 0), equal(b, 0)), 1, b - 1))
// d/db: scale(y, log(where(equal(a, 0), 1, a)))
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<a: 3, b: 2, f32>
!b = !xtensor.array<b: 2, f32>
func.func @pow(%a: !a, %b: !b) -> (!a, !xtensor.linear<(!a) -> (!a, !b)>) {
  %p, %back = xtensor.pullback at(%a, %b) wrt [0, 1] {
  ^bb0(%x: !a, %y: !b):
    %r = xtensor.pow %x, %y : !a, !b
    xtensor.yield %r : !a
  } : (!a, !b) -> (!a, !xtensor.linear<(!a) -> (!a, !b)>)
  return %p, %back : !a, !xtensor.linear<(!a) -> (!a, !b)>
}

// LINEAR-LABEL: func.func @pow(
// LINEAR-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.pow %[[A]], %[[B]]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V2:.+]] = xtensor.compare eq %[[A]], %[[V1]]
// LINEAR-NEXT: %[[V3:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V4:.+]] = xtensor.compare eq %[[B]], %[[V3]]
// LINEAR-NEXT: %[[V5:.+]] = xtensor.and %[[V2]], %[[V4]]
// LINEAR-NEXT: %[[V6:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V7:.+]] = xtensor.sub %[[B]], %[[V6]]
// LINEAR-NEXT: %[[V8:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V9:.+]] = xtensor.select %[[V5]], %[[V8]], %[[V7]]
// LINEAR-NEXT: %[[V10:.+]] = xtensor.pow %[[A]], %[[V9]]
// LINEAR-NEXT: %[[V11:.+]] = xtensor.mul %[[B]], %[[V10]]
// LINEAR-NEXT: %[[V12:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V13:.+]] = xtensor.compare eq %[[A]], %[[V12]]
// LINEAR-NEXT: %[[V14:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V15:.+]] = xtensor.select %[[V13]], %[[V14]], %[[A]]
// LINEAR-NEXT: %[[V16:.+]] = xtensor.log %[[V15]]
// LINEAR-NEXT: %[[V17:.+]] = xtensor.scale %[[V0]], %[[V16]]
// LINEAR-NEXT: %[[V18:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]: {{[^%]+}}, %[[T1:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V19:.+]] = xtensor.mul %[[T0]], %[[V11]]
// LINEAR-NEXT: %[[V20:.+]] = xtensor.mul %[[V17]], %[[T1]]
// LINEAR-NEXT: %[[V21:.+]] = xtensor.add %[[V19]], %[[V20]]
// LINEAR-NEXT: xtensor.yield %[[V21]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V22:.+]] = xtensor.transposed %[[V18]]
// LINEAR: return

// BACK-LABEL: func.func @pow(
// BACK-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// BACK: %[[V11:.+]] = xtensor.mul
// BACK: %[[V17:.+]] = xtensor.scale
// BACK: %[[V18:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V19:.+]] = xtensor.contract %[[T0]], %[[V17]] over [a]
// BACK-NEXT: %[[V20:.+]] = xtensor.mul %[[T0]], %[[V11]]
// BACK-NEXT: xtensor.yield %[[V20]], %[[V19]]
// BACK-NEXT: }
// BACK: return
