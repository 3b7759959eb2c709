// Ops with regions: their text is what was read, their types follow from it.
// RUN: xtensor-opt %s | xtensor-opt | FileCheck %s

!s = !xtensor.array<f32>
!n = !xtensor.array<i64>
!x = !xtensor.array<t: 5, i: 3, f32>
!e = !xtensor.array<i: 3, f32>

// CHECK-LABEL: func @switch
func.func @switch(%i: !n, %a: !s, %b: !s) -> (!s, !n) {
  // CHECK: %{{.*}}:2 = xtensor.switch %{{.*}} {
  // CHECK: }, {
  // CHECK: } : (!xtensor.array<i64>) -> (!xtensor.array<f32>, !xtensor.array<i64>)
  %y, %k = xtensor.switch %i {
    xtensor.yield %a, %i : !s, !n
  }, {
    %c = xtensor.add %a, %b : !s, !s
    xtensor.yield %c, %i : !s, !n
  } : (!n) -> (!s, !n)
  return %y, %k : !s, !n
}

// CHECK-LABEL: func @while
func.func @while(%x: !s, %end: !s) -> !s {
  // CHECK: xtensor.while init(%{{.*}}) max_steps 7 cond {
  // CHECK: } body {
  // CHECK: } : (!xtensor.array<f32>) -> !xtensor.array<f32>
  %y = xtensor.while init(%x) max_steps 7 cond {
  ^bb0(%c: !s):
    %p = xtensor.compare lt %c, %end : !s, !s
    xtensor.yield %p : !xtensor.array<i1>
  } body {
  ^bb0(%c: !s):
    %d = xtensor.add %c, %c : !s, !s
    xtensor.yield %d : !s
  } : (!s) -> !s
  return %y : !s
}

// CHECK-LABEL: func @scans
func.func @scans(%c: !e, %x: !x, %d: !xtensor.array<t: ?, f32>, %n: !n) {
  // CHECK: xtensor.scan along t reverse carry(%{{.*}}) over(%{{.*}}) {
  // CHECK: -> (!xtensor.array<i: 3, f32>, !xtensor.array<t: 5, i: 3, f32>)
  %0:2 = xtensor.scan along t reverse carry(%c) over(%x) {
  ^bb0(%c_: !e, %x_: !e):
    %1 = xtensor.add %c_, %x_ : !e, !e
    xtensor.yield %1, %c_ : !e, !e
  } : (!e, !x) -> (!e, !x)
  // CHECK: xtensor.scan along t carry() over(%{{.*}}) {
  // CHECK: -> !xtensor.array<t: ?, i: 3, f32>
  %2 = xtensor.scan along t carry() over(%d) {
  ^bb0(%d_: !s):
    %3 = xtensor.mul %d_, %c : !s, !e
    xtensor.yield %3 : !e
  } : (!xtensor.array<t: ?, f32>) -> !xtensor.array<t: ?, i: 3, f32>
  // CHECK: xtensor.scan along u carry(%{{.*}}) over() length 0 {
  // CHECK: -> (!xtensor.array<i: 3, f32>, !xtensor.array<u: 0, i: 3, f32>)
  %4:2 = xtensor.scan along u carry(%c) over() length 0 {
  ^bb0(%c_: !e):
    xtensor.yield %c_, %c_ : !e, !e
  } : (!e) -> (!e, !xtensor.array<u: 0, i: 3, f32>)
  // CHECK: xtensor.scan along u carry(%{{.*}}) over() size %{{.*}} {
  // CHECK: -> (!xtensor.array<i: 3, f32>, !xtensor.array<u: ?, i: 3, f32>)
  %5:2 = xtensor.scan along u carry(%c) over() size %n {
  ^bb0(%c_: !e):
    xtensor.yield %c_, %c_ : !e, !e
  } : (!e, !n) -> (!e, !xtensor.array<u: ?, i: 3, f32>)
  return
}

// CHECK-LABEL: func @checkpoint
func.func @checkpoint(%x: !e) -> !e {
  // CHECK: xtensor.checkpoint {
  // CHECK: } : !xtensor.array<i: 3, f32>
  %y = xtensor.checkpoint {
    %e = xtensor.exp %x : !e
    xtensor.yield %e : !e
  } : !e
  return %y : !e
}

// CHECK-LABEL: func @custom_derivative
func.func @custom_derivative(%x: !s, %n: !n) -> (!s, !s) {
  // CHECK: xtensor.custom_derivative at(%{{.*}}, %{{.*}}) primal {
  // CHECK: } pushforward {
  // CHECK: } forward {
  // CHECK: } backward {
  %y = xtensor.custom_derivative at(%x, %n) primal {
  ^bb0(%x_: !s, %n_: !n):
    %e = xtensor.exp %x_ : !s
    xtensor.yield %e : !s
  } pushforward {
  ^bb0(%x_: !s, %n_: !n, %dx: !s):
    %e = xtensor.exp %x_ : !s
    %de = xtensor.mul %e, %dx : !s, !s
    xtensor.yield %e, %de : !s, !s
  } forward {
  ^bb0(%x_: !s, %n_: !n):
    %e = xtensor.exp %x_ : !s
    xtensor.yield %e, %e, %n_ : !s, !s, !n
  } backward {
  ^bb0(%e: !s, %n_: !n, %ct: !s):
    %d = xtensor.mul %e, %ct : !s, !s
    xtensor.yield %d : !s
  } : (!s, !n) -> !s
  // CHECK: xtensor.custom_derivative at(%{{.*}}) primal {
  // CHECK-NOT: pushforward
  // CHECK: } forward {
  %z = xtensor.custom_derivative at(%x) primal {
  ^bb0(%x_: !s):
    xtensor.yield %x_ : !s
  } forward {
  ^bb0(%x_: !s):
    xtensor.yield %x_ : !s
  } backward {
  ^bb0(%ct: !s):
    xtensor.yield %ct : !s
  } : (!s) -> !s
  return %y, %z : !s, !s
}

// CHECK-LABEL: func @vectorize
func.func @vectorize(%x: !xtensor.array<i: 3, b: 8, f32>, %w: !xtensor.array<a: ?, f32>) {
  // CHECK: xtensor.vectorize over [a, b] at(%{{.*}}, %{{.*}}) {
  // CHECK: -> !xtensor.array<a: ?, b: 8, f32>
  %y = xtensor.vectorize over [a, b] at(%x, %w) {
  ^bb0(%x_: !e, %w_: !s):
    %s = xtensor.reduce sum %x_ over [i] : !e
    xtensor.yield %s : !s
  } : (!xtensor.array<i: 3, b: 8, f32>, !xtensor.array<a: ?, f32>) -> !xtensor.array<a: ?, b: 8, f32>
  return
}
