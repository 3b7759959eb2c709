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
    // expected-error @+1 {{'xtensor.add' op puts a value that is neither a tangent nor zero beside a tangent}}
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
    // expected-error @+1 {{'func.call' op has no derivative: it calls a function without a body}}
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

// -----

// A map may not decide by its argument how often it does something.
!s = !xtensor.array<f64>
func.func @goes_on(%r: !s) {
  %l = xtensor.linear {
  ^bb0(%t: !s):
    // expected-error @+1 {{'xtensor.while' op goes on by a tangent}}
    %p = xtensor.while init(%t) cond {
    ^bb0(%c: !s):
      %more = xtensor.compare lt %c, %r : !s, !s
      xtensor.yield %more : !xtensor.array<i1>
    } body {
    ^bb0(%c: !s):
      %n = xtensor.mul %c, %r : !s, !s
      xtensor.yield %n : !s
    } : (!s) -> !s
    xtensor.yield %p : !s
  } : <(!s) -> !s>
  return
}

// -----

!s = !xtensor.array<f64>
func.func @affine_carry(%r: !s) {
  %l = xtensor.linear {
  ^bb0(%t: !s):
    // expected-error @+1 {{'xtensor.scan' op adds tangents to carry 0, which starts from a value that is neither a tangent nor zero}}
    %p = xtensor.scan along t carry(%r) over() length 3 {
    ^bb0(%c: !s):
      %n = xtensor.add %c, %t : !s, !s
      xtensor.yield %n : !s
    } : (!s) -> !s
    xtensor.yield %p : !s
  } : <(!s) -> !s>
  return
}

// -----

!s = !xtensor.array<f64>
func.func @one_branch(%r: !s, %i: !xtensor.array<i64>) {
  %l = xtensor.linear {
  ^bb0(%t: !s):
    %p = xtensor.switch %i {
      xtensor.yield %t : !s
    }, {
      // expected-error @+1 {{'xtensor.yield' op yields a value that no tangent reaches}}
      xtensor.yield %r : !s
    } : (!xtensor.array<i64>) -> !s
    xtensor.yield %p : !s
  } : <(!s) -> !s>
  return
}

// -----

// A user's forward rule is checked when it is used.
!s = !xtensor.array<f64>
func.func @pushforward(%x: !s, %v: !s) -> !s {
  %y, %dy = xtensor.pushforward at(%x) wrt [0] along(%v) {
  ^bb0(%x_: !s):
    // expected-error @+1 {{the pushforward rule is not linear in the tangents}}
    %p = xtensor.custom_derivative at(%x_) primal {
    ^bb0(%a: !s):
      xtensor.yield %a : !s
    } pushforward {
    ^bb0(%a: !s, %t: !s):
      // expected-note @+1 {{'xtensor.mul' op multiplies 2 tangents}}
      %tt = xtensor.mul %t, %t : !s, !s
      xtensor.yield %a, %tt : !s, !s
    } : (!s) -> !s
    xtensor.yield %p : !s
  } : (!s, !s) -> (!s, !s)
  return %dy : !s
}

// -----

// A reverse rule that clips serves reverse mode alone.
!s = !xtensor.array<f64>
func.func @pullback(%x: !s, %v: !s) -> !s {
  %y, %dy = xtensor.pushforward at(%x) wrt [0] along(%v) {
  ^bb0(%x_: !s):
    // expected-error @+1 {{this derivative is needed forwards, but its pullback rule is not linear in the cotangents: give a pushforward rule, too}}
    %p = xtensor.custom_derivative at(%x_) primal {
    ^bb0(%a: !s):
      xtensor.yield %a : !s
    } forward {
    ^bb0(%a: !s):
      xtensor.yield %a : !s
    } backward {
    ^bb0(%ct: !s):
      // expected-note @+1 {{'xtensor.tanh' op depends on a tangent, but is not linear}}
      %g = xtensor.tanh %ct : !s
      xtensor.yield %g : !s
    } : (!s) -> !s
    xtensor.yield %p : !s
  } : (!s, !s) -> (!s, !s)
  return %dy : !s
}

// -----

!s = !xtensor.array<f64>
func.func @captures(%x: !s, %v: !s) -> !s {
  %y, %dy = xtensor.pushforward at(%x) wrt [0] along(%v) {
  ^bb0(%x_: !s):
    %p = xtensor.custom_derivative at(%v) primal {
    ^bb0(%a: !s):
      // expected-error @+1 {{this custom_derivative captures an array that is differentiated, of which its rule says nothing: make the array an argument}}
      %m = xtensor.mul %a, %x_ : !s, !s
      xtensor.yield %m : !s
    } pushforward {
    ^bb0(%a: !s, %t: !s):
      xtensor.yield %a, %t : !s, !s
    } : (!s) -> !s
    xtensor.yield %p : !s
  } : (!s, !s) -> (!s, !s)
  return %dy : !s
}

// -----

!s = !xtensor.array<f64>
func.func @endless(%x: !s) -> !s {
  // expected-note @+1 {{needed by this xtensor.pushforward}}
  %y, %dy = xtensor.pushforward at(%x) wrt [0] along(%x) {
  ^bb0(%x_: !s):
    %m = func.call @endless(%x_) : (!s) -> !s
    xtensor.yield %m : !s
  } : (!s, !s) -> (!s, !s)
  // expected-error @+1 {{'func.call' op has no derivative: it calls a function that calls itself}}
  %z = func.call @endless(%y) : (!s) -> !s
  return %z : !s
}
