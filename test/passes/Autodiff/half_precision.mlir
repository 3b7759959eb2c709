// Derivatives of 16-bit floats are computed in f32, from the operand: the rounded result lacks digits of
// 1 - y * y. Only the derivative is rounded.
// RUN: xtensor-opt %s --xtensor-linearize | FileCheck %s

!a = !xtensor.array<a: 3, f16>

// CHECK-LABEL: func.func @tanh(
// CHECK-SAME: %[[A:[a-z0-9]+]]:
// CHECK-NEXT: %[[Y:.+]] = xtensor.tanh %[[A]]
// CHECK: xtensor.cast %[[A]] to f32
// CHECK: %[[T:.+]] = xtensor.tanh %{{.+}} : <a: 3, f32>
// CHECK-NEXT: %[[SQUARE:.+]] = xtensor.mul %[[T]], %[[T]]
// CHECK: %[[D:.+]] = xtensor.sub {{.+}}, %[[SQUARE]]
// CHECK-NEXT: %[[SLOPE:.+]] = xtensor.cast %[[D]] to f16
// CHECK: xtensor.mul %[[SLOPE]], {{.+}} : <a: 3, f16>, <a: 3, f16>
func.func @tanh(%a: !a) -> (!a, !xtensor.linear<(!a) -> !a>) {
  %p, %push = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !a):
    %y = xtensor.tanh %x : !a
    xtensor.yield %y : !a
  } : (!a) -> (!a, !xtensor.linear<(!a) -> !a>)
  return %p, %push : !a, !xtensor.linear<(!a) -> !a>
}

// The result is the derivative: nothing is between them.
// CHECK-LABEL: func.func @exp(
// CHECK-NOT: cast
// CHECK: return
func.func @exp(%a: !a) -> (!a, !xtensor.linear<(!a) -> !a>) {
  %p, %push = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !a):
    %y = xtensor.exp %x : !a
    xtensor.yield %y : !a
  } : (!a) -> (!a, !xtensor.linear<(!a) -> !a>)
  return %p, %push : !a, !xtensor.linear<(!a) -> !a>
}
