// A slice for each operand.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<a: 3, f32>
!b = !xtensor.array<a: 1, f32>
!r = !xtensor.array<a: 4, f32>
func.func @concat(%a: !a, %b: !b) -> (!r, !xtensor.linear<(!r) -> (!a, !b)>) {
  %p, %back = xtensor.pullback at(%a, %b) wrt [0, 1] {
  ^bb0(%x: !a, %y: !b):
    %r = xtensor.concat %x, %y along a : !a, !b
    xtensor.yield %r : !r
  } : (!a, !b) -> (!r, !xtensor.linear<(!r) -> (!a, !b)>)
  return %p, %back : !r, !xtensor.linear<(!r) -> (!a, !b)>
}

// LINEAR-LABEL: func.func @concat(
// LINEAR-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.concat %[[A]], %[[B]] along a
// LINEAR-NEXT: %[[V1:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]: {{[^%]+}}, %[[T1:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V2:.+]] = xtensor.concat %[[T0]], %[[T1]] along a
// LINEAR-NEXT: xtensor.yield %[[V2]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V3:.+]] = xtensor.transposed %[[V1]]
// LINEAR: return

// BACK-LABEL: func.func @concat(
// BACK-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// BACK: %[[V1:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V2:.+]] = xtensor.slice %[[T0]] [a] offsets [0] sizes [3] strides [1]
// BACK-NEXT: %[[V3:.+]] = xtensor.slice %[[T0]] [a] offsets [3] sizes [1] strides [1]
// BACK-NEXT: xtensor.yield %[[V2]], %[[V3]]
// BACK-NEXT: }
// BACK: return
