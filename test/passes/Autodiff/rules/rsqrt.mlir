// d/da: -0.5 * (y * y * y)
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<a: 3, f32>
func.func @rsqrt(%a: !a) -> (!a, !xtensor.linear<(!a) -> !a>) {
  %p, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !a):
    %r = xtensor.rsqrt %x : !a
    xtensor.yield %r : !a
  } : (!a) -> (!a, !xtensor.linear<(!a) -> !a>)
  return %p, %back : !a, !xtensor.linear<(!a) -> !a>
}

// LINEAR-LABEL: func.func @rsqrt(
// LINEAR-SAME: %[[A:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.rsqrt %[[A]]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.mul %[[V0]], %[[V0]]
// LINEAR-NEXT: %[[V2:.+]] = xtensor.mul %[[V1]], %[[V0]]
// LINEAR-NEXT: %[[V3:.+]] = xtensor.constant dense<-5.000000e-01>
// LINEAR-NEXT: %[[V4:.+]] = xtensor.mul %[[V3]], %[[V2]]
// LINEAR-NEXT: %[[V5:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V6:.+]] = xtensor.mul %[[V4]], %[[T0]]
// LINEAR-NEXT: xtensor.yield %[[V6]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V7:.+]] = xtensor.transposed %[[V5]]
// LINEAR: return

// BACK-LABEL: func.func @rsqrt(
// BACK-SAME: %[[A:[a-z0-9]+]]:
// BACK: xtensor.mul
// BACK: xtensor.mul
// BACK: %[[V4:.+]] = xtensor.mul
// BACK: %[[V5:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V6:.+]] = xtensor.mul %[[T0]], %[[V4]]
// BACK-NEXT: xtensor.yield %[[V6]]
// BACK-NEXT: }
// BACK: return
