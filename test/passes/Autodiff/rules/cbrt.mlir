// d/da: 1 / y / (3 * y)
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<a: 3, f32>
func.func @cbrt(%a: !a) -> (!a, !xtensor.linear<(!a) -> !a>) {
  %p, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !a):
    %r = xtensor.cbrt %x : !a
    xtensor.yield %r : !a
  } : (!a) -> (!a, !xtensor.linear<(!a) -> !a>)
  return %p, %back : !a, !xtensor.linear<(!a) -> !a>
}

// LINEAR-LABEL: func.func @cbrt(
// LINEAR-SAME: %[[A:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.cbrt %[[A]]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V2:.+]] = xtensor.div %[[V1]], %[[V0]]
// LINEAR-NEXT: %[[V3:.+]] = xtensor.constant dense<3.000000e+00>
// LINEAR-NEXT: %[[V4:.+]] = xtensor.mul %[[V3]], %[[V0]]
// LINEAR-NEXT: %[[V5:.+]] = xtensor.div %[[V2]], %[[V4]]
// LINEAR-NEXT: %[[V6:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V7:.+]] = xtensor.mul %[[V5]], %[[T0]]
// LINEAR-NEXT: xtensor.yield %[[V7]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V8:.+]] = xtensor.transposed %[[V6]]
// LINEAR: return

// BACK-LABEL: func.func @cbrt(
// BACK-SAME: %[[A:[a-z0-9]+]]:
// BACK: %[[V2:.+]] = xtensor.div
// BACK: %[[V5:.+]] = xtensor.div
// BACK: %[[V6:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V7:.+]] = xtensor.mul %[[T0]], %[[V5]]
// BACK-NEXT: xtensor.yield %[[V7]]
// BACK-NEXT: }
// BACK: return
