// d/da: 1 / (1 + a)
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<a: 3, f32>
func.func @log1p(%a: !a) -> (!a, !xtensor.linear<(!a) -> !a>) {
  %p, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !a):
    %r = xtensor.log1p %x : !a
    xtensor.yield %r : !a
  } : (!a) -> (!a, !xtensor.linear<(!a) -> !a>)
  return %p, %back : !a, !xtensor.linear<(!a) -> !a>
}

// LINEAR-LABEL: func.func @log1p(
// LINEAR-SAME: %[[A:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.log1p %[[A]]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V2:.+]] = xtensor.add %[[V1]], %[[A]]
// LINEAR-NEXT: %[[V3:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V4:.+]] = xtensor.div %[[V3]], %[[V2]]
// LINEAR-NEXT: %[[V5:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V6:.+]] = xtensor.mul %[[V4]], %[[T0]]
// LINEAR-NEXT: xtensor.yield %[[V6]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V7:.+]] = xtensor.transposed %[[V5]]
// LINEAR: return

// BACK-LABEL: func.func @log1p(
// BACK-SAME: %[[A:[a-z0-9]+]]:
// BACK: %[[V4:.+]] = xtensor.div
// BACK: %[[V5:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V6:.+]] = xtensor.mul %[[T0]], %[[V4]]
// BACK-NEXT: xtensor.yield %[[V6]]
// BACK-NEXT: }
// BACK: return
