// Scatter into zeros. The program itself raises: its derivative need not check again.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<r: 4, c: 3, f32>
!b = !xtensor.array<p: 2, i64>
!r = !xtensor.array<p: 2, c: 3, f32>
func.func @gather(%a: !a, %b: !b) -> (!r, !xtensor.linear<(!r) -> !a>) {
  %p, %back = xtensor.pullback at(%a, %b) wrt [0] {
  ^bb0(%x: !a, %y: !b):
    %r = xtensor.gather raise %x at %y along [r] : !a, !b
    xtensor.yield %r : !r
  } : (!a, !b) -> (!r, !xtensor.linear<(!r) -> !a>)
  return %p, %back : !r, !xtensor.linear<(!r) -> !a>
}

// LINEAR-LABEL: func.func @gather(
// LINEAR-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.gather raise %[[A]] at %[[B]] along [r]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V2:.+]] = xtensor.gather raise %[[T0]] at %[[B]] along [r]
// LINEAR-NEXT: xtensor.yield %[[V2]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V3:.+]] = xtensor.transposed %[[V1]]
// LINEAR: return

// BACK-LABEL: func.func @gather(
// BACK-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[B:[a-z0-9]+]]:
// BACK: %[[V1:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V2:.+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V3:.+]] = xtensor.broadcast %[[V2]] : (!xtensor.array<f32>) -> !xtensor.array<r: 4, c: 3, f32>
// BACK-NEXT: %[[V4:.+]] = xtensor.scatter add raise %[[V3]] at %[[B]] with %[[T0]] along [r]
// BACK-NEXT: xtensor.yield %[[V4]]
// BACK-NEXT: }
// BACK: return
