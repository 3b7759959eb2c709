// Ops whose results have no derivative end the way of a tangent without a word, however much
// their operands depend on the argument: here nothing but x * r is left.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s

!x = !xtensor.array<a: 3, f32>
!i = !xtensor.array<a: 3, i64>
!b = !xtensor.array<a: 3, i1>
!c = !xtensor.array<r: 3, c: 3, p: 2, f32>
!w = !xtensor.array<k: 3, p: 2, f32>

// CHECK-LABEL: func.func @no_tangent(
// CHECK: xtensor.linear {
// CHECK-NEXT: ^bb0(%[[T:[a-z0-9]+]]:
// CHECK-NEXT: %[[U:.+]] = xtensor.mul %[[T]], %{{.+}}
// CHECK-NEXT: xtensor.yield %[[U]]
func.func @no_tangent(%x: !x, %t: tensor<3xf32>) -> (!x, !xtensor.linear<(!x) -> !x>) {
  %y, %back = xtensor.pullback at(%x) wrt [0] {
  ^bb0(%x_: !x):
    %one = xtensor.constant dense<1> : tensor<i64> as !xtensor.array<i64>
    %iota = xtensor.iota : !i
    %size = xtensor.size %x_ a : !x
    %isfinite = xtensor.isfinite %x_ : !x
    %isinf = xtensor.isinf %x_ : !x
    %isnan = xtensor.isnan %x_ : !x
    %compare = xtensor.compare lt %x_, %x_ : !x, !x
    %and = xtensor.and %isinf, %isnan : !b, !b
    %or = xtensor.or %and, %compare : !b, !b
    %xor = xtensor.xor %or, %isfinite : !b, !b
    %not = xtensor.not %xor : !b
    %any = xtensor.reduce any %not over [a] : !b
    %all = xtensor.reduce all %not over [a] : !b
    %argmax = xtensor.reduce argmax %x_ over [a] : !x
    %argmin = xtensor.reduce argmin %x_ over [a] : !x
    %argsort = xtensor.argsort %x_ along a : !x
    %shl = xtensor.shl %iota, %argmax : !i, !xtensor.array<i64>
    %shr = xtensor.shr %shl, %argmin : !i, !xtensor.array<i64>
    %places = xtensor.add %shr, %argsort : !i, !i
    %ints = xtensor.add %places, %size : !i, !xtensor.array<i64>
    %n = xtensor.mul %ints, %one : !i, !xtensor.array<i64>
    %f = xtensor.cast %n to f32 : !i
    %c = xtensor.and %any, %all : !xtensor.array<i1>, !xtensor.array<i1>
    %d = xtensor.cast %c to f32 : !xtensor.array<i1>
    %base = xtensor.constant dense<1.0> : tensor<3x3x2xf32> as !c
    %w, %v = xtensor.complex_factor eig %base on [r, c] inner k pair p : !c
    %e = xtensor.reduce sum %w over [k, p] : !w
    %g = xtensor.add %f, %e : !x, !xtensor.array<f32>
    %r = xtensor.add %g, %d : !x, !xtensor.array<f32>
    %out = xtensor.library "xt_name" outs(%t : tensor<3xf32>) -> tensor<3xf32>
    %number = arith.constant 1.0 : f32
    %elementary = xtensor.elementary "lgamma" %number : f32
    %called = xtensor.callback "f" number 0 (%x_) : (!x) -> !i
    xtensor.callback ordered "x {}" number 1 (%x_, %called) : (!x, !i) -> ()
    %y_ = xtensor.mul %x_, %r : !x, !x
    xtensor.yield %y_ : !x
  } : (!x) -> (!x, !xtensor.linear<(!x) -> !x>)
  return %y, %back : !x, !xtensor.linear<(!x) -> !x>
}
