// Evenly to the owners; a NaN owns.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<a: 3, f32>
!r = !xtensor.array<f32>
func.func @reduce_max(%a: !a) -> (!r, !xtensor.linear<(!r) -> !a>) {
  %p, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !a):
    %r = xtensor.reduce max %x over [a] : !a
    xtensor.yield %r : !r
  } : (!a) -> (!r, !xtensor.linear<(!r) -> !a>)
  return %p, %back : !r, !xtensor.linear<(!r) -> !a>
}

// LINEAR-LABEL: func.func @reduce_max(
// LINEAR-SAME: %[[A:[a-z0-9]+]]:
// LINEAR-NEXT: %[[ONE:.+]] = xtensor.constant dense<1.000000e+00>
// LINEAR-NEXT: %[[V0:.+]] = xtensor.reduce max %[[A]] over [a]
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

// BACK-LABEL: func.func @reduce_max(
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

// So many that they are found in parts: each part's owners are counted while it is in cache.
!long = !xtensor.array<a: 1024, b: 256, f32>
!best = !xtensor.array<b: 256, f32>
func.func @parts(%a: !long) -> (!best, !xtensor.linear<(!best) -> !long>) {
  %p, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !long):
    %r = xtensor.reduce max %x over [a] : !long
    xtensor.yield %r : !best
  } : (!long) -> (!best, !xtensor.linear<(!best) -> !long>)
  return %p, %back : !best, !xtensor.linear<(!best) -> !long>
}

// LINEAR-LABEL: func.func @parts(
// LINEAR-SAME: %[[A:[a-z0-9]+]]:
// LINEAR: %[[SPLIT:.+]] = xtensor.split %[[A]] a into ["a~0", a] sizes [16, 64]
// LINEAR-NEXT: %[[PARTS:.+]] = xtensor.broadcast %[[SPLIT]] {{.*}} -> !xtensor.array<"a~0": 16, a: 64, b: 256, f32>
// LINEAR-NEXT: %[[BEST:.+]] = xtensor.reduce max %[[PARTS]] over [a]
// LINEAR-NEXT: xtensor.compare eq %[[PARTS]], %[[BEST]]
// LINEAR: %[[EACH:.+]] = xtensor.reduce sum %{{.+}} over [a]
// LINEAR-NEXT: %[[Y:.+]] = xtensor.reduce max %[[BEST]] over ["a~0"]
// LINEAR-NEXT: xtensor.compare eq %[[A]], %[[Y]]
// LINEAR: xtensor.compare eq %[[BEST]], %[[Y]]
// LINEAR: %[[OWN:.+]] = xtensor.select %{{.+}}, %[[EACH]], %{{.+}}
// LINEAR-NEXT: %[[COUNT:.+]] = xtensor.reduce sum %[[OWN]] over ["a~0"]
// LINEAR-NEXT: xtensor.div %{{.+}}, %[[COUNT]]
// LINEAR: return %[[Y]]
