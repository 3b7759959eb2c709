// d/da: 1 - y * y
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<a: 3, f32>
func.func @tanh(%a: !a) -> (!a, !xtensor.linear<(!a) -> !a>) {
  %p, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !a):
    %r = xtensor.tanh %x : !a
    xtensor.yield %r : !a
  } : (!a) -> (!a, !xtensor.linear<(!a) -> !a>)
  return %p, %back : !a, !xtensor.linear<(!a) -> !a>
}

// LINEAR-LABEL: func.func @tanh(
// LINEAR-SAME: %[[A:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.tanh %[[A]]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.mul %[[V0]], %[[V0]]
// LINEAR-NEXT: %[[V2:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V3:.+]] = xtensor.sub %[[V2]], %[[V1]]
// LINEAR-NEXT: %[[V4:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V5:.+]] = xtensor.mul %[[V3]], %[[T0]]
// LINEAR-NEXT: xtensor.yield %[[V5]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V6:.+]] = xtensor.transposed %[[V4]]
// LINEAR: return

// BACK-LABEL: func.func @tanh(
// BACK-SAME: %[[A:[a-z0-9]+]]:
// BACK: %[[V3:.+]] = xtensor.sub
// BACK: %[[V4:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V5:.+]] = xtensor.mul %[[T0]], %[[V3]]
// BACK-NEXT: xtensor.yield %[[V5]]
// BACK-NEXT: }
// BACK: return
