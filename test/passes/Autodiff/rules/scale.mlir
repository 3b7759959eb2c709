// As mul, but a zero of the second operand, or of the cotangent, wins.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<a: 3, b: 2, f32>
!b = !xtensor.array<b: 2, f32>
func.func @scale(%a: !a, %b: !b) -> (!a, !xtensor.linear<(!a) -> (!a, !b)>) {
  %p, %back = xtensor.pullback at(%a, %b) wrt [0, 1] {
  ^bb0(%x: !a, %y: !b):
    %r = xtensor.scale %x, %y : !a, !b
    xtensor.yield %r : !a
  } : (!a, !b) -> (!a, !xtensor.linear<(!a) -> (!a, !b)>)
  return %p, %back : !a, !xtensor.linear<(!a) -> (!a, !b)>
}

// LINEAR-LABEL: func.func @scale(
// LINEAR-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.scale %[[A]], %[[B]]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]: {{[^%]+}}, %[[T1:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V2:.+]] = xtensor.scale %[[T0]], %[[B]]
// LINEAR-NEXT: %[[V3:.+]] = xtensor.scale %[[A]], %[[T1]]
// LINEAR-NEXT: %[[V4:.+]] = xtensor.add %[[V2]], %[[V3]]
// LINEAR-NEXT: xtensor.yield %[[V4]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V5:.+]] = xtensor.transposed %[[V1]]
// LINEAR: return

// BACK-LABEL: func.func @scale(
// BACK-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// BACK: %[[V1:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V2:.+]] = xtensor.scale %[[A]], %[[T0]]
// BACK-NEXT: %[[V3:.+]] = xtensor.reduce sum %[[V2]] over [a]
// BACK-NEXT: %[[V4:.+]] = xtensor.scale %[[T0]], %[[B]]
// BACK-NEXT: xtensor.yield %[[V4]], %[[V3]]
// BACK-NEXT: }
// BACK: return
