// d/da: 0
// d/db: 0
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<a: 3, b: 2, f32>
!b = !xtensor.array<b: 2, f32>
func.func @floor_div(%a: !a, %b: !b) -> (!a, !xtensor.linear<(!a) -> (!a, !b)>) {
  %p, %back = xtensor.pullback at(%a, %b) wrt [0, 1] {
  ^bb0(%x: !a, %y: !b):
    %r = xtensor.floor_div %x, %y : !a, !b
    xtensor.yield %r : !a
  } : (!a, !b) -> (!a, !xtensor.linear<(!a) -> (!a, !b)>)
  return %p, %back : !a, !xtensor.linear<(!a) -> (!a, !b)>
}

// LINEAR-LABEL: func.func @floor_div(
// LINEAR-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.floor_div %[[A]], %[[B]]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]: {{[^%]+}}, %[[T1:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V2:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V3:.+]] = xtensor.broadcast %[[V2]] : (!xtensor.array<f32>) -> !xtensor.array<a: 3, b: 2, f32>
// LINEAR-NEXT: xtensor.yield %[[V3]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V4:.+]] = xtensor.transposed %[[V1]]
// LINEAR: return

// BACK-LABEL: func.func @floor_div(
// BACK-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// BACK: %[[V1:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V2:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V3:.+]] = xtensor.broadcast %[[V2]] : (!xtensor.array<f32>) -> !xtensor.array<a: 3, b: 2, f32>
// BACK-NEXT: %[[V4:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V5:.+]] = xtensor.broadcast %[[V4]] : (!xtensor.array<f32>) -> !xtensor.array<a: 3, b: 2, f32>
// BACK-NEXT: %[[V6:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V7:.+]] = xtensor.broadcast %[[V6]] : (!xtensor.array<f32>) -> !xtensor.array<b: 2, f32>
// BACK-NEXT: xtensor.yield %[[V5]], %[[V7]]
// BACK-NEXT: }
// BACK: return
