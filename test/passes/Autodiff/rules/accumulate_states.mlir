// As last; what arrives at the states is the terms of the recurrence that runs the other way.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<r: 4, f32>
!b = !xtensor.array<p: 2, i64>
!c = !xtensor.array<p: 2, f32>
func.func @accumulate_states(%a: !a, %b: !b, %c: !c, %d: !c) -> (!c, !xtensor.linear<(!c) -> (!a, !c, !c)>) {
  %p, %back = xtensor.pullback at(%a, %b, %c, %d) wrt [0, 2, 3] {
  ^bb0(%x: !a, %y: !b, %f: !c, %t: !c):
    %r = xtensor.accumulate states raise %x at %y times %f plus %t along [r] : !a, !c, !c, !b
    xtensor.yield %r : !c
  } : (!a, !b, !c, !c) -> (!c, !xtensor.linear<(!c) -> (!a, !c, !c)>)
  return %p, %back : !c, !xtensor.linear<(!c) -> (!a, !c, !c)>
}

// LINEAR-LABEL: func.func @accumulate_states(
// LINEAR-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]: {{[^%]+}}, %[[C:[a-z0-9]+]]: {{[^%]+}}, %[[D:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.accumulate states raise %[[A]] at %[[B]] times %[[C]] plus %[[D]] along [r]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.accumulate states raise %[[A]] at %[[B]] times %[[C]] plus %[[D]] along [r]
// LINEAR-NEXT: %[[V2:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]: {{[^%]+}}, %[[T1:[a-z0-9]+]]: {{[^%]+}}, %[[T2:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V3:.+]] = xtensor.mul %[[V1]], %[[T1]]
// LINEAR-NEXT: %[[V4:.+]] = xtensor.add %[[T2]], %[[V3]]
// LINEAR-NEXT: %[[V5:.+]] = xtensor.accumulate states raise %[[T0]] at %[[B]] times %[[C]] plus %[[V4]] along [r]
// LINEAR-NEXT: xtensor.yield %[[V5]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V6:.+]] = xtensor.transposed %[[V2]]
// LINEAR: return

// BACK-LABEL: func.func @accumulate_states(
// BACK-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]: {{[^%]+}}, %[[C:[a-z0-9]+]]: {{[^%]+}}, %[[D:[a-z0-9]+]]:
// BACK-NEXT: %[[V0:.+]] = xtensor.accumulate states raise %[[A]] at %[[B]] times %[[C]] plus %[[D]] along [r]
// BACK-NEXT: %[[V1:.+]] = xtensor.accumulate states raise %[[A]] at %[[B]] times %[[C]] plus %[[D]] along [r]
// BACK-NEXT: %[[V2:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V3:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V4:.+]] = xtensor.broadcast %[[V3]]
// BACK-NEXT: %[[V5:.+]] = xtensor.accumulate last raise %[[V4]] at %[[B]] times %[[C]] plus %[[T0]] along [r] {reverse}
// BACK-NEXT: %[[V6:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V7:.+]] = xtensor.broadcast %[[V6]]
// BACK-NEXT: %[[V8:.+]] = xtensor.accumulate states raise %[[V7]] at %[[B]] times %[[C]] plus %[[T0]] along [r] {reverse}
// BACK-NEXT: %[[V9:.+]] = xtensor.mul %[[V8]], %[[V1]]
// BACK-NEXT: xtensor.yield %[[V5]], %[[V9]], %[[V8]]
// BACK-NEXT: }
// BACK: return
