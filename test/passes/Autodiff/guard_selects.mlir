// A zero cotangent must win against an infinite derivative: products from which a select is
// reached become `scale`, where the map will be transposed.
// RUN: xtensor-opt %s --xtensor-linearize --xtensor-guard-selects | FileCheck %s

!x = !xtensor.array<a: 3, f32>
!s = !xtensor.array<f32>

// CHECK-LABEL: func.func @guarded(
// CHECK: xtensor.linear {
// CHECK-NEXT: ^bb0(%[[T:[a-z0-9]+]]:
// CHECK-NEXT: %[[U:.+]] = xtensor.scale %{{.+}}, %[[T]]
// A finite factor cannot make a NaN of a zero.
// CHECK-NEXT: %[[V:.+]] = xtensor.mul %{{.+}}, %[[U]]
// CHECK: xtensor.select %{{.+}}, %[[V]], %{{.+}}
// What comes after the select need not be guarded.
// CHECK-NEXT: xtensor.mul
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
