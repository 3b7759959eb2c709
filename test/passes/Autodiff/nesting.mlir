// Requests inside of requests, a handle applied twice, and one applied inside of another
// request, which has to wait for it.
// RUN: xtensor-opt %s --xtensor-differentiate --xtensor-verify-differentiated | FileCheck %s
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s --check-prefix=ONCE

!x = !xtensor.array<h: 3, f64>

// Only the inner request is ready.
// ONCE-LABEL: func.func @second(
// ONCE: xtensor.pullback
// ONCE: xtensor.transposed
// ONCE: xtensor.apply
// CHECK-LABEL: func.func @second(
// CHECK: return
func.func @second(%x: !x, %ct: !x, %v: !x) -> !x {
  %g, %back = xtensor.pullback at(%x) wrt [0] {
  ^bb0(%x_: !x):
    %y, %inner = xtensor.pullback at(%x_) wrt [0] {
    ^bb0(%x__: !x):
      %e = xtensor.exp %x__ : !x
      xtensor.yield %e : !x
    } : (!x) -> (!x, !xtensor.linear<(!x) -> !x>)
    %g_ = xtensor.apply %inner(%ct) : <(!x) -> !x>, (!x) -> !x
    xtensor.yield %g_ : !x
  } : (!x) -> (!x, !xtensor.linear<(!x) -> !x>)
  %h = xtensor.apply %back(%v) : <(!x) -> !x>, (!x) -> !x
  return %h : !x
}

// CHECK-LABEL: func.func @applied(
// CHECK-SAME: %[[X:[a-z0-9]+]]: {{[^%]+}}, %[[V:[a-z0-9]+]]:
// CHECK: %[[E:.+]] = xtensor.exp %[[X]]
// CHECK: %[[A:.+]] = xtensor.mul %[[V]], %[[E]]
// CHECK: return %[[A]],
func.func @applied(%x: !x, %v: !x) -> (!x, !x, !x) {
  %y, %back = xtensor.pullback at(%x) wrt [0] {
  ^bb0(%x_: !x):
    %e = xtensor.exp %x_ : !x
    xtensor.yield %e : !x
  } : (!x) -> (!x, !xtensor.linear<(!x) -> !x>)
  %a = xtensor.apply %back(%v) : <(!x) -> !x>, (!x) -> !x
  %b = xtensor.apply %back(%y) : <(!x) -> !x>, (!x) -> !x
  // The handle is held fixed here: d/dx of back(x * x) is 2 x * exp(x) * v.
  %z, %back2 = xtensor.pullback at(%x) wrt [0] {
  ^bb0(%x_: !x):
    %q = xtensor.mul %x_, %x_ : !x, !x
    %g = xtensor.apply %back(%q) : <(!x) -> !x>, (!x) -> !x
    xtensor.yield %g : !x
  } : (!x) -> (!x, !xtensor.linear<(!x) -> !x>)
  %c = xtensor.apply %back2(%v) : <(!x) -> !x>, (!x) -> !x
  return %a, %b, %c : !x, !x, !x
}

// The transpose of a transpose is the map itself.
// CHECK-LABEL: func.func @twice(
// CHECK: return
func.func @twice(%x: !x, %v: !x) -> !x {
  %y, %back = xtensor.pullback at(%x) wrt [0] {
  ^bb0(%x_: !x):
    %e = xtensor.exp %x_ : !x
    xtensor.yield %e : !x
  } : (!x) -> (!x, !xtensor.linear<(!x) -> !x>)
  %forward = xtensor.transposed %back : <(!x) -> !x>
  %t = xtensor.apply %forward(%v) : <(!x) -> !x>, (!x) -> !x
  return %t : !x
}

// An argument that nothing depends on gets zeros, of its own dynamic size.
// CHECK-LABEL: func.func @no_path(
// CHECK-SAME: %[[X:[a-z0-9]+]]:
// CHECK: %[[N:.+]] = xtensor.size %[[X]] t
// CHECK: %[[Z:.+]] = xtensor.broadcast %{{.+}} sizes(%[[N]])
// CHECK: return %[[Z]]
func.func @no_path(%x: !xtensor.array<t: ?, f32>, %ct: !xtensor.array<f32>) -> !xtensor.array<t: ?, f32> {
  %y, %back = xtensor.pullback at(%x, %ct) wrt [0] {
  ^bb0(%x_: !xtensor.array<t: ?, f32>, %c: !xtensor.array<f32>):
    %r = xtensor.rename %x_ [t] to [u] : !xtensor.array<t: ?, f32>
    xtensor.yield %c : !xtensor.array<f32>
  } : (!xtensor.array<t: ?, f32>, !xtensor.array<f32>) -> (!xtensor.array<f32>, !xtensor.linear<(!xtensor.array<f32>) -> !xtensor.array<t: ?, f32>>)
  %g = xtensor.apply %back(%ct) : <(!xtensor.array<f32>) -> !xtensor.array<t: ?, f32>>, (!xtensor.array<f32>) -> !xtensor.array<t: ?, f32>
  return %g : !xtensor.array<t: ?, f32>
}

// Functions that the region calls are inlined first.
// CHECK-LABEL: func.func @calls(
// CHECK-SAME: %[[X:[a-z0-9]+]]: {{[^%]+}}, %[[V:[a-z0-9]+]]:
// CHECK-NOT: call
// CHECK: %[[E:.+]] = xtensor.exp %[[X]]
// CHECK: %[[T:.+]] = xtensor.mul %[[E]], %[[V]]
// CHECK: return %[[T]]
func.func private @inner(%x: !x) -> !x {
  %e = xtensor.exp %x : !x
  return %e : !x
}
func.func private @outer(%x: !x) -> (!x, !x) {
  %e = func.call @inner(%x) : (!x) -> !x
  return %x, %e : !x, !x
}
func.func @calls(%x: !x, %v: !x) -> !x {
  %y, %dy = xtensor.pushforward at(%x) wrt [0] along(%v) {
  ^bb0(%x_: !x):
    %a, %b = func.call @outer(%x_) : (!x) -> (!x, !x)
    xtensor.yield %b : !x
  } : (!x, !x) -> (!x, !x)
  return %dy : !x
}
