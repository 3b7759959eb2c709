// d/da: rsqrt(oneMinusSquare(a))
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<a: 3, f32>
func.func @asin(%a: !a) -> (!a, !xtensor.linear<(!a) -> !a>) {
  %p, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !a):
    %r = xtensor.asin %x : !a
    xtensor.yield %r : !a
  } : (!a) -> (!a, !xtensor.linear<(!a) -> !a>)
  return %p, %back : !a, !xtensor.linear<(!a) -> !a>
}

// LINEAR-LABEL: func.func @asin(
// LINEAR-SAME: %[[A:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.asin %[[A]]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.mul %[[A]], %[[A]]
// LINEAR-NEXT: %[[V2:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V3:.+]] = xtensor.sub %[[V2]], %[[V1]]
// LINEAR-NEXT: %[[V4:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V5:.+]] = xtensor.sub %[[V4]], %[[A]]
// LINEAR-NEXT: %[[V6:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V7:.+]] = xtensor.add %[[V6]], %[[A]]
// LINEAR-NEXT: %[[V8:.+]] = xtensor.mul %[[V5]], %[[V7]]
// LINEAR-NEXT: %[[V9:.+]] = xtensor.sub %[[V8]], %[[V3]]
// LINEAR-NEXT: %[[V10:.+]] = xtensor.stop_gradient %[[V9]]
// LINEAR-NEXT: %[[V11:.+]] = xtensor.add %[[V3]], %[[V10]]
// LINEAR-NEXT: %[[V12:.+]] = xtensor.rsqrt %[[V11]]
// LINEAR-NEXT: %[[V13:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V14:.+]] = xtensor.mul %[[V12]], %[[T0]]
// LINEAR-NEXT: xtensor.yield %[[V14]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V15:.+]] = xtensor.transposed %[[V13]]
// LINEAR: return

// BACK-LABEL: func.func @asin(
// BACK-SAME: %[[A:[a-z0-9]+]]:
// BACK: %[[V12:.+]] = xtensor.rsqrt
// BACK: %[[V13:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V14:.+]] = xtensor.mul %[[T0]], %[[V12]]
// BACK-NEXT: xtensor.yield %[[V14]]
// BACK-NEXT: }
// BACK: return
