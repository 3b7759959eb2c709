// Over integers it needs no rule: it stays as it is.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s

// CHECK: xtensor.switch
// CHECK: xtensor.linear
!s = !xtensor.array<f32>
!n = !xtensor.array<i64>
func.func @f(%x: !s, %n: !n) -> (!s, !n, !xtensor.linear<(!s) -> !s>) {
  %y:2, %back = xtensor.pullback at(%x) wrt [0] {
  ^bb0(%x_: !s):
    %e = xtensor.exp %x_ : !s
    %m = xtensor.switch %n {
      xtensor.yield %n : !n
    }, {
      %d = xtensor.add %n, %n : !n, !n
      xtensor.yield %d : !n
    } : (!n) -> !n
    xtensor.yield %e, %m : !s, !n
  } : (!s) -> (!s, !n, !xtensor.linear<(!s) -> !s>)
  return %y#0, %y#1, %back : !s, !n, !xtensor.linear<(!s) -> !s>
}
