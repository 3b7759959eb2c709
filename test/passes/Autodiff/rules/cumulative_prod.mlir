// The product rule is a recurrence; nothing is divided.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<t: 4, b: 3, f32>
func.func @cumulative_prod(%a: !a) -> (!a, !xtensor.linear<(!a) -> !a>) {
  %p, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x0: !a):
    %r = xtensor.cumulative prod %x0 along t : !a
    xtensor.yield %r : !a
  } : (!a) -> (!a, !xtensor.linear<(!a) -> !a>)
  return %p, %back : !a, !xtensor.linear<(!a) -> !a>
}

// LINEAR-LABEL: func.func @cumulative_prod(
// LINEAR-SAME: %[[A:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.cumulative prod %[[A]] along t
// LINEAR-NEXT: %[[V1:.+]] = xtensor.cumulative prod %[[A]] along t {exclusive}
// LINEAR-NEXT: %[[V2:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V3:.+]] = xtensor.mul %[[T0]], %[[V1]]
// LINEAR-NEXT: %[[V4:.+]] = xtensor.recurrence %[[A]], %[[V3]] along t
// LINEAR-NEXT: xtensor.yield %[[V4]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V5:.+]] = xtensor.transposed %[[V2]]
// LINEAR: return

// BACK-LABEL: func.func @cumulative_prod(
// BACK-SAME: %[[A:[a-z0-9]+]]:
// BACK-NEXT: %[[V0:.+]] = xtensor.cumulative prod %[[A]] along t
// BACK-NEXT: %[[V1:.+]] = xtensor.cumulative prod %[[A]] along t {exclusive}
// BACK-NEXT: %[[V2:.+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V3:.+]] = xtensor.recurrence %[[A]], %[[T0]] along t {late, reverse}
// BACK-NEXT: %[[V4:.+]] = xtensor.mul %[[V3]], %[[V1]]
// BACK-NEXT: xtensor.yield %[[V4]]
// BACK-NEXT: }
// BACK: return
