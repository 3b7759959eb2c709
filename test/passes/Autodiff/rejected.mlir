// Wrong programs, each refused at its line.
// RUN: xtensor-opt %s --xtensor-verify-linear --xtensor-differentiate --split-input-file --verify-diagnostics

!x = !xtensor.array<h: 3, f64>
func.func @quadratic() {
  %l = xtensor.linear {
  ^bb0(%t: !x):
    // expected-error @+1 {{'xtensor.mul' op multiplies 2 tangents}}
    %y = xtensor.mul %t, %t : !x, !x
    xtensor.yield %y : !x
  } : <(!x) -> !x>
  return
}

// -----

!x = !xtensor.array<h: 3, f64>
func.func @affine(%r: !x) {
  %l = xtensor.linear {
  ^bb0(%t: !x):
    // expected-error @+1 {{'xtensor.add' op is affine: operand 1 is neither a tangent nor zero}}
    %y = xtensor.add %t, %r : !x, !x
    xtensor.yield %y : !x
  } : <(!x) -> !x>
  return
}

// -----

!x = !xtensor.array<h: 3, f64>
func.func @nonlinear(%r: !x) {
  %l = xtensor.linear {
  ^bb0(%t: !x):
    %c = xtensor.exp %r : !x
    %u = xtensor.mul %c, %t : !x, !x
    // expected-error @+1 {{'xtensor.exp' op depends on a tangent, but is not linear}}
    %y = xtensor.exp %u : !x
    xtensor.yield %y : !x
  } : <(!x) -> !x>
  return
}

// -----

!x = !xtensor.array<h: 3, f64>
func.func @condition(%r: !x) {
  %l = xtensor.linear {
  ^bb0(%t: !x):
    %zero = xtensor.constant dense<0.0> : tensor<f64> as !xtensor.array<f64>
    // expected-error @+1 {{'xtensor.compare' op depends on a tangent, but is not linear}}
    %c = xtensor.compare gt %t, %r : !x, !x
    %y = xtensor.select %c, %t, %zero : !xtensor.array<h: 3, i1>, !x, !xtensor.array<f64>
    xtensor.yield %y : !x
  } : <(!x) -> !x>
  return
}

// -----

!x = !xtensor.array<h: 3, f64>
func.func @constant(%r: !x) {
  %l = xtensor.linear {
  ^bb0(%t: !x):
    // expected-error @+1 {{'xtensor.yield' op yields a value that no tangent reaches}}
    xtensor.yield %r : !x
  } : <(!x) -> !x>
  return
}

// -----

!x = !xtensor.array<h: 3, f64>
func.func private @g(!x) -> !x
func.func @call(%x: !x, %v: !x) -> !x {
  // expected-note @+1 {{needed by this xtensor.pushforward}}
  %y, %dy = xtensor.pushforward at(%x) wrt [0] along(%v) {
  ^bb0(%x_: !x):
    // expected-error @+1 {{'func.call' op has no derivative; inline the function first}}
    %m = func.call @g(%x_) : (!x) -> !x
    xtensor.yield %m : !x
  } : (!x, !x) -> (!x, !x)
  return %dy : !x
}

// -----

// A handle may only be applied, transposed or returned.
!x = !xtensor.array<h: 3, f64>
func.func private @take(!xtensor.linear<(!x) -> !x>)
func.func @passed_on(%x: !x) {
  // expected-error @+1 {{'xtensor.linear' op cannot be expanded: its handle may only be applied, transposed or returned}}
  %y, %back = xtensor.pullback at(%x) wrt [0] {
  ^bb0(%x_: !x):
    xtensor.yield %x_ : !x
  } : (!x) -> (!x, !xtensor.linear<(!x) -> !x>)
  func.call @take(%back) : (!xtensor.linear<(!x) -> !x>) -> ()
  return
}
