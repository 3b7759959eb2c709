// As of the maximum; before a step, the owner of the inclusive minimum counts.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<t: 4, b: 3, f32>
func.func @cumulative_min(%a: !a) -> (!a, !xtensor.linear<(!a) -> !a>) {
  %p, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x0: !a):
    %r = xtensor.cumulative min %x0 along t {exclusive} : !a
    xtensor.yield %r : !a
  } : (!a) -> (!a, !xtensor.linear<(!a) -> !a>)
  return %p, %back : !a, !xtensor.linear<(!a) -> !a>
}

// LINEAR-LABEL: func.func @cumulative_min(
// LINEAR-SAME: %[[A:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.cumulative min %[[A]] along t {exclusive}
// LINEAR-NEXT: %[[V1:.+]] = xtensor.cumulative min %[[A]] along t
// LINEAR-NEXT: %[[V2:.+]] = xtensor.compare eq %[[A]], %[[V1]]
// LINEAR-NEXT: %[[V3:.+]] = xtensor.isnan %[[A]]
// LINEAR-NEXT: %[[V4:.+]] = xtensor.or %[[V2]], %[[V3]]
// LINEAR-NEXT: %[[V5:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V6:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V7:.+]] = xtensor.select %[[V4]], %[[V6]], %[[V5]]
// LINEAR-NEXT: %[[V8:.+]] = xtensor.select %[[V4]], %[[V5]], %[[V6]]
// LINEAR-NEXT: %[[V9:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V10:.+]] = xtensor.mul %[[V8]], %[[T0]]
// LINEAR-NEXT: %[[V11:.+]] = xtensor.recurrence %[[V7]], %[[V10]] along t {exclusive}
// LINEAR-NEXT: xtensor.yield %[[V11]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V12:.+]] = xtensor.transposed %[[V9]]
// LINEAR: return

// BACK-LABEL: func.func @cumulative_min(
// BACK-SAME: %[[A:[a-z0-9]+]]:
// BACK-NEXT: %[[V0:.+]] = xtensor.cumulative min %[[A]] along t {exclusive}
// BACK-NEXT: %[[V1:.+]] = xtensor.cumulative min %[[A]] along t
// BACK-NEXT: %[[V2:.+]] = xtensor.compare eq %[[A]], %[[V1]]
// BACK-NEXT: %[[V3:.+]] = xtensor.isnan %[[A]]
// BACK-NEXT: %[[V4:.+]] = xtensor.or %[[V2]], %[[V3]]
// BACK-NEXT: %[[V5:.+]] = xtensor.constant dense<1.000000e+00>
// BACK-NEXT: %[[V6:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V7:.+]] = xtensor.select %[[V4]], %[[V6]], %[[V5]]
// BACK-NEXT: %[[V8:.+]] = xtensor.select %[[V4]], %[[V5]], %[[V6]]
// BACK-NEXT: %[[V9:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V10:.+]] = xtensor.recurrence %[[V7]], %[[T0]] along t {exclusive, reverse}
// BACK-NEXT: %[[V11:.+]] = xtensor.mul %[[V10]], %[[V8]]
// BACK-NEXT: xtensor.yield %[[V11]]
// BACK-NEXT: }
// BACK: return
