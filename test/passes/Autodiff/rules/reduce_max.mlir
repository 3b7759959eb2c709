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
// LINEAR-NEXT: %[[Y:.+]] = xtensor.reduce max %[[A]] over [a]
// LINEAR-NEXT: %[[NAN:.+]] = xtensor.isnan %[[Y]]
// LINEAR-NEXT: %[[INF:.+]] = xtensor.constant dense<0xFF800000>
// LINEAR-NEXT: %[[BOUND:.+]] = xtensor.select %[[NAN]], %[[INF]], %[[Y]]
// LINEAR-NEXT: %[[OWN:.+]] = xtensor.compare ge %[[A]], %[[BOUND]]
// LINEAR-NEXT: %[[ZERO:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[ONES:.+]] = xtensor.select %[[OWN]], %[[ONE]], %[[ZERO]]
// LINEAR-NEXT: %[[REACHED:.+]] = xtensor.reduce sum %[[ONES]] over [a]
// LINEAR-NEXT: %[[ALL:.+]] = xtensor.constant dense<3.000000e+00>
// LINEAR-NEXT: %[[OTHERS:.+]] = xtensor.sub %[[ALL]], %[[REACHED]]
// LINEAR-NEXT: %[[COUNT:.+]] = xtensor.select %[[NAN]], %[[OTHERS]], %[[REACHED]]
// LINEAR-NEXT: %[[SHARE:.+]] = xtensor.div %[[ONE]], %[[COUNT]]
// LINEAR-NEXT: %[[MAP:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T:[a-z0-9]+]]:
// LINEAR-NEXT: %[[Z:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[IN:.+]] = xtensor.select %[[OWN]], %[[T]], %[[Z]]
// LINEAR-NEXT: %[[SUM:.+]] = xtensor.reduce sum %[[IN]] over [a]
// LINEAR-NEXT: %[[Z2:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[OUT:.+]] = xtensor.select %[[OWN]], %[[Z2]], %[[T]]
// LINEAR-NEXT: %[[REST:.+]] = xtensor.reduce sum %[[OUT]] over [a]
// LINEAR-NEXT: %[[BOTH:.+]] = xtensor.select %[[NAN]], %[[REST]], %[[SUM]]
// LINEAR-NEXT: %[[DY:.+]] = xtensor.mul %[[SHARE]], %[[BOTH]]
// LINEAR-NEXT: xtensor.yield %[[DY]]
// LINEAR: return

// BACK-LABEL: func.func @reduce_max(
// BACK: %[[NAN:.+]] = xtensor.isnan
// BACK: %[[OWN:.+]] = xtensor.compare ge
// BACK: %[[SHARE:.+]] = xtensor.div
// BACK: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK: %[[CT:.+]] = xtensor.mul %[[T0]], %[[SHARE]]
// BACK: %[[REST:.+]] = xtensor.select %[[NAN]], %[[CT]], %{{.+}}
// BACK: %[[SUM:.+]] = xtensor.select %[[NAN]], %{{.+}}, %[[CT]]
// BACK: %[[RESTS:.+]] = xtensor.broadcast %[[REST]]
// BACK: %[[SUMS:.+]] = xtensor.broadcast %[[SUM]]
// BACK: %[[DX:.+]] = xtensor.select %[[OWN]], %[[SUMS]], %[[RESTS]]
// BACK-NEXT: xtensor.yield %[[DX]]
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
// LINEAR: %[[SPLIT:.+]] = xtensor.split %[[A]] a into ["a~0", a] sizes [32, 32]
// LINEAR-NEXT: %[[PARTS:.+]] = xtensor.broadcast %[[SPLIT]] {{.*}} -> !xtensor.array<"a~0": 32, a: 32, b: 256, f32>
// LINEAR-NEXT: %[[BEST:.+]] = xtensor.reduce max %[[PARTS]] over [a]
// LINEAR: xtensor.compare ge %[[PARTS]],
// LINEAR: xtensor.reduce sum %{{.+}} over [a]
// LINEAR: %[[EACH:.+]] = xtensor.select
// LINEAR-NEXT: %[[Y:.+]] = xtensor.reduce max %[[BEST]] over ["a~0"]
// LINEAR: xtensor.compare eq %[[BEST]], %[[Y]]
// LINEAR: %[[OWN:.+]] = xtensor.select %{{.+}}, %[[EACH]], %{{.+}}
// LINEAR-NEXT: %[[COUNT:.+]] = xtensor.reduce sum %[[OWN]] over ["a~0"]
// LINEAR-NEXT: xtensor.div %{{.+}}, %[[COUNT]]
// LINEAR: return %[[Y]]
