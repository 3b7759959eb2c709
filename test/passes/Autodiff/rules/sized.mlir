// The identity.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<t: ?, f32>
!b = !xtensor.array<i64>
func.func @sized(%a: !a, %b: !b) -> (!a, !xtensor.linear<(!a) -> !a>) {
  %p, %back = xtensor.pullback at(%a, %b) wrt [0] {
  ^bb0(%x: !a, %y: !b):
    %r = xtensor.sized %x by (%y) : (!a, !b) -> !a
    xtensor.yield %r : !a
  } : (!a, !b) -> (!a, !xtensor.linear<(!a) -> !a>)
  return %p, %back : !a, !xtensor.linear<(!a) -> !a>
}

// LINEAR-LABEL: func.func @sized(
// LINEAR-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.size %[[A]] t
// LINEAR-NEXT: %[[V1:.+]] = xtensor.sized %[[A]] by(%[[B]])
// LINEAR-NEXT: %[[V2:.+]] = xtensor.linear sizes(%[[V0]], %[[V0]]) {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V3:.+]] = xtensor.sized %[[T0]] by(%[[B]])
// LINEAR-NEXT: xtensor.yield %[[V3]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V4:.+]] = xtensor.transposed %[[V2]]
// LINEAR: return

// BACK-LABEL: func.func @sized(
// BACK-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// BACK: %[[V0:.+]] = xtensor.size
// BACK: %[[V2:.+]] = xtensor.linear sizes(%[[V0]], %[[V0]]) {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: xtensor.yield %[[T0]]
// BACK-NEXT: }
// BACK: return
