// d/da: kInvLn2 / a
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<a: 3, f32>
func.func @log2(%a: !a) -> (!a, !xtensor.linear<(!a) -> !a>) {
  %p, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !a):
    %r = xtensor.log2 %x : !a
    xtensor.yield %r : !a
  } : (!a) -> (!a, !xtensor.linear<(!a) -> !a>)
  return %p, %back : !a, !xtensor.linear<(!a) -> !a>
}

// LINEAR-LABEL: func.func @log2(
// LINEAR-SAME: %[[A:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.log2 %[[A]]
// LINEAR-NEXT: %[[V1:.+]] = xtensor.constant dense<1.44269502>
// LINEAR-NEXT: %[[V2:.+]] = xtensor.div %[[V1]], %[[A]]
// LINEAR-NEXT: %[[V3:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V4:.+]] = xtensor.mul %[[V2]], %[[T0]]
// LINEAR-NEXT: xtensor.yield %[[V4]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V5:.+]] = xtensor.transposed %[[V3]]
// LINEAR: return

// BACK-LABEL: func.func @log2(
// BACK-SAME: %[[A:[a-z0-9]+]]:
// BACK: %[[V2:.+]] = xtensor.div
// BACK: %[[V3:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V4:.+]] = xtensor.mul %[[T0]], %[[V2]]
// BACK-NEXT: xtensor.yield %[[V4]]
// BACK-NEXT: }
// BACK: return
