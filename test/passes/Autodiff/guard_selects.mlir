// A zero cotangent must win against an infinite derivative: products from which a select is
// reached become `scale`, where the map will be transposed.
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-guard-selects | FileCheck %s
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-guard-selects --xtensor-transpose --cse \
// RUN:   | FileCheck %s --check-prefix=BACK

!x = !xtensor.array<a: 3, f32>
!s = !xtensor.array<f32>

// CHECK-LABEL: func.func @guarded(
// CHECK: xtensor.linear {
// CHECK-NEXT: ^bb0(%[[T:[a-z0-9]+]]:
// CHECK-NEXT: %[[U:.+]] = xtensor.scale %{{.+}}, %[[T]] {xtensor.guard}
// A finite factor cannot make a NaN of a zero.
// CHECK-NEXT: %[[V:.+]] = xtensor.mul %{{.+}}, %[[U]]
// CHECK: xtensor.select %{{.+}}, %[[V]], %{{.+}}
// What comes after the select need not be guarded.
// CHECK-NEXT: xtensor.mul
// Backwards the mask goes behind the products: nothing is looked at.
// BACK-LABEL: func.func @guarded(
// BACK: %[[C:.+]] = xtensor.compare gt
// BACK: ^bb0(%[[T:[a-z0-9]+]]:
// BACK-NOT: xtensor.scale
// BACK: %[[U:.+]] = xtensor.mul %[[T]], %{{.+}}
// BACK-NEXT: %[[V:.+]] = xtensor.mul %[[U]], %{{.+}}
// BACK-NEXT: %[[W:.+]] = xtensor.mul %{{.+}}, %[[V]]
// BACK-NEXT: %[[M:.+]] = xtensor.select %[[C]], %[[W]], %{{.+}}
// BACK-NEXT: xtensor.yield %[[M]]
func.func @guarded(%x: !x) -> (!x, !xtensor.linear<(!x) -> !x>) {
  %y, %back = xtensor.pullback at(%x) wrt [0] {
  ^bb0(%x_: !x):
    %two = xtensor.constant dense<2.0> : tensor<f32> as !s
    %zero = xtensor.constant dense<0.0> : tensor<f32> as !s
    %c = xtensor.compare gt %x_, %zero : !x, !s
    %l = xtensor.log %x_ : !x
    %m = xtensor.mul %two, %l : !s, !x
    %w = xtensor.select %c, %m, %zero : !xtensor.array<a: 3, i1>, !x, !s
    %e = xtensor.exp %w : !x
    xtensor.yield %e : !x
  } : (!x) -> (!x, !xtensor.linear<(!x) -> !x>)
  return %y, %back : !x, !xtensor.linear<(!x) -> !x>
}

// Forwards the select itself drops what was not chosen.
// CHECK-LABEL: func.func @forward(
// CHECK-NOT: xtensor.scale
// CHECK: return
func.func @forward(%x: !x, %v: !x, %c: !xtensor.array<a: 3, i1>) -> !x {
  %y, %dy = xtensor.pushforward at(%x) wrt [0] along(%v) {
  ^bb0(%x_: !x):
    %l = xtensor.log %x_ : !x
    %w = xtensor.select %c, %l, %x_ : !xtensor.array<a: 3, i1>, !x, !x
    xtensor.yield %w : !x
  } : (!x, !x) -> (!x, !x)
  return %dy : !x
}

// What both branches get back has no zeros of a select, whatever comes before it.
// CHECK-LABEL: func.func @both_branches(
// CHECK: xtensor.linear {
// CHECK: xtensor.scale
// BACK-LABEL: func.func @both_branches(
// BACK: ^bb0(%[[T:[a-z0-9]+]]:
// BACK-NOT: xtensor.scale
// BACK: %[[S:.+]] = xtensor.select %{{.+}}, %[[T]], %{{.+}}
// BACK: %[[P:.+]] = xtensor.mul %[[S]], %{{.+}}
// BACK-NEXT: xtensor.yield %[[P]]
func.func @both_branches(%x: !x, %c: !xtensor.array<a: 3, i1>) -> (!x, !xtensor.linear<(!x) -> !x>) {
  %y, %back = xtensor.pullback at(%x) wrt [0] {
  ^bb0(%x_: !x):
    %l = xtensor.log %x_ : !x
    %n = xtensor.neg %l : !x
    %w = xtensor.select %c, %l, %n : !xtensor.array<a: 3, i1>, !x, !x
    xtensor.yield %w : !x
  } : (!x) -> (!x, !xtensor.linear<(!x) -> !x>)
  return %y, %back : !x, !xtensor.linear<(!x) -> !x>
}

// Two conditions may both be false: their zeros must win.
// BACK-LABEL: func.func @two_conditions(
// BACK: ^bb0(
// BACK: xtensor.scale
// BACK: }
func.func @two_conditions(%x: !x, %c: !xtensor.array<a: 3, i1>, %d: !xtensor.array<a: 3, i1>)
    -> (!x, !xtensor.linear<(!x) -> !x>) {
  %y, %back = xtensor.pullback at(%x) wrt [0] {
  ^bb0(%x_: !x):
    %zero = xtensor.constant dense<0.0> : tensor<f32> as !s
    %l = xtensor.log %x_ : !x
    %v = xtensor.select %c, %l, %zero : !xtensor.array<a: 3, i1>, !x, !s
    %w = xtensor.select %d, %l, %zero : !xtensor.array<a: 3, i1>, !x, !s
    %u = xtensor.add %v, %w : !x, !x
    xtensor.yield %u : !x
  } : (!x) -> (!x, !xtensor.linear<(!x) -> !x>)
  return %y, %back : !x, !xtensor.linear<(!x) -> !x>
}

// Zeros that come out of a sum must win, unless something was put in along what is summed.
// BACK-LABEL: func.func @sums(
// BACK: %[[BACK:.+]] = xtensor.linear {
// BACK: xtensor.contract
// BACK: xtensor.scale
// BACK: func.func @sums_of_more(
// BACK: xtensor.scatter add
// BACK: xtensor.contract
// BACK-NOT: xtensor.scale
!w = !xtensor.array<a: 3, b: 2, f32>
!y = !xtensor.array<b: 2, f32>
func.func @sums(%x: !x, %m: !w, %c: !xtensor.array<b: 2, i1>) -> (!y, !xtensor.linear<(!y) -> !x>) {
  %y, %back = xtensor.pullback at(%x) wrt [0] {
  ^bb0(%x_: !x):
    %zero = xtensor.constant dense<0.0> : tensor<f32> as !s
    %l = xtensor.log %x_ : !x
    %d = xtensor.contract %l, %m over [a] : !x, !w
    %v = xtensor.select %c, %d, %zero : !xtensor.array<b: 2, i1>, !y, !s
    xtensor.yield %v : !y
  } : (!x) -> (!y, !xtensor.linear<(!y) -> !x>)
  return %y, %back : !y, !xtensor.linear<(!y) -> !x>
}
func.func @sums_of_more(%x: !x, %m: !w, %i: !xtensor.array<i64>, %c: !xtensor.array<b: 2, i1>)
    -> (!y, !xtensor.linear<(!y) -> !x>) {
  %y, %back = xtensor.pullback at(%x) wrt [0] {
  ^bb0(%x_: !x):
    %zero = xtensor.constant dense<0.0> : tensor<f32> as !s
    %l = xtensor.log %x_ : !x
    %d = xtensor.contract %l, %m over [a] : !x, !w
    %v = xtensor.select %c, %d, %zero : !xtensor.array<b: 2, i1>, !y, !s
    %g = xtensor.gather clip %d at %i along [b] : !y, !xtensor.array<i64>
    %u = xtensor.add %v, %g : !y, !s
    xtensor.yield %u : !y
  } : (!x) -> (!y, !xtensor.linear<(!y) -> !x>)
  return %y, %back : !y, !xtensor.linear<(!y) -> !x>
}

// A pullback that is differentiated scales by the derivative of its factor, too. The mask of a
// select goes behind that product, and of zeros that nothing shows those of both sides win.
// CHECK-LABEL: func.func @factor(
// CHECK: xtensor.linear {
// CHECK: xtensor.scale %{{.+}}, %{{.+}} {xtensor.guard} :
// BACK-LABEL: func.func @factor(
// BACK: ^bb0(%[[T:[a-z0-9]+]]:
// BACK: %[[P:.+]] = xtensor.scale %[[T]], %[[Z:.+]] :
// BACK-NEXT: %[[U:.+]] = xtensor.scale %{{.+}}, %[[P]] :
// BACK-NEXT: xtensor.select %{{.+}}, %[[U]], %{{.+}}
func.func @factor(%x: !x, %z: !x, %c: !xtensor.array<a: 3, i1>)
    -> (!x, !xtensor.linear<(!x) -> !x>) {
  %y, %back = xtensor.pullback at(%x) wrt [0] {
  ^bb0(%x_: !x):
    %zero = xtensor.constant dense<0.0> : tensor<f32> as !s
    %l = xtensor.log %x_ : !x
    %p = xtensor.scale %l, %z : !x, !x
    %w = xtensor.select %c, %p, %zero : !xtensor.array<a: 3, i1>, !x, !s
    xtensor.yield %w : !x
  } : (!x) -> (!x, !xtensor.linear<(!x) -> !x>)
  return %y, %back : !x, !xtensor.linear<(!x) -> !x>
}

// BACK-LABEL: func.func @factor_of_sums(
// BACK: ^bb0(
// BACK: %[[SUM:.+]] = xtensor.cumulative sum
// BACK-NEXT: %[[BY:.+]] = xtensor.scale %[[SUM]], %[[Z:.+]] :
// BACK: %[[NONE:.+]] = xtensor.compare eq %[[Z]], %{{.+}}
// BACK-NEXT: %[[CT:.+]] = xtensor.scale %[[Z]], %[[SUM]] :
// BACK-NEXT: xtensor.select %[[NONE]], %[[BY]], %[[CT]]
func.func @factor_of_sums(%x: !x, %z: !x, %c: !xtensor.array<a: 3, i1>)
    -> (!x, !xtensor.linear<(!x) -> !x>) {
  %y, %back = xtensor.pullback at(%x) wrt [0] {
  ^bb0(%x_: !x):
    %zero = xtensor.constant dense<0.0> : tensor<f32> as !s
    %l = xtensor.log %x_ : !x
    %p = xtensor.scale %l, %z : !x, !x
    %q = xtensor.cumulative sum %p along a : !x
    %w = xtensor.select %c, %q, %zero : !xtensor.array<a: 3, i1>, !x, !s
    xtensor.yield %w : !x
  } : (!x) -> (!x, !xtensor.linear<(!x) -> !x>)
  return %y, %back : !x, !xtensor.linear<(!x) -> !x>
}
