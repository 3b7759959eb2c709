// A pushforward rule: what depends on the tangent is linear, the rest stays where it was. A
// pullback rule: its backward region is a map, the linear part applies the map's transpose, and the
// transpose of that is the map.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!s = !xtensor.array<f32>
func.func @pushforward(%x: !s) -> (!s, !xtensor.linear<(!s) -> !s>) {
  %y, %back = xtensor.pullback at(%x) wrt [0] {
  ^bb0(%x_: !s):
    %z = xtensor.custom_derivative at(%x_) primal {
    ^bb0(%a: !s):
      %e = xtensor.exp %a : !s
      xtensor.yield %e : !s
    } pushforward {
    ^bb0(%a: !s, %t: !s):
      %e = xtensor.exp %a : !s
      %d = xtensor.mul %e, %t : !s, !s
      xtensor.yield %e, %d : !s, !s
    } : (!s) -> !s
    xtensor.yield %z : !s
  } : (!s) -> (!s, !xtensor.linear<(!s) -> !s>)
  return %y, %back : !s, !xtensor.linear<(!s) -> !s>
}
func.func @pullback(%x: !s) -> (!s, !xtensor.linear<(!s) -> !s>) {
  %y, %back = xtensor.pullback at(%x) wrt [0] {
  ^bb0(%x_: !s):
    %z = xtensor.custom_derivative at(%x_) primal {
    ^bb0(%a: !s):
      %e = xtensor.exp %a : !s
      xtensor.yield %e : !s
    } forward {
    ^bb0(%a: !s):
      %e = xtensor.exp %a : !s
      xtensor.yield %e, %e : !s, !s
    } backward {
    ^bb0(%e: !s, %ct: !s):
      %d = xtensor.mul %e, %ct : !s, !s
      %c = xtensor.tanh %d : !s
      xtensor.yield %c : !s
    } : (!s) -> !s
    xtensor.yield %z : !s
  } : (!s) -> (!s, !xtensor.linear<(!s) -> !s>)
  return %y, %back : !s, !xtensor.linear<(!s) -> !s>
}

// LINEAR-LABEL: func.func @pushforward(
// LINEAR-SAME: %[[A0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:[a-z0-9]+]] = xtensor.constant dense<0.000000e+00>
// LINEAR-NEXT: %[[V1:[a-z0-9]+]] = xtensor.exp %[[A0]]
// LINEAR-NEXT: %[[V2:[a-z0-9]+]] = xtensor.mul %[[V1]], %[[V0]]
// LINEAR-NEXT: %[[V3:[a-z0-9]+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[V4:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V5:[a-z0-9]+]] = xtensor.mul %[[V1]], %[[V4]]
// LINEAR-NEXT: xtensor.yield %[[V5]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V6:[a-z0-9]+]] = xtensor.transposed %[[V3]]
// LINEAR: return
// LINEAR-LABEL: func.func @pullback(
// LINEAR-SAME: %[[A0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:[a-z0-9]+]] = xtensor.exp %[[A0]]
// LINEAR-NEXT: %[[V1:[a-z0-9]+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[V2:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V3:[a-z0-9]+]] = xtensor.linear trusted {
// LINEAR-NEXT: ^bb0(%[[V4:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V5:[a-z0-9]+]] = xtensor.mul %[[V0]], %[[V4]]
// LINEAR-NEXT: %[[V6:[a-z0-9]+]] = xtensor.tanh %[[V5]]
// LINEAR-NEXT: xtensor.yield %[[V6]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V7:[a-z0-9]+]] = xtensor.transposed %[[V3]]
// LINEAR-NEXT: %[[V8:[a-z0-9]+]] = xtensor.apply %[[V7]](%[[V2]])
// LINEAR-NEXT: xtensor.yield %[[V8]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V9:[a-z0-9]+]] = xtensor.transposed %[[V1]]
// LINEAR: return

// BACK-LABEL: func.func @pushforward(
// BACK-SAME: %[[A0:[a-z0-9]+]]:
// BACK-NEXT: %[[V0:[a-z0-9]+]] = xtensor.constant dense<0.000000e+00>
// BACK-NEXT: %[[V1:[a-z0-9]+]] = xtensor.exp %[[A0]]
// BACK-NEXT: %[[V2:[a-z0-9]+]] = xtensor.mul %[[V1]], %[[V0]]
// BACK-NEXT: %[[V3:[a-z0-9]+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[V4:[a-z0-9]+]]:
// BACK-NEXT: %[[V5:[a-z0-9]+]] = xtensor.mul %[[V4]], %[[V1]]
// BACK-NEXT: xtensor.yield %[[V5]]
// BACK-NEXT: }
// BACK: return
// BACK-LABEL: func.func @pullback(
// BACK-SAME: %[[A0:[a-z0-9]+]]:
// BACK-NEXT: %[[V0:[a-z0-9]+]] = xtensor.exp %[[A0]]
// BACK-NEXT: %[[V1:[a-z0-9]+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[V2:[a-z0-9]+]]:
// BACK-NEXT: %[[V3:[a-z0-9]+]] = xtensor.linear trusted {
// BACK-NEXT: ^bb0(%[[V4:[a-z0-9]+]]:
// BACK-NEXT: %[[V5:[a-z0-9]+]] = xtensor.mul %[[V0]], %[[V4]]
// BACK-NEXT: %[[V6:[a-z0-9]+]] = xtensor.tanh %[[V5]]
// BACK-NEXT: xtensor.yield %[[V6]]
// BACK-NEXT: }
// BACK-NEXT: %[[V7:[a-z0-9]+]] = xtensor.apply %[[V3]](%[[V2]])
// BACK-NEXT: xtensor.yield %[[V7]]
// BACK-NEXT: }
// BACK: return
