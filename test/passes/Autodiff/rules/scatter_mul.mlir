// A recurrence: each update meets the products of those before and, backwards, after it. Nothing is divided.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<r: 4, f32>
!b = !xtensor.array<p: 2, i64>
!c = !xtensor.array<p: 2, f32>
func.func @scatter_mul(%a: !a, %b: !b, %c: !c) -> (!a, !xtensor.linear<(!a) -> (!a, !c)>) {
  %p, %back = xtensor.pullback at(%a, %b, %c) wrt [0, 2] {
  ^bb0(%x: !a, %y: !b, %z: !c):
    %r = xtensor.scatter mul raise %x at %y with %z along [r] : !a, !c, !b
    xtensor.yield %r : !a
  } : (!a, !b, !c) -> (!a, !xtensor.linear<(!a) -> (!a, !c)>)
  return %p, %back : !a, !xtensor.linear<(!a) -> (!a, !c)>
}

// LINEAR-LABEL: func.func @scatter_mul(
// LINEAR-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]: {{[^%]+}}, %[[C:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.scatter mul raise %[[A]] at %[[B]] with %[[C]] along [r]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V2:.+]] = xtensor.accumulate states raise %[[A]] at %[[B]] times %[[C]] plus %[[V1]] along [r]
// LINEAR-NEXT: %[[V3:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]: {{[^%]+}}, %[[T1:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V4:.+]] = xtensor.mul %[[V2]], %[[T1]]
// LINEAR-NEXT: %[[V5:.+]] = xtensor.accumulate last raise %[[T0]] at %[[B]] times %[[C]] plus %[[V4]] along [r]
// LINEAR-NEXT: xtensor.yield %[[V5]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V6:.+]] = xtensor.transposed %[[V3]]
// LINEAR: return

// BACK-LABEL: func.func @scatter_mul(
// BACK-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]: {{[^%]+}}, %[[C:[a-z0-9]+]]:
// BACK-NEXT: %[[V0:.+]] = xtensor.scatter mul raise %[[A]] at %[[B]] with %[[C]] along [r]
// BACK-NEXT: %[[V1:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V2:.+]] = xtensor.accumulate states raise %[[A]] at %[[B]] times %[[C]] plus %[[V1]] along [r]
// BACK-NEXT: %[[V3:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V4:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V5:.+]] = xtensor.accumulate last raise %[[T0]] at %[[B]] times %[[C]] plus %[[V4]] along [r] {reverse}
// BACK-NEXT: %[[V6:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V7:.+]] = xtensor.accumulate states raise %[[T0]] at %[[B]] times %[[C]] plus %[[V6]] along [r] {reverse}
// BACK-NEXT: %[[V8:.+]] = xtensor.mul %[[V7]], %[[V2]]
// BACK-NEXT: xtensor.yield %[[V5]], %[[V8]]
// BACK-NEXT: }
// BACK: return
