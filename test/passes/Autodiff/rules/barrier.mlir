// A tangent is not computed again, so no barrier is needed for it.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!s = !xtensor.array<f32>
func.func @barrier(%x: !s) -> (!s, !xtensor.linear<(!s) -> !s>) {
  %y, %back = xtensor.pullback at(%x) wrt [0] {
  ^bb0(%x_: !s):
    %b = xtensor.barrier "one" of %x_ : !s
    %e = xtensor.exp %b : !s
    xtensor.yield %e : !s
  } : (!s) -> (!s, !xtensor.linear<(!s) -> !s>)
  return %y, %back : !s, !xtensor.linear<(!s) -> !s>
}

// LINEAR-LABEL: func.func @barrier(
// LINEAR-SAME: %[[A0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:[a-z0-9]+]] = xtensor.barrier "one" of %[[A0]]
// LINEAR-NEXT: %[[V1:[a-z0-9]+]] = xtensor.exp %[[V0]]
// LINEAR-NEXT: %[[V2:[a-z0-9]+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[V3:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V4:[a-z0-9]+]] = xtensor.mul %[[V1]], %[[V3]]
// LINEAR-NEXT: xtensor.yield %[[V4]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V5:[a-z0-9]+]] = xtensor.transposed %[[V2]]
// LINEAR: return

// BACK-LABEL: func.func @barrier(
// BACK-SAME: %[[A0:[a-z0-9]+]]:
// BACK-NEXT: %[[V0:[a-z0-9]+]] = xtensor.barrier "one" of %[[A0]]
// BACK-NEXT: %[[V1:[a-z0-9]+]] = xtensor.exp %[[V0]]
// BACK-NEXT: %[[V2:[a-z0-9]+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[V3:[a-z0-9]+]]:
// BACK-NEXT: %[[V4:[a-z0-9]+]] = xtensor.mul %[[V3]], %[[V1]]
// BACK-NEXT: xtensor.yield %[[V4]]
// BACK-NEXT: }
// BACK: return
