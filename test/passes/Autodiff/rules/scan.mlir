// The linear loop reads what the primal one stacks: here the carry before each step and the sine's
// slope. The transpose goes the other way round, with the cotangent of the carry as its carry; the
// share of the captured factor is one contraction after the loop.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!s = !xtensor.array<f32>
!x = !xtensor.array<t: 4, f32>
!w = !xtensor.array<i: 3, f32>
!v = !xtensor.array<i: 3, f32>
func.func @scan(%c: !v, %x: !x, %w: !w) -> (!v, !xtensor.linear<(!v) -> (!v, !x, !w)>) {
  %y, %back = xtensor.pullback at(%c, %x, %w) wrt [0, 1, 2] {
  ^bb0(%c_: !v, %x_: !x, %w_: !w):
    %last = xtensor.scan along t carry(%c_) over(%x_) {
    ^bb0(%s: !v, %e: !s):
      %p = xtensor.mul %s, %w_ : !v, !w
      %q = xtensor.mul %p, %e : !v, !s
      %r = xtensor.sin %q : !v
      xtensor.yield %r : !v
    } : (!v, !x) -> !v
    xtensor.yield %last : !v
  } : (!v, !x, !w) -> (!v, !xtensor.linear<(!v) -> (!v, !x, !w)>)
  return %y, %back : !v, !xtensor.linear<(!v) -> (!v, !x, !w)>
}

// LINEAR-LABEL: func.func @scan(
// LINEAR-SAME: %[[A0:[a-z0-9]+]]: {{[^%]+}}, %[[A1:[a-z0-9]+]]: {{[^%]+}}, %[[A2:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:[a-z0-9]+]]:3 = xtensor.scan along t carry(%[[A0]]) over(%[[A1]]) {
// LINEAR-NEXT: ^bb0(%[[V1:[a-z0-9]+]]: {{[^%]+}}, %[[V2:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V3:[a-z0-9]+]] = xtensor.mul %[[V1]], %[[A2]]
// LINEAR-NEXT: %[[V4:[a-z0-9]+]] = xtensor.mul %[[V3]], %[[V2]]
// LINEAR-NEXT: %[[V5:[a-z0-9]+]] = xtensor.sin %[[V4]]
// LINEAR-NEXT: %[[V6:[a-z0-9]+]] = xtensor.cos %[[V4]]
// LINEAR-NEXT: xtensor.yield %[[V5]], %[[V1]], %[[V6]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V7:[a-z0-9]+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[V8:[a-z0-9]+]]: {{[^%]+}}, %[[V9:[a-z0-9]+]]: {{[^%]+}}, %[[V10:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V11:[a-z0-9]+]] = xtensor.scan along t carry(%[[V8]]) over(%[[V9]], %[[V0]]#1, %[[A1]], %[[V0]]#2) {
// LINEAR-NEXT: ^bb0(%[[V12:[a-z0-9]+]]: {{[^%]+}}, %[[V13:[a-z0-9]+]]: {{[^%]+}}, %[[V15:[a-z0-9]+]]: {{[^%]+}}, %[[V16:[a-z0-9]+]]: {{[^%]+}}, %[[V14:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V17:[a-z0-9]+]] = xtensor.mul %[[V15]], %[[A2]]
// LINEAR-NEXT: %[[V18:[a-z0-9]+]] = xtensor.mul %[[V12]], %[[A2]]
// LINEAR-NEXT: %[[V19:[a-z0-9]+]] = xtensor.mul %[[V15]], %[[V10]]
// LINEAR-NEXT: %[[V20:[a-z0-9]+]] = xtensor.add %[[V18]], %[[V19]]
// LINEAR-NEXT: %[[V21:[a-z0-9]+]] = xtensor.mul %[[V20]], %[[V16]]
// LINEAR-NEXT: %[[V22:[a-z0-9]+]] = xtensor.mul %[[V17]], %[[V13]]
// LINEAR-NEXT: %[[V23:[a-z0-9]+]] = xtensor.add %[[V21]], %[[V22]]
// LINEAR-NEXT: %[[V24:[a-z0-9]+]] = xtensor.mul %[[V14]], %[[V23]]
// LINEAR-NEXT: xtensor.yield %[[V24]]
// LINEAR-NEXT: }
// LINEAR-NEXT: xtensor.yield %[[V11]]
// LINEAR-NEXT: }
// LINEAR-NEXT: %[[V25:[a-z0-9]+]] = xtensor.transposed %[[V7]]
// LINEAR: return

// BACK-LABEL: func.func @scan(
// BACK-SAME: %[[A0:[a-z0-9]+]]: {{[^%]+}}, %[[A1:[a-z0-9]+]]: {{[^%]+}}, %[[A2:[a-z0-9]+]]:
// BACK-NEXT: %[[V0:[a-z0-9]+]]:3 = xtensor.scan along t carry(%[[A0]]) over(%[[A1]]) {
// BACK-NEXT: ^bb0(%[[V1:[a-z0-9]+]]: {{[^%]+}}, %[[V2:[a-z0-9]+]]:
// BACK-NEXT: %[[V3:[a-z0-9]+]] = xtensor.mul %[[V1]], %[[A2]]
// BACK-NEXT: %[[V4:[a-z0-9]+]] = xtensor.mul %[[V3]], %[[V2]]
// BACK-NEXT: %[[V5:[a-z0-9]+]] = xtensor.sin %[[V4]]
// BACK-NEXT: %[[V6:[a-z0-9]+]] = xtensor.cos %[[V4]]
// BACK-NEXT: xtensor.yield %[[V5]], %[[V1]], %[[V6]]
// BACK-NEXT: }
// BACK-NEXT: %[[V7:[a-z0-9]+]] = xtensor.linear {
// BACK-NEXT: ^bb0(%[[V8:[a-z0-9]+]]:
// BACK-NEXT: %[[V9:[a-z0-9]+]]:3 = xtensor.scan along t reverse carry(%[[V8]]) over(%[[V0]]#1, %[[A1]], %[[V0]]#2) {
// BACK-NEXT: ^bb0(%[[V10:[a-z0-9]+]]: {{[^%]+}}, %[[V12:[a-z0-9]+]]: {{[^%]+}}, %[[V13:[a-z0-9]+]]: {{[^%]+}}, %[[V11:[a-z0-9]+]]:
// BACK-NEXT: %[[V14:[a-z0-9]+]] = xtensor.mul %[[V12]], %[[A2]]
// BACK-NEXT: %[[V15:[a-z0-9]+]] = xtensor.mul %[[V10]], %[[V11]]
// BACK-NEXT: %[[V16:[a-z0-9]+]] = xtensor.contract %[[V15]], %[[V14]] over [i]
// BACK-NEXT: %[[V17:[a-z0-9]+]] = xtensor.mul %[[V15]], %[[V13]]
// BACK-NEXT: %[[V18:[a-z0-9]+]] = xtensor.mul %[[V17]], %[[A2]]
// BACK-NEXT: xtensor.yield %[[V18]], %[[V16]], %[[V17]]
// BACK-NEXT: }
// BACK-NEXT: %[[V19:[a-z0-9]+]] = xtensor.contract %[[V9]]#2, %[[V0]]#1 over [t]
// BACK-NEXT: xtensor.yield %[[V9]]#0, %[[V9]]#1, %[[V19]]
// BACK-NEXT: }
// BACK: return

// The body reads w twice, once renamed above the loop: the shares of both are added up at each step.
// BACK-LABEL: func.func @read_twice(
// BACK: xtensor.linear
// BACK: xtensor.scan along t reverse
// BACK: %[[SHARE:.*]] = xtensor.rename %{{.*}} [j] to [i]
// BACK: %[[BOTH:.*]] = xtensor.add %{{.*}}, %[[SHARE]] : <i: 3, f32>
// BACK: xtensor.add %{{.*}}, %[[BOTH]] : <i: 3, f32>
// BACK: xtensor.yield
// BACK-NEXT: }
// BACK-NOT: xtensor.contract
// BACK: return
func.func @read_twice(%x: !x, %w: !w) -> !xtensor.linear<(!s) -> !w> {
  %y, %back = xtensor.pullback at(%w) wrt [0] {
  ^bb0(%w_: !w):
    %zero = xtensor.constant dense<0.0> : tensor<f32> as !s
    %v = xtensor.rename %w_ [i] to [j] : !w
    %last = xtensor.scan along t carry(%zero) over(%x) {
    ^bb0(%s: !s, %e: !s):
      %p = xtensor.mul %w_, %e : !w, !s
      %p1 = xtensor.reduce sum %p over [i] : !w
      %q = xtensor.mul %v, %e : !xtensor.array<j: 3, f32>, !s
      %q1 = xtensor.reduce sum %q over [j] : !xtensor.array<j: 3, f32>
      %d = xtensor.sub %p1, %q1 : !s, !s
      %r = xtensor.add %s, %d : !s, !s
      xtensor.yield %r : !s
    } : (!s, !x) -> !s
    xtensor.yield %last : !s
  } : (!w) -> (!s, !xtensor.linear<(!s) -> !w>)
  return %back : !xtensor.linear<(!s) -> !w>
}
