// d/da: sign(a) * copysign(1, b)
// d/db: 0
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<a: 3, b: 2, f32>
!b = !xtensor.array<b: 2, f32>
func.func @copysign(%a: !a, %b: !b) -> (!a, !xtensor.linear<(!a) -> (!a, !b)>) {
  %p, %back = xtensor.pullback at(%a, %b) wrt [0, 1] {
  ^bb0(%x: !a, %y: !b):
    %r = xtensor.copysign %x, %y : !a, !b
    xtensor.yield %r : !a
  } : (!a, !b) -> (!a, !xtensor.linear<(!a) -> (!a, !b)>)
  return %p, %back : !a, !xtensor.linear<(!a) -> (!a, !b)>
}

// LINEAR-LABEL: func.func @copysign(
// LINEAR-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.copysign %[[A]], %[[B]]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.sign %[[A]]
// LINEAR-NEXT: %[[V2:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V3:.+]] = xtensor.copysign %[[V2]], %[[B]]
// LINEAR-NEXT: %[[V4:.+]] = xtensor.mul %[[V1]], %[[V3]]
// LINEAR-NEXT: %[[V5:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]: {{[^%]+}}, %[[T1:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V6:.+]] = xtensor.mul %[[V4]], %[[T0]]
// LINEAR-NEXT: xtensor.yield %[[V6]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V7:.+]] = xtensor.transposed %[[V5]]
// LINEAR: return

// BACK-LABEL: func.func @copysign(
// BACK-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// BACK: %[[V4:.+]] = xtensor.mul
// BACK: %[[V5:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V6:.+]] = xtensor.mul %[[T0]], %[[V4]]
// BACK-NEXT: %[[V7:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V8:.+]] = xtensor.broadcast %[[V7]] : (!xtensor.array<f32>) -> !xtensor.array<b: 2, f32>
// BACK-NEXT: xtensor.yield %[[V6]], %[[V8]]
// BACK-NEXT: }
// BACK: return
