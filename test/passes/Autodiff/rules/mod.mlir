// d/da: 1
// d/db: -floorDiv(a, b)
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<a: 3, b: 2, f32>
!b = !xtensor.array<b: 2, f32>
func.func @mod(%a: !a, %b: !b) -> (!a, !xtensor.linear<(!a) -> (!a, !b)>) {
  %p, %back = xtensor.pullback at(%a, %b) wrt [0, 1] {
  ^bb0(%x: !a, %y: !b):
    %r = xtensor.mod %x, %y : !a, !b
    xtensor.yield %r : !a
  } : (!a, !b) -> (!a, !xtensor.linear<(!a) -> (!a, !b)>)
  return %p, %back : !a, !xtensor.linear<(!a) -> (!a, !b)>
}

// LINEAR-LABEL: func.func @mod(
// LINEAR-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.mod %[[A]], %[[B]]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.floor_div %[[A]], %[[B]]
// LINEAR-NEXT: %[[V2:.+]] = xtensor.neg %[[V1]]
// LINEAR-NEXT: %[[V3:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]: {{[^%]+}}, %[[T1:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V4:.+]] = xtensor.mul %[[V2]], %[[T1]]
// LINEAR-NEXT: %[[V5:.+]] = xtensor.add %[[T0]], %[[V4]]
// LINEAR-NEXT: xtensor.yield %[[V5]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V6:.+]] = xtensor.transposed %[[V3]]
// LINEAR: return

// BACK-LABEL: func.func @mod(
// BACK-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// BACK: %[[V2:.+]] = xtensor.neg
// BACK: %[[V3:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V4:.+]] = xtensor.contract %[[T0]], %[[V2]] over [a]
// BACK-NEXT: xtensor.yield %[[T0]], %[[V4]]
// BACK-NEXT: }
// BACK: return
