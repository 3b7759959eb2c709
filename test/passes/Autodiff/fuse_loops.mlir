// A scan of what another stacked becomes one loop with it, and so does a while loop that repeats
// another's carries. Loops that a map holds stay.
// RUN: xtensor-opt %s --xtensor-fuse-loops | FileCheck %s

!s = !xtensor.array<f32>
!x = !xtensor.array<t: 4, f32>

// Nothing is stacked any more; what lies between and needs the first loop comes after both.
// CHECK-LABEL: func.func @tangents(
// CHECK-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[DA:[a-z0-9]+]]: {{[^%]+}}, %[[X:[a-z0-9]+]]: {{[^%]+}}, %[[DX:[a-z0-9]+]]:
// CHECK-NEXT: %[[R:.+]]:2 = xtensor.scan along t carry(%[[A]], %[[DA]]) over(%[[X]], %[[DX]]) {
// CHECK-NEXT: ^bb0(%[[C:[a-z0-9]+]]: {{[^%]+}}, %[[DC:[a-z0-9]+]]: {{[^%]+}}, %[[E:[a-z0-9]+]]: {{[^%]+}}, %[[DE:[a-z0-9]+]]:
// CHECK-NEXT: %[[N:.+]] = xtensor.mul %[[C]], %[[E]]
// CHECK-NEXT: %[[K:.+]] = xtensor.cos %[[N]]
// CHECK-NEXT: %[[P:.+]] = xtensor.mul %[[K]], %[[DC]]
// CHECK-NEXT: %[[Q:.+]] = xtensor.add %[[P]], %[[DE]]
// CHECK-NEXT: xtensor.yield %[[N]], %[[Q]]
// CHECK: %[[B:.+]] = xtensor.exp %[[R]]#0
// CHECK: return %[[B]], %[[R]]#1
func.func @tangents(%a: !s, %da: !s, %x: !x, %dx: !x) -> (!s, !s) {
  %c, %z = xtensor.scan along t carry(%a) over(%x) {
  ^bb0(%c_: !s, %e: !s):
    %n = xtensor.mul %c_, %e : !s, !s
    %k = xtensor.cos %n : !s
    xtensor.yield %n, %k : !s, !s
  } : (!s, !x) -> (!s, !x)
  %b = xtensor.exp %c : !s
  %dc = xtensor.scan along t carry(%da) over(%dx, %z) {
  ^bb0(%d: !s, %de: !s, %k: !s):
    %p = xtensor.mul %k, %d : !s, !s
    %q = xtensor.add %p, %de : !s, !s
    xtensor.yield %q : !s
  } : (!s, !x, !x) -> !s
  return %b, %dc : !s, !s
}

// The second needs the last carry of the first; the stacked values are returned; the ways differ.
// CHECK-LABEL: func.func @apart(
// CHECK-COUNT-6: xtensor.scan
func.func @apart(%a: !s, %x: !x) -> (!s, !s, !x, !s) {
  %c, %z = xtensor.scan along t carry(%a) over(%x) {
  ^bb0(%c_: !s, %e: !s):
    %n = xtensor.mul %c_, %e : !s, !s
    xtensor.yield %n, %n : !s, !s
  } : (!s, !x) -> (!s, !x)
  %d = xtensor.scan along t carry(%c) over(%z) {
  ^bb0(%c_: !s, %e: !s):
    %n = xtensor.mul %c_, %e : !s, !s
    xtensor.yield %n : !s
  } : (!s, !x) -> !s
  %f, %y = xtensor.scan along t carry(%a) over(%x) {
  ^bb0(%c_: !s, %e: !s):
    %n = xtensor.sin %c_ : !s
    xtensor.yield %n, %n : !s, !s
  } : (!s, !x) -> (!s, !x)
  %g = xtensor.scan along t carry(%a) over(%y) {
  ^bb0(%c_: !s, %e: !s):
    %n = xtensor.mul %c_, %e : !s, !s
    xtensor.yield %n : !s
  } : (!s, !x) -> !s
  %h, %w = xtensor.scan along t carry(%a) over(%x) {
  ^bb0(%c_: !s, %e: !s):
    %n = xtensor.cos %c_ : !s
    xtensor.yield %n, %n : !s, !s
  } : (!s, !x) -> (!s, !x)
  %i = xtensor.scan along t reverse carry(%a) over(%w) {
  ^bb0(%c_: !s, %e: !s):
    %n = xtensor.mul %c_, %e : !s, !s
    xtensor.yield %n : !s
  } : (!s, !x) -> !s
  return %d, %g, %y, %i : !s, !s, !x, !s
}

// CHECK-LABEL: func.func @repeated(
// CHECK-SAME: %[[A:[a-z0-9]+]]: {{[^%]+}}, %[[DA:[a-z0-9]+]]: {{[^%]+}}, %[[END:[a-z0-9]+]]:
// CHECK-NEXT: %[[R:.+]]:2 = xtensor.while init(%[[A]], %[[DA]]) cond
// CHECK-NOT: xtensor.while
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @repeated(%a: !s, %da: !s, %end: !s) -> (!s, !s) {
  %c = xtensor.while init(%a) cond {
  ^bb0(%c_: !s):
    %m = xtensor.compare lt %c_, %end : !s, !s
    xtensor.yield %m : !xtensor.array<i1>
  } body {
  ^bb0(%c_: !s):
    %n = xtensor.exp %c_ : !s
    xtensor.yield %n : !s
  } : (!s) -> !s
  %again, %dc = xtensor.while init(%a, %da) cond {
  ^bb0(%c_: !s, %d: !s):
    %m = xtensor.compare lt %c_, %end : !s, !s
    xtensor.yield %m : !xtensor.array<i1>
  } body {
  ^bb0(%c_: !s, %d: !s):
    %n = xtensor.exp %c_ : !s
    %k = xtensor.mul %n, %d : !s, !s
    xtensor.yield %n, %k : !s, !s
  } : (!s, !s) -> (!s, !s)
  return %c, %dc : !s, !s
}

// CHECK-LABEL: func.func @in_a_map(
// CHECK: xtensor.linear
// CHECK-COUNT-2: xtensor.scan
func.func @in_a_map(%x: !x) -> !xtensor.linear<(!s) -> !s> {
  %l = xtensor.linear {
  ^bb0(%t: !s):
    %c, %z = xtensor.scan along t carry(%t) over(%x) {
    ^bb0(%c_: !s, %e: !s):
      %n = xtensor.mul %c_, %e : !s, !s
      xtensor.yield %n, %n : !s, !s
    } : (!s, !x) -> (!s, !x)
    %d = xtensor.scan along t carry(%t) over(%z) {
    ^bb0(%c_: !s, %e: !s):
      %n = xtensor.add %c_, %e : !s, !s
      xtensor.yield %n : !s
    } : (!s, !x) -> !s
    xtensor.yield %d : !s
  } : <(!s) -> !s>
  return %l : !xtensor.linear<(!s) -> !s>
}

// Scans that may end early do so at the same step: the marks are the same, and the fused loop has
// them.
// CHECK-LABEL: func.func @end_early(
// CHECK: xtensor.scan along t carry(%{{.+}}, %{{.+}}) over()
// CHECK: {xtensor.ends_early = distinct[0]<>}
// CHECK-NOT: xtensor.scan
// CHECK-LABEL: func.func @end_at_other_steps(
// CHECK-COUNT-2: xtensor.scan
func.func @end_early(%a: !s, %da: !s, %n: !xtensor.array<i64>) -> (!s, !s) {
  %c, %z = xtensor.scan along t carry(%a) over() size %n {
  ^bb0(%c_: !s):
    %m = xtensor.mul %c_, %c_ : !s, !s
    xtensor.yield %m, %c_ : !s, !s
  } {xtensor.ends_early = distinct[0]<>} : (!s, !xtensor.array<i64>) -> (!s, !xtensor.array<t: ?, f32>)
  %dc = xtensor.scan along t carry(%da) over(%z) {
  ^bb0(%d: !s, %e: !s):
    %k = xtensor.mul %d, %e : !s, !s
    xtensor.yield %k : !s
  } {xtensor.ends_early = distinct[0]<>} : (!s, !xtensor.array<t: ?, f32>) -> !s
  return %c, %dc : !s, !s
}
func.func @end_at_other_steps(%a: !s, %da: !s, %n: !xtensor.array<i64>) -> (!s, !s) {
  %c, %z = xtensor.scan along t carry(%a) over() size %n {
  ^bb0(%c_: !s):
    %m = xtensor.mul %c_, %c_ : !s, !s
    xtensor.yield %m, %c_ : !s, !s
  } {xtensor.ends_early = distinct[0]<>} : (!s, !xtensor.array<i64>) -> (!s, !xtensor.array<t: ?, f32>)
  %dc = xtensor.scan along t carry(%da) over(%z) {
  ^bb0(%d: !s, %e: !s):
    %k = xtensor.mul %d, %e : !s, !s
    xtensor.yield %k : !s
  } : (!s, !xtensor.array<t: ?, f32>) -> !s
  return %c, %dc : !s, !s
}
