// Derivatives leave ordered calls where they are, once: also where code is computed again, and
// where loops become one.
// RUN: xtensor-opt %s --xtensor-differentiate --split-input-file --verify-diagnostics | FileCheck %s

!s = !xtensor.array<f32>
!t = !xtensor.array<t: 3, f32>

// CHECK-LABEL: func @recomputed(
// CHECK: xtensor.callback ordered "x {}" number 0
// CHECK-NOT: xtensor.callback
func.func @recomputed(%x: !s, %ct: !s) -> !s {
  %y, %back = xtensor.pullback at(%x) wrt [0] {
  ^bb0(%x_: !s):
    %c = xtensor.checkpoint {
      xtensor.callback ordered "x {}" number 0 (%x_) : (!s) -> ()
      %e = xtensor.exp %x_ : !s
      xtensor.yield %e : !s
    } : !s
    xtensor.yield %c : !s
  } : (!s) -> (!s, !xtensor.linear<(!s) -> !s>)
  %dx = xtensor.apply %back(%ct) : !xtensor.linear<(!s) -> !s>, (!s) -> !s
  return %dx : !s
}

// -----

!s = !xtensor.array<f32>

func.func @none(%x: !s, %ct: !s) -> !s {
  // expected-note@+1 {{needed by this xtensor.pullback}}
  %y, %back = xtensor.pullback at(%x) wrt [0] {
  ^bb0(%x_: !s):
    // expected-error@+1 {{xt.callback(f) has no derivative. Give it one, derivative=..}}
    %c = xtensor.callback "f" number 0 (%x_) : (!s) -> !s
    xtensor.yield %c : !s
  } : (!s) -> (!s, !xtensor.linear<(!s) -> !s>)
  %dx = xtensor.apply %back(%ct) : !xtensor.linear<(!s) -> !s>, (!s) -> !s
  return %dx : !s
}
