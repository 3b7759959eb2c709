// What loops and branches hold and no one needs.
// RUN: xtensor-opt %s --xtensor-simplify | FileCheck %s

!s = !xtensor.array<f32>
!n = !xtensor.array<i64>
!x = !xtensor.array<t: 5, f32>
!h = !xtensor.array<i: 3, f32>

// CHECK-LABEL: func.func @known_switch(
// CHECK-NOT: xtensor.switch
// CHECK: %[[E:.*]] = xtensor.exp
// CHECK: return %[[E]]
func.func @known_switch(%s: !s) -> !s {
  %i = xtensor.constant dense<9> : tensor<i64> as !n
  %0 = xtensor.switch %i {
    xtensor.yield %s : !s
  }, {
    %e = xtensor.exp %s : !s
    xtensor.yield %e : !s
  } : (!n) -> !s
  return %0 : !s
}

// CHECK-LABEL: func.func @unread_branch_result(
// CHECK: xtensor.switch
// CHECK-NOT: xtensor.exp
// CHECK: } : (!xtensor.array<i64>) -> !xtensor.array<f32>
func.func @unread_branch_result(%i: !n, %s: !s) -> !s {
  %0:2 = xtensor.switch %i {
    xtensor.yield %s, %s : !s, !s
  }, {
    %e = xtensor.exp %s : !s
    %m = xtensor.neg %s : !s
    xtensor.yield %e, %m : !s, !s
  } : (!n) -> (!s, !s)
  return %0#1 : !s
}

// The second carry serves itself alone; the second array is not read; nobody reads what is stacked.
// CHECK-LABEL: func.func @unread_in_scan(
// CHECK-SAME: %[[C:[a-z0-9]+]]: {{[^%]+}}, %[[X:[a-z0-9]+]]:
// CHECK: xtensor.scan along t carry(%[[C]]) over(%[[X]]) {
// CHECK-NOT: xtensor.exp
// CHECK: } : (!xtensor.array<f32>, !xtensor.array<t: 5, f32>) -> !xtensor.array<f32>
func.func @unread_in_scan(%c: !s, %x: !x, %y: !x) -> !s {
  %0:3 = xtensor.scan along t carry(%c, %c) over(%x, %y) {
  ^bb0(%a: !s, %b: !s, %x_: !s, %y_: !s):
    %1 = xtensor.add %a, %x_ : !s, !s
    %2 = xtensor.exp %b : !s
    xtensor.yield %1, %2, %2 : !s, !s, !s
  } : (!s, !s, !x, !x) -> (!s, !s, !x)
  return %0#0 : !s
}

// What no array tells any more, the length does.
// CHECK-LABEL: func.func @length(
// CHECK: xtensor.scan along t carry(%{{.*}}) over() length 5 {
func.func @length(%c: !s, %x: !x) -> !s {
  %0 = xtensor.scan along t carry(%c) over(%x) {
  ^bb0(%a: !s, %x_: !s):
    %1 = xtensor.exp %a : !s
    xtensor.yield %1 : !s
  } : (!s, !x) -> !s
  return %0 : !s
}

// Without a step, carries are what they were, and stacks are empty.
// CHECK-LABEL: func.func @no_step(
// CHECK-SAME: %[[C:[a-z0-9]+]]:
// CHECK-NOT: xtensor.scan
// CHECK: %[[Z:.*]] = xtensor.broadcast %{{.*}} : (!xtensor.array<f32>) -> !xtensor.array<t: 0, f32>
// CHECK: return %[[C]], %[[Z]]
func.func @no_step(%c: !s) -> (!s, !xtensor.array<t: 0, f32>) {
  %0:2 = xtensor.scan along t carry(%c) over() length 0 {
  ^bb0(%a: !s):
    %1 = xtensor.exp %a : !s
    xtensor.yield %1, %1 : !s, !s
  } : (!s) -> (!s, !xtensor.array<t: 0, f32>)
  return %0#0, %0#1 : !s, !xtensor.array<t: 0, f32>
}

// A carry that stays, what was scanned over and what is the same at every step are there already.
// CHECK-LABEL: func.func @known_results(
// CHECK-SAME: %[[C:[a-z0-9]+]]: {{[^%]+}}, %[[D:[a-z0-9]+]]: {{[^%]+}}, %[[X:[a-z0-9]+]]:
// CHECK: %[[B:.*]] = xtensor.broadcast %[[D]] : (!xtensor.array<f32>) -> !xtensor.array<t: 5, f32>
// CHECK: %[[L:.*]] = xtensor.scan along t carry(%[[C]]) over(%[[X]]) {
// CHECK: xtensor.add %{{.*}}, %[[D]]
// CHECK: return %[[L]], %[[D]], %[[X]], %[[B]]
func.func @known_results(%c: !s, %d: !s, %x: !x) -> (!s, !s, !x, !x) {
  %0:4 = xtensor.scan along t carry(%c, %d) over(%x) {
  ^bb0(%a: !s, %b: !s, %x_: !s):
    %1 = xtensor.mul %a, %x_ : !s, !s
    %2 = xtensor.add %1, %b : !s, !s
    xtensor.yield %2, %b, %x_, %b : !s, !s, !s, !s
  } : (!s, !s, !x) -> (!s, !s, !x, !x)
  return %0#0, %0#1, %0#2, %0#3 : !s, !s, !x, !x
}

// CHECK-LABEL: func.func @unread_in_while(
// CHECK: xtensor.while init(%{{[a-z0-9]+}}) cond {
// CHECK-NOT: xtensor.exp
// CHECK: } : (!xtensor.array<f32>) -> !xtensor.array<f32>
func.func @unread_in_while(%c: !s, %d: !s) -> !s {
  %0:2 = xtensor.while init(%c, %d) cond {
  ^bb0(%a: !s, %b: !s):
    %p = xtensor.compare lt %a, %d : !s, !s
    xtensor.yield %p : !xtensor.array<i1>
  } body {
  ^bb0(%a: !s, %b: !s):
    %1 = xtensor.add %a, %a : !s, !s
    %2 = xtensor.exp %b : !s
    xtensor.yield %1, %2 : !s, !s
  } : (!s, !s) -> (!s, !s)
  return %0#0 : !s
}

// The product leaves both loops; a read that may report an index does not.
// CHECK-LABEL: func.func @invariant(
// CHECK: %[[W:.*]] = xtensor.exp
// CHECK: xtensor.scan
// CHECK: xtensor.while
// CHECK-NOT: xtensor.exp
// CHECK: xtensor.gather raise
func.func @invariant(%c: !s, %w: !h, %i: !n, %x: !x) -> !s {
  %0 = xtensor.scan along t carry(%c) over(%x) {
  ^bb0(%a: !s, %x_: !s):
    %1 = xtensor.while init(%a) max_steps 3 cond {
    ^bb0(%b: !s):
      %p = xtensor.compare lt %b, %x_ : !s, !s
      xtensor.yield %p : !xtensor.array<i1>
    } body {
    ^bb0(%b: !s):
      %e = xtensor.exp %w : !h
      %g = xtensor.gather raise %e at %i along [i] : !h, !n
      %d = xtensor.add %b, %g : !s, !s
      xtensor.yield %d : !s
    } : (!s) -> !s
    xtensor.yield %1 : !s
  } : (!s, !x) -> !s
  return %0 : !s
}

// A loop that never ends once it has begun stays, though its result is known.
// CHECK-LABEL: func.func @endless(
// CHECK: %[[W:.*]] = xtensor.while
// CHECK: return %[[W]]
func.func @endless(%a: !s, %end: !s) -> !s {
  %0 = xtensor.while init(%a) cond {
  ^bb0(%c: !s):
    %more = xtensor.compare lt %c, %end : !s, !s
    xtensor.yield %more : !xtensor.array<i1>
  } body {
  ^bb0(%c: !s):
    xtensor.yield %c : !s
  } : (!s) -> !s
  return %0 : !s
}
