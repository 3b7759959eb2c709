// An owner cuts off the tangents before it, the others pass them on.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<t: 4, b: 3, f32>
func.func @cumulative_max(%a: !a) -> (!a, !xtensor.linear<(!a) -> !a>) {
  %p, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x0: !a):
    %r = xtensor.cumulative max %x0 along t {reverse} : !a
    xtensor.yield %r : !a
  } : (!a) -> (!a, !xtensor.linear<(!a) -> !a>)
  return %p, %back : !a, !xtensor.linear<(!a) -> !a>
}

// LINEAR-LABEL: func.func @cumulative_max(
// LINEAR-SAME: %[[A:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.cumulative max %[[A]] along t {reverse}
// LINEAR-NEXT: %[[V1:.+]] = xtensor.compare eq %[[A]], %[[V0]]
// LINEAR-NEXT: %[[V2:.+]] = xtensor.isnan %[[A]]
// LINEAR-NEXT: %[[V3:.+]] = xtensor.or %[[V1]], %[[V2]]
// LINEAR-NEXT: %[[V4:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V5:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V6:.+]] = xtensor.select %[[V3]], %[[V5]], %[[V4]]
// LINEAR-NEXT: %[[V7:.+]] = xtensor.select %[[V3]], %[[V4]], %[[V5]]
// LINEAR-NEXT: %[[V8:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V9:.+]] = xtensor.mul %[[V7]], %[[T0]]
// LINEAR-NEXT: %[[V10:.+]] = xtensor.recurrence %[[V6]], %[[V9]] along t {reverse}
// LINEAR-NEXT: xtensor.yield %[[V10]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V11:.+]] = xtensor.transposed %[[V8]]
// LINEAR: return

// BACK-LABEL: func.func @cumulative_max(
// BACK-SAME: %[[A:[a-z0-9]+]]:
// BACK-NEXT: %[[V0:.+]] = xtensor.cumulative max %[[A]] along t {reverse}
// BACK-NEXT: %[[V1:.+]] = xtensor.compare eq %[[A]], %[[V0]]
// BACK-NEXT: %[[V2:.+]] = xtensor.isnan %[[A]]
// BACK-NEXT: %[[V3:.+]] = xtensor.or %[[V1]], %[[V2]]
// BACK-NEXT: %[[V4:.+]] = xtensor.constant dense<1.000000e+00>
// BACK-NEXT: %[[V5:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V6:.+]] = xtensor.select %[[V3]], %[[V5]], %[[V4]]
// BACK-NEXT: %[[V7:.+]] = xtensor.select %[[V3]], %[[V4]], %[[V5]]
// BACK-NEXT: %[[V8:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V9:.+]] = xtensor.recurrence %[[V6]], %[[T0]] along t {late}
// BACK-NEXT: %[[V10:.+]] = xtensor.mul %[[V9]], %[[V7]]
// BACK-NEXT: xtensor.yield %[[V10]]
// BACK-NEXT: }
// BACK: return
