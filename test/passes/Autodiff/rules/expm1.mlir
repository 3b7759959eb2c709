// d/da: exp(a)
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<a: 3, f32>
func.func @expm1(%a: !a) -> (!a, !xtensor.linear<(!a) -> !a>) {
  %p, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !a):
    %r = xtensor.expm1 %x : !a
    xtensor.yield %r : !a
  } : (!a) -> (!a, !xtensor.linear<(!a) -> !a>)
  return %p, %back : !a, !xtensor.linear<(!a) -> !a>
}

// LINEAR-LABEL: func.func @expm1(
// LINEAR-SAME: %[[A:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.expm1 %[[A]]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.exp %[[A]]
// LINEAR-NEXT: %[[V2:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V3:.+]] = xtensor.mul %[[V1]], %[[T0]]
// LINEAR-NEXT: xtensor.yield %[[V3]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V4:.+]] = xtensor.transposed %[[V2]]
// LINEAR: return

// BACK-LABEL: func.func @expm1(
// BACK-SAME: %[[A:[a-z0-9]+]]:
// BACK: %[[V1:.+]] = xtensor.exp %[[A]]
// BACK: %[[V2:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V3:.+]] = xtensor.mul %[[T0]], %[[V1]]
// BACK-NEXT: xtensor.yield %[[V3]]
// BACK-NEXT: }
// BACK: return
