// d/da: -kTwoOverSqrtPi * exp(-(a * a))
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<a: 3, f32>
func.func @erfc(%a: !a) -> (!a, !xtensor.linear<(!a) -> !a>) {
  %p, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !a):
    %r = xtensor.erfc %x : !a
    xtensor.yield %r : !a
  } : (!a) -> (!a, !xtensor.linear<(!a) -> !a>)
  return %p, %back : !a, !xtensor.linear<(!a) -> !a>
}

// LINEAR-LABEL: func.func @erfc(
// LINEAR-SAME: %[[A:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.erfc %[[A]]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.mul %[[A]], %[[A]]
// LINEAR-NEXT: %[[V2:.+]] = xtensor.neg %[[V1]]
// LINEAR-NEXT: %[[V3:.+]] = xtensor.exp %[[V2]]
// LINEAR-NEXT: %[[V4:.+]] = xtensor.constant dense<-1.12837923>
// LINEAR-NEXT: %[[V5:.+]] = xtensor.mul %[[V4]], %[[V3]]
// LINEAR-NEXT: %[[V6:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V7:.+]] = xtensor.mul %[[V5]], %[[T0]]
// LINEAR-NEXT: xtensor.yield %[[V7]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V8:.+]] = xtensor.transposed %[[V6]]
// LINEAR: return

// BACK-LABEL: func.func @erfc(
// BACK-SAME: %[[A:[a-z0-9]+]]:
// BACK: xtensor.mul
// BACK: %[[V5:.+]] = xtensor.mul
// BACK: %[[V6:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V7:.+]] = xtensor.mul %[[T0]], %[[V5]]
// BACK-NEXT: xtensor.yield %[[V7]]
// BACK-NEXT: }
// BACK: return
