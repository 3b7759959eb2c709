// d/da: 0
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<a: 3, f32>
func.func @ceil(%a: !a) -> (!a, !xtensor.linear<(!a) -> !a>) {
  %p, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !a):
    %r = xtensor.ceil %x : !a
    xtensor.yield %r : !a
  } : (!a) -> (!a, !xtensor.linear<(!a) -> !a>)
  return %p, %back : !a, !xtensor.linear<(!a) -> !a>
}

// LINEAR-LABEL: func.func @ceil(
// LINEAR-SAME: %[[A:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.ceil %[[A]]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V2:.+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V3:.+]] = xtensor.broadcast %[[V2]] : (!xtensor.array<f32>) -> !xtensor.array<a: 3, f32>
// LINEAR-NEXT: xtensor.yield %[[V3]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V4:.+]] = xtensor.transposed %[[V1]]
// LINEAR: return

// BACK-LABEL: func.func @ceil(
// BACK-SAME: %[[A:[a-z0-9]+]]:
// BACK: %[[V1:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V2:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V3:.+]] = xtensor.broadcast %[[V2]] : (!xtensor.array<f32>) -> !xtensor.array<a: 3, f32>
// BACK-NEXT: %[[V4:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V5:.+]] = xtensor.broadcast %[[V4]] : (!xtensor.array<f32>) -> !xtensor.array<a: 3, f32>
// BACK-NEXT: xtensor.yield %[[V5]]
// BACK-NEXT: }
// BACK: return
