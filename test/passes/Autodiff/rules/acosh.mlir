// d/da: rsqrt(a - 1) * rsqrt(a + 1)
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<a: 3, f32>
func.func @acosh(%a: !a) -> (!a, !xtensor.linear<(!a) -> !a>) {
  %p, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !a):
    %r = xtensor.acosh %x : !a
    xtensor.yield %r : !a
  } : (!a) -> (!a, !xtensor.linear<(!a) -> !a>)
  return %p, %back : !a, !xtensor.linear<(!a) -> !a>
}

// LINEAR-LABEL: func.func @acosh(
// LINEAR-SAME: %[[A:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.acosh %[[A]]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V2:.+]] = xtensor.sub %[[A]], %[[V1]]
// LINEAR-NEXT: %[[V3:.+]] = xtensor.rsqrt %[[V2]]
// LINEAR-NEXT: %[[V4:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V5:.+]] = xtensor.add %[[A]], %[[V4]]
// LINEAR-NEXT: %[[V6:.+]] = xtensor.rsqrt %[[V5]]
// LINEAR-NEXT: %[[V7:.+]] = xtensor.mul %[[V3]], %[[V6]]
// LINEAR-NEXT: %[[V8:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V9:.+]] = xtensor.mul %[[V7]], %[[T0]]
// LINEAR-NEXT: xtensor.yield %[[V9]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V10:.+]] = xtensor.transposed %[[V8]]
// LINEAR: return

// BACK-LABEL: func.func @acosh(
// BACK-SAME: %[[A:[a-z0-9]+]]:
// BACK: %[[V7:.+]] = xtensor.mul
// BACK: %[[V8:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V9:.+]] = xtensor.mul %[[T0]], %[[V7]]
// BACK-NEXT: xtensor.yield %[[V9]]
// BACK-NEXT: }
// BACK: return
