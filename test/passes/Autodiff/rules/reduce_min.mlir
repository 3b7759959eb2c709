// Evenly to the owners; a NaN owns.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<a: 3, f32>
!r = !xtensor.array<f32>
func.func @reduce_min(%a: !a) -> (!r, !xtensor.linear<(!r) -> !a>) {
  %p, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !a):
    %r = xtensor.reduce min %x over [a] : !a
    xtensor.yield %r : !r
  } : (!a) -> (!r, !xtensor.linear<(!r) -> !a>)
  return %p, %back : !r, !xtensor.linear<(!r) -> !a>
}

// LINEAR-LABEL: func.func @reduce_min(
// LINEAR-SAME: %[[A:[a-z0-9]+]]:
// LINEAR-NEXT: %[[ONE:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V0:.+]] = xtensor.reduce min %[[A]] over [a]
// LINEAR-NEXT: %[[V3:.+]] = xtensor.compare eq %[[A]], %[[V0]]
// LINEAR-NEXT: %[[V4:.+]] = xtensor.isnan %[[A]]
// LINEAR-NEXT: %[[V5:.+]] = xtensor.or %[[V3]], %[[V4]]
// LINEAR-NEXT: %[[ZERO:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V6:.+]] = xtensor.select %[[V5]], %[[ONE]], %[[ZERO]]
// LINEAR-NEXT: %[[V7:.+]] = xtensor.reduce sum %[[V6]] over [a]
// LINEAR-NEXT: %[[V8:.+]] = xtensor.div %[[ONE]], %[[V7]]
// LINEAR-NEXT: %[[V9:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[Z:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V10:.+]] = xtensor.select %[[V5]], %[[T0]], %[[Z]]
// LINEAR-NEXT: %[[V11:.+]] = xtensor.reduce sum %[[V10]] over [a]
// LINEAR-NEXT: %[[V12:.+]] = xtensor.mul %[[V8]], %[[V11]]
// LINEAR-NEXT: xtensor.yield %[[V12]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V13:.+]] = xtensor.transposed %[[V9]]
// LINEAR: return

// BACK-LABEL: func.func @reduce_min(
// BACK-SAME: %[[A:[a-z0-9]+]]:
// BACK: %[[V5:.+]] = xtensor.or
// BACK: %[[V8:.+]] = xtensor.div
// BACK: %[[V9:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK: %[[V10:.+]] = xtensor.mul %[[T0]], %[[V8]]
// BACK-NEXT: %[[V11:.+]] = xtensor.broadcast %[[V10]]
// BACK-NEXT: %[[Z:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V12:.+]] = xtensor.select %[[V5]], %[[V11]], %[[Z]]
// BACK-NEXT: xtensor.yield %[[V12]]
// BACK-NEXT: }
// BACK: return
