// The linear part runs the loop again with the tangents as further carries. In reverse mode, the loop
// counts its steps, and the linear part is a checkpoint with a scan of as many. With a bound, reverse
// mode makes the loop a scan of switches first, and all that is made of it keeps the mark of one
// that ends early.
// RUN: xtensor-opt %s --xtensor-differentiate | FileCheck %s --check-prefix=FORWARD
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!s = !xtensor.array<f32>
func.func @while(%x: !s, %end: !s, %v: !s) -> !s {
  %y, %dy = xtensor.pushforward at(%x) wrt [0] along(%v) {
  ^bb0(%x_: !s):
    %z = xtensor.while init(%x_) cond {
    ^bb0(%c: !s):
      %more = xtensor.compare lt %c, %end : !s, !s
      xtensor.yield %more : !xtensor.array<i1>
    } body {
    ^bb0(%c: !s):
      %n = xtensor.exp %c : !s
      xtensor.yield %n : !s
    } : (!s) -> !s
    xtensor.yield %z : !s
  } : (!s, !s) -> (!s, !s)
  return %dy : !s
}
func.func @bounded(%x: !s, %end: !s) -> (!s, !xtensor.linear<(!s) -> !s>) {
  %y, %back = xtensor.pullback at(%x) wrt [0] {
  ^bb0(%x_: !s):
    %z = xtensor.while init(%x_) max_steps 5 cond {
    ^bb0(%c: !s):
      %more = xtensor.compare lt %c, %end : !s, !s
      xtensor.yield %more : !xtensor.array<i1>
    } body {
    ^bb0(%c: !s):
      %n = xtensor.exp %c : !s
      xtensor.yield %n : !s
    } : (!s) -> !s
    xtensor.yield %z : !s
  } : (!s) -> (!s, !xtensor.linear<(!s) -> !s>)
  return %y, %back : !s, !xtensor.linear<(!s) -> !s>
}

func.func @counted(%x: !s, %end: !s) -> (!s, !xtensor.linear<(!s) -> !s>) {
  %y, %back = xtensor.pullback at(%x) wrt [0] {
  ^bb0(%x_: !s):
    %z = xtensor.while init(%x_) cond {
    ^bb0(%c: !s):
      %more = xtensor.compare lt %c, %end : !s, !s
      xtensor.yield %more : !xtensor.array<i1>
    } body {
    ^bb0(%c: !s):
      %n = xtensor.exp %c : !s
      xtensor.yield %n : !s
    } : (!s) -> !s
    xtensor.yield %z : !s
  } : (!s) -> (!s, !xtensor.linear<(!s) -> !s>)
  return %y, %back : !s, !xtensor.linear<(!s) -> !s>
}

// FORWARD-LABEL: func.func @while(
// FORWARD-SAME: %[[A0:[a-z0-9]+]]: {{[^%]+}}, %[[A1:[a-z0-9]+]]: {{[^%]+}}, %[[A2:[a-z0-9]+]]:
// FORWARD-NEXT: %[[V0:[a-z0-9]+]]:2 = xtensor.while init(%[[A0]], %[[A2]]) cond {
// FORWARD-NEXT: ^bb0(%[[V1:[a-z0-9]+]]: {{[^%]+}}, %[[V2:[a-z0-9]+]]:
// FORWARD-NEXT: %[[V3:[a-z0-9]+]] = xtensor.compare lt %[[V1]], %[[A1]]
// FORWARD-NEXT: xtensor.yield %[[V3]]
// FORWARD-NEXT: } body {
// FORWARD-NEXT: ^bb0(%[[V4:[a-z0-9]+]]: {{[^%]+}}, %[[V5:[a-z0-9]+]]:
// FORWARD-NEXT: %[[V6:[a-z0-9]+]] = xtensor.exp %[[V4]]
// FORWARD-NEXT: %[[V7:[a-z0-9]+]] = xtensor.mul %[[V6]], %[[V5]]
// FORWARD-NEXT: xtensor.yield %[[V6]], %[[V7]]
// FORWARD-NEXT: }
// FORWARD: return

// BACK-LABEL: func.func @bounded(
// BACK-SAME: %[[A0:[a-z0-9]+]]: {{[^%]+}}, %[[A1:[a-z0-9]+]]:
// BACK-NEXT: %[[V0:[a-z0-9]+]]:3 = xtensor.scan along "step~0" carry(%[[A0]]) over() length 5 {
// BACK-NEXT: ^bb0(%[[V1:[a-z0-9]+]]:
// BACK-NEXT: %[[V2:[a-z0-9]+]] = xtensor.compare lt %[[V1]], %[[A1]]
// BACK-NEXT: %[[V3:[a-z0-9]+]] = xtensor.cast %[[V2]] to i64
// BACK-NEXT: %[[V4:[a-z0-9]+]] = xtensor.switch %[[V3]] {
// BACK-NEXT: xtensor.yield %[[V1]]
// BACK-NEXT: }, {
// BACK-NEXT: %[[V5:[a-z0-9]+]] = xtensor.exp %[[V1]]
// BACK-NEXT: xtensor.yield %[[V5]]
// BACK-NEXT: }
// BACK-NEXT: xtensor.yield %[[V4]], %[[V1]], %[[V4]]
// BACK-NEXT: } {xtensor.ends_early = distinct[[[END:.*]]]<>}
// BACK-NEXT: %[[V6:[a-z0-9]+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[V7:[a-z0-9]+]]:
// BACK-NEXT: %[[V11:[a-z0-9]+]] = xtensor.scan along "step~0" reverse carry(%[[V7]]) over(%[[V0]]#1, %[[V0]]#2) {
// BACK-NEXT: ^bb0(%[[V12:[a-z0-9]+]]: {{[^%]+}}, %[[V14:[a-z0-9]+]]: {{[^%]+}}, %[[V13:[a-z0-9]+]]:
// BACK-NEXT: %[[V15:[a-z0-9]+]] = xtensor.compare lt %[[V14]], %[[A1]]
// BACK-NEXT: %[[V16:[a-z0-9]+]] = xtensor.cast %[[V15]] to i64
// BACK-NEXT: %[[V17:[a-z0-9]+]] = xtensor.switch %[[V16]] {
// BACK-NEXT: xtensor.yield %[[V12]]
// BACK-NEXT: }, {
// BACK-NEXT: %[[V18:[a-z0-9]+]] = xtensor.mul %[[V12]], %[[V13]]
// BACK-NEXT: xtensor.yield %[[V18]]
// BACK-NEXT: }
// BACK-NEXT: xtensor.yield %[[V17]]
// BACK-NEXT: } {xtensor.ends_early = distinct[[[END]]]<>}
// BACK-NEXT: xtensor.yield %[[V11]]
// BACK-NEXT: }
// BACK: return

// BACK-LABEL: func.func @counted(
// BACK-SAME: %[[A0:[a-z0-9]+]]: {{[^%]+}}, %[[A1:[a-z0-9]+]]:
// BACK-NEXT: %[[ZERO:.*]] = xtensor.constant dense<0>
// BACK-NEXT: %[[LOOP:.*]]:2 = xtensor.while init(%[[A0]], %[[ZERO]]) cond {
// BACK: %[[MAP:.*]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[CT:[a-z0-9]+]]:
// BACK-NEXT: %[[BACK:.*]] = xtensor.checkpoint {
// BACK-NEXT: %[[START:.*]] = xtensor.barrier [[ID:.*]] of %[[A0]]
// BACK-NEXT: %[[STEPS:.*]] = xtensor.barrier [[ID]] of %[[LOOP]]#1
// BACK-NEXT: %[[STACK:.*]]:2 = xtensor.scan along [[STEP:.step~[0-9]+.]] carry(%[[START]]) over() size %[[STEPS]] {
// BACK: %[[LAST:.*]] = xtensor.scan along [[STEP]] reverse carry(%[[CT]]) over(%[[STACK]]#1) {
// BACK: xtensor.yield %[[LAST]]
// BACK: xtensor.yield %[[BACK]]
// BACK: return %[[LOOP]]#0, %[[MAP]]
