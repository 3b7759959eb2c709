// Every constraint of the ops with regions, with its exact message.
// RUN: xtensor-opt %s --split-input-file --verify-diagnostics

!s = !xtensor.array<f32>
!n = !xtensor.array<i64>

// switch_c1
func.func @f(%i: !n) {
  // expected-error@+1 {{region 1 takes ('!xtensor.array<f32>'), expected ()}}
  %y = xtensor.switch %i {
    %a = xtensor.constant dense<1.0> : tensor<f32> as !s
    xtensor.yield %a : !s
  }, {
  ^bb0(%a: !s):
    xtensor.yield %a : !s
  } : (!n) -> !s
  return
}

// -----

// switch_c1
func.func @f(%i: !xtensor.array<i64>) {
  // expected-error@+1 {{has no region to choose from}}
  "xtensor.switch"(%i) : (!xtensor.array<i64>) -> ()
  return
}

// -----

// switch_c2
func.func @f(%i: !xtensor.array<i64>) {
  // expected-error@+1 {{region 1 yields '!xtensor.array<i64>' as value 0, expected '!xtensor.array<f32>'}}
  %y = xtensor.switch %i {
    %a = xtensor.constant dense<1.0> : tensor<f32> as !xtensor.array<f32>
    xtensor.yield %a : !xtensor.array<f32>
  }, {
    xtensor.yield %i : !xtensor.array<i64>
  } : (!xtensor.array<i64>) -> !xtensor.array<f32>
  return
}

// -----

// switch_c2
func.func @f(%i: !xtensor.array<i64>) {
  // expected-error@+1 {{region 0 yields 0 values, expected 1}}
  %y = xtensor.switch %i {
    xtensor.yield
  } : (!xtensor.array<i64>) -> !xtensor.array<f32>
  return
}

// -----

// while_c1
func.func @f(%x: !xtensor.array<f32>) {
  // expected-error@+1 {{the condition takes (), expected ('!xtensor.array<f32>')}}
  %y = xtensor.while init(%x) cond {
    %p = xtensor.isnan %x : !xtensor.array<f32>
    xtensor.yield %p : !xtensor.array<i1>
  } body {
  ^bb0(%c: !xtensor.array<f32>):
    xtensor.yield %c : !xtensor.array<f32>
  } : (!xtensor.array<f32>) -> !xtensor.array<f32>
  return
}

// -----

// while_c2
func.func @f(%x: !xtensor.array<i: 3, f32>) {
  // expected-error@+1 {{the condition yields ('!xtensor.array<i: 3, i1>'), expected one bool without dims}}
  %y = xtensor.while init(%x) cond {
  ^bb0(%c: !xtensor.array<i: 3, f32>):
    %p = xtensor.isnan %c : !xtensor.array<i: 3, f32>
    xtensor.yield %p : !xtensor.array<i: 3, i1>
  } body {
  ^bb0(%c: !xtensor.array<i: 3, f32>):
    xtensor.yield %c : !xtensor.array<i: 3, f32>
  } : (!xtensor.array<i: 3, f32>) -> !xtensor.array<i: 3, f32>
  return
}

// -----

// while_c3
func.func @f(%x: !xtensor.array<f32>, %w: !xtensor.array<i: 3, f32>) {
  // expected-error@+1 {{the body yields '!xtensor.array<i: 3, f32>' as value 0, expected '!xtensor.array<f32>'}}
  %y = xtensor.while init(%x) cond {
  ^bb0(%c: !xtensor.array<f32>):
    %p = xtensor.isnan %c : !xtensor.array<f32>
    xtensor.yield %p : !xtensor.array<i1>
  } body {
  ^bb0(%c: !xtensor.array<f32>):
    xtensor.yield %w : !xtensor.array<i: 3, f32>
  } : (!xtensor.array<f32>) -> !xtensor.array<f32>
  return
}

// -----

// while_steps
func.func @f(%x: !xtensor.array<f32>) {
  // expected-error@+1 {{attribute 'max_steps' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %y = xtensor.while init(%x) max_steps -1 cond {
  ^bb0(%c: !xtensor.array<f32>):
    %p = xtensor.isnan %c : !xtensor.array<f32>
    xtensor.yield %p : !xtensor.array<i1>
  } body {
  ^bb0(%c: !xtensor.array<f32>):
    xtensor.yield %c : !xtensor.array<f32>
  } : (!xtensor.array<f32>) -> !xtensor.array<f32>
  return
}

// -----

// scan_c1
func.func @f(%x: !xtensor.array<i: 3, f32>) {
  // expected-error@+1 {{scans along "t", which an array it scans over lacks; it has (i: 3)}}
  xtensor.scan along t carry() over(%x) {
  ^bb0(%x_: !xtensor.array<i: 3, f32>):
    xtensor.yield
  } : (!xtensor.array<i: 3, f32>) -> ()
  return
}

// -----

// scan_c1
func.func @f(%x: !xtensor.array<t: 3, f32>, %y: !xtensor.array<t: 4, f32>) {
  // expected-error@+1 {{scans along "t", whose sizes differ: (t: 3) and (t: 4)}}
  xtensor.scan along t carry() over(%x, %y) {
  ^bb0(%x_: !xtensor.array<f32>, %y_: !xtensor.array<f32>):
    xtensor.yield
  } : (!xtensor.array<t: 3, f32>, !xtensor.array<t: 4, f32>) -> ()
  return
}

// -----

// scan_c2
func.func @f(%x: !xtensor.array<f32>) {
  // expected-error@+1 {{has no array to scan over: give either `length` or `size`}}
  %y = xtensor.scan along t carry(%x) over() {
  ^bb0(%c: !xtensor.array<f32>):
    xtensor.yield %c : !xtensor.array<f32>
  } : (!xtensor.array<f32>) -> !xtensor.array<f32>
  return
}

// -----

// scan_c2
func.func @f(%x: !xtensor.array<t: 3, f32>) {
  // expected-error@+1 {{takes its length from the arrays it scans over: give neither `length` nor `size`}}
  xtensor.scan along t carry() over(%x) length 3 {
  ^bb0(%x_: !xtensor.array<f32>):
    xtensor.yield
  } : (!xtensor.array<t: 3, f32>) -> ()
  return
}

// -----

// scan_c3
func.func @f(%x: !xtensor.array<t: 3, f32>) {
  // expected-error@+1 {{the body takes ('!xtensor.array<t: 3, f32>'), expected ('!xtensor.array<f32>')}}
  xtensor.scan along t carry() over(%x) {
  ^bb0(%x_: !xtensor.array<t: 3, f32>):
    xtensor.yield
  } : (!xtensor.array<t: 3, f32>) -> ()
  return
}

// -----

// scan_c4
func.func @f(%x: !xtensor.array<f32>) {
  // expected-error@+1 {{the body yields 0 values, the carries are 1}}
  %y = xtensor.scan along t carry(%x) over() length 3 {
  ^bb0(%c: !xtensor.array<f32>):
    xtensor.yield
  } : (!xtensor.array<f32>) -> !xtensor.array<f32>
  return
}

// -----

// scan_c4
func.func @f(%x: !xtensor.array<t: 3, f32>) {
  // expected-error@+1 {{stacks along "t", which the body yields already in (t: 3)}}
  %y = xtensor.scan along t carry() over(%x) {
  ^bb0(%x_: !xtensor.array<f32>):
    xtensor.yield %x : !xtensor.array<t: 3, f32>
  } : (!xtensor.array<t: 3, f32>) -> !xtensor.array<t: 3, f32>
  return
}

// -----

// scan_c5
func.func @f(%x: !xtensor.array<t: 3, f32>) {
  // expected-error@+1 {{the results are ('!xtensor.array<t: 4, f32>'), expected ('!xtensor.array<t: 3, f32>')}}
  %y = xtensor.scan along t carry() over(%x) {
  ^bb0(%x_: !xtensor.array<f32>):
    xtensor.yield %x_ : !xtensor.array<f32>
  } : (!xtensor.array<t: 3, f32>) -> !xtensor.array<t: 4, f32>
  return
}

// -----

// checkpoint_c1
func.func @f(%x: !xtensor.array<f32>) {
  // expected-error@+1 {{the region takes ('!xtensor.array<f32>'), expected ()}}
  %y = xtensor.checkpoint {
  ^bb0(%x_: !xtensor.array<f32>):
    xtensor.yield %x : !xtensor.array<f32>
  } : !xtensor.array<f32>
  return
}

// -----

// checkpoint_c2
func.func @f(%x: !xtensor.array<f32>) {
  // expected-error@+1 {{the region yields 1 values, expected 0}}
  xtensor.checkpoint {
    xtensor.yield %x : !xtensor.array<f32>
  }
  return
}

// -----

// custom_derivative_c1
func.func @f(%x: !xtensor.array<f32>) {
  // expected-error@+1 {{has neither a pushforward nor a forward and a backward}}
  %y = xtensor.custom_derivative at(%x) primal {
  ^bb0(%x_: !xtensor.array<f32>):
    xtensor.yield %x_ : !xtensor.array<f32>
  } : (!xtensor.array<f32>) -> !xtensor.array<f32>
  return
}

// -----

// custom_derivative_c1
func.func @f(%x: !xtensor.array<f32>) {
  // expected-error@+1 {{has a forward without a backward, or the reverse}}
  %y = "xtensor.custom_derivative"(%x) ({
  ^bb0(%x_: !xtensor.array<f32>):
    xtensor.yield %x_ : !xtensor.array<f32>
  }, {
  }, {
  ^bb0(%x_: !xtensor.array<f32>):
    xtensor.yield %x_ : !xtensor.array<f32>
  }, {
  }) : (!xtensor.array<f32>) -> !xtensor.array<f32>
  return
}

// -----

// custom_derivative_c2
func.func @f(%x: !xtensor.array<f32>, %n: !xtensor.array<i64>) {
  // expected-error@+1 {{the pushforward takes ('!xtensor.array<f32>', '!xtensor.array<i64>'), expected ('!xtensor.array<f32>', '!xtensor.array<i64>', '!xtensor.array<f32>')}}
  %y = xtensor.custom_derivative at(%x, %n) primal {
  ^bb0(%x_: !xtensor.array<f32>, %n_: !xtensor.array<i64>):
    xtensor.yield %x_ : !xtensor.array<f32>
  } pushforward {
  ^bb0(%x_: !xtensor.array<f32>, %n_: !xtensor.array<i64>):
    xtensor.yield %x_, %x_ : !xtensor.array<f32>, !xtensor.array<f32>
  } : (!xtensor.array<f32>, !xtensor.array<i64>) -> !xtensor.array<f32>
  return
}

// -----

// custom_derivative_c2
func.func @f(%x: !xtensor.array<f32>) {
  // expected-error@+1 {{the backward takes ('!xtensor.array<f32>'), expected ('!xtensor.array<i64>', '!xtensor.array<f32>')}}
  %y = xtensor.custom_derivative at(%x) primal {
  ^bb0(%x_: !xtensor.array<f32>):
    xtensor.yield %x_ : !xtensor.array<f32>
  } forward {
  ^bb0(%x_: !xtensor.array<f32>):
    %n = xtensor.constant dense<1> : tensor<i64> as !xtensor.array<i64>
    xtensor.yield %x_, %n : !xtensor.array<f32>, !xtensor.array<i64>
  } backward {
  ^bb0(%ct: !xtensor.array<f32>):
    xtensor.yield %ct : !xtensor.array<f32>
  } : (!xtensor.array<f32>) -> !xtensor.array<f32>
  return
}

// -----

// custom_derivative_c3
func.func @f(%x: !xtensor.array<f32>) {
  // expected-error@+1 {{the pushforward yields 1 values, expected 2}}
  %y = xtensor.custom_derivative at(%x) primal {
  ^bb0(%x_: !xtensor.array<f32>):
    xtensor.yield %x_ : !xtensor.array<f32>
  } pushforward {
  ^bb0(%x_: !xtensor.array<f32>, %dx: !xtensor.array<f32>):
    xtensor.yield %x_ : !xtensor.array<f32>
  } : (!xtensor.array<f32>) -> !xtensor.array<f32>
  return
}

// -----

// custom_derivative_c3
func.func @f(%x: !xtensor.array<f32>) {
  // expected-error@+1 {{the forward yields (), expected the results ('!xtensor.array<f32>') and then residuals}}
  %y = xtensor.custom_derivative at(%x) primal {
  ^bb0(%x_: !xtensor.array<f32>):
    xtensor.yield %x_ : !xtensor.array<f32>
  } forward {
  ^bb0(%x_: !xtensor.array<f32>):
    xtensor.yield
  } backward {
  ^bb0(%ct: !xtensor.array<f32>):
    xtensor.yield %ct : !xtensor.array<f32>
  } : (!xtensor.array<f32>) -> !xtensor.array<f32>
  return
}

// -----

// custom_derivative_c3
func.func @f(%x: !xtensor.array<f32>) {
  // expected-error@+1 {{the backward yields 0 values, expected 1}}
  %y = xtensor.custom_derivative at(%x) primal {
  ^bb0(%x_: !xtensor.array<f32>):
    xtensor.yield %x_ : !xtensor.array<f32>
  } forward {
  ^bb0(%x_: !xtensor.array<f32>):
    xtensor.yield %x_ : !xtensor.array<f32>
  } backward {
  ^bb0(%ct: !xtensor.array<f32>):
    xtensor.yield
  } : (!xtensor.array<f32>) -> !xtensor.array<f32>
  return
}

// -----

// vectorize_c1
func.func @f(%x: !xtensor.array<b: 3, f32>) {
  // expected-error@+1 {{no argument has dim "c"}}
  xtensor.vectorize over [b, c] at(%x) {
  ^bb0(%x_: !xtensor.array<f32>):
    xtensor.yield
  } : (!xtensor.array<b: 3, f32>) -> ()
  return
}

// -----

// vectorize_c1
func.func @f(%x: !xtensor.array<b: 3, f32>) {
  // expected-error@+1 {{names dim "b" twice}}
  xtensor.vectorize over [b, b] at(%x) {
  ^bb0(%x_: !xtensor.array<f32>):
    xtensor.yield
  } : (!xtensor.array<b: 3, f32>) -> ()
  return
}

// -----

// vectorize_c1
func.func @f(%x: !xtensor.array<b: 3, f32>) {
  // expected-error@+1 {{names no dim}}
  xtensor.vectorize over [] at(%x) {
  ^bb0(%x_: !xtensor.array<b: 3, f32>):
    xtensor.yield
  } : (!xtensor.array<b: 3, f32>) -> ()
  return
}

// -----

// vectorize_c1
func.func @f(%x: !xtensor.array<b: 3, f32>, %y: !xtensor.array<i: 2, b: 4, f32>) {
  // expected-error@+1 {{dim "b" has two sizes: (b: 3) and (i: 2, b: 4)}}
  xtensor.vectorize over [b] at(%x, %y) {
  ^bb0(%x_: !xtensor.array<f32>, %y_: !xtensor.array<i: 2, f32>):
    xtensor.yield
  } : (!xtensor.array<b: 3, f32>, !xtensor.array<i: 2, b: 4, f32>) -> ()
  return
}

// -----

// vectorize_c2
func.func @f(%x: !xtensor.array<b: 3, f32>) {
  // expected-error@+1 {{the body takes ('!xtensor.array<b: 3, f32>'), expected ('!xtensor.array<f32>')}}
  xtensor.vectorize over [b] at(%x) {
  ^bb0(%x_: !xtensor.array<b: 3, f32>):
    xtensor.yield
  } : (!xtensor.array<b: 3, f32>) -> ()
  return
}

// -----

// vectorize_c3
func.func @f(%x: !xtensor.array<b: 3, f32>) {
  // expected-note@+1 {{vectorized over it here}}
  %y = xtensor.vectorize over [b] at(%x) {
  ^bb0(%x_: !xtensor.array<f32>):
    // expected-error@+1 {{takes an array (b: 3) from outside that has dim "b", which is batched here: pass the array to the vectorized function as an argument, or rename its dim before, outside of the function}}
    %z = xtensor.add %x_, %x : !xtensor.array<f32>, !xtensor.array<b: 3, f32>
    %s = xtensor.reduce sum %z over [b] : !xtensor.array<b: 3, f32>
    xtensor.yield %s : !xtensor.array<f32>
  } : (!xtensor.array<b: 3, f32>) -> !xtensor.array<b: 3, f32>
  return
}

// -----

// vectorize_c3
func.func @f(%x: !xtensor.array<b: 3, f32>) {
  // expected-note@+1 {{vectorized over it here}}
  %y = xtensor.vectorize over [b] at(%x) {
  ^bb0(%x_: !xtensor.array<f32>):
    // expected-error@+1 {{makes an array with dim "b", which is batched here and cannot be used inside, too: rename one of the two}}
    %z = xtensor.broadcast %x_ : (!xtensor.array<f32>) -> !xtensor.array<b: 2, f32>
    %s = xtensor.reduce sum %z over [b] : !xtensor.array<b: 2, f32>
    xtensor.yield %s : !xtensor.array<f32>
  } : (!xtensor.array<b: 3, f32>) -> !xtensor.array<b: 3, f32>
  return
}

// -----

// vectorize_c4
func.func @f(%x: !xtensor.array<b: 3, f32>) {
  // expected-error@+1 {{the results are ('!xtensor.array<f32>'), expected ('!xtensor.array<b: 3, f32>')}}
  %y = xtensor.vectorize over [b] at(%x) {
  ^bb0(%x_: !xtensor.array<f32>):
    xtensor.yield %x_ : !xtensor.array<f32>
  } : (!xtensor.array<b: 3, f32>) -> !xtensor.array<f32>
  return
}
