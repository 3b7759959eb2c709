// Over integers it needs no rule: it stays as it is.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s

// CHECK: xtensor.while
// CHECK: xtensor.linear
!s = !xtensor.array<f32>
!n = !xtensor.array<i64>
func.func @f(%x: !s, %n: !n) -> (!s, !n, !xtensor.linear<(!s) -> !s>) {
  %y:2, %back = xtensor.pullback at(%x) wrt [0] {
  ^bb0(%x_: !s):
    %e = xtensor.exp %x_ : !s
    %m = xtensor.while init(%n) max_steps 3 cond {
    ^bb0(%c: !n):
      %p = xtensor.compare lt %c, %n : !n, !n
      xtensor.yield %p : !xtensor.array<i1>
    } body {
    ^bb0(%c: !n):
      %d = xtensor.add %c, %c : !n, !n
      xtensor.yield %d : !n
    } : (!n) -> !n
    xtensor.yield %e, %m : !s, !n
  } : (!s) -> (!s, !n, !xtensor.linear<(!s) -> !s>)
  return %y#0, %y#1, %back : !s, !n, !xtensor.linear<(!s) -> !s>
}
