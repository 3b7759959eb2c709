// A function of one instance becomes one of all: for most ops that is a change of types.
// RUN: xtensor-opt %s --xtensor-batch --split-input-file | FileCheck %s

!s = !xtensor.array<f32>
!i = !xtensor.array<i: 3, f32>
!w = !xtensor.array<i: 3, o: 2, f32>

// CHECK-LABEL: func @layer(
// CHECK-SAME: %[[X:[a-z0-9]+]]: {{[^%]+}}, %[[W:[a-z0-9]+]]:
// CHECK-NEXT: %[[H:.+]] = xtensor.contract %[[X]], %[[W]] over [i] : !xtensor.array<v: 8, i: 3, f32>, !xtensor.array<i: 3, o: 2, f32>
// CHECK-NEXT: %[[Y:.+]] = xtensor.reduce max %[[H]] over [o] : <v: 8, o: 2, f32>
// CHECK-NEXT: return %[[Y]] : !xtensor.array<v: 8, f32>
func.func @layer(%x: !xtensor.array<v: 8, i: 3, f32>, %w: !w) -> !xtensor.array<v: 8, f32> {
  %y = xtensor.vectorize over [v] at(%x, %w) {
  ^bb0(%x_: !i, %w_: !w):
    %h = xtensor.contract %x_, %w_ over [i] : !i, !w
    %s = xtensor.reduce max %h over [o] : !xtensor.array<o: 2, f32>
    xtensor.yield %s : !s
  } : (!xtensor.array<v: 8, i: 3, f32>, !w) -> !xtensor.array<v: 8, f32>
  return %y : !xtensor.array<v: 8, f32>
}

// Each argument has its own names; the results have all, in the order of the op.
// CHECK-LABEL: func @names(
// CHECK-SAME: %[[X:[a-z0-9]+]]: {{[^%]+}}, %[[Y:[a-z0-9]+]]:
// CHECK-NEXT: %[[P:.+]] = xtensor.mul %[[X]], %[[Y]] : <a: 2, f32>, <b: 3, f32>
// CHECK-NEXT: %[[E:.+]] = xtensor.exp %[[X]] : <a: 2, f32>
// CHECK-NEXT: %[[S:.+]] = xtensor.broadcast %[[E]] : (!xtensor.array<a: 2, f32>) -> !xtensor.array<a: 2, b: 3, f32>
// CHECK-NEXT: return %[[P]], %[[S]]
func.func @names(%x: !xtensor.array<a: 2, f32>, %y: !xtensor.array<b: 3, f32>)
    -> (!xtensor.array<a: 2, b: 3, f32>, !xtensor.array<a: 2, b: 3, f32>) {
  %r:2 = xtensor.vectorize over [a, b] at(%x, %y) {
  ^bb0(%x_: !s, %y_: !s):
    %p = xtensor.mul %y_, %x_ : !s, !s
    %e = xtensor.exp %x_ : !s
    xtensor.yield %p, %e : !s, !s
  } : (!xtensor.array<a: 2, f32>, !xtensor.array<b: 3, f32>) -> (!xtensor.array<a: 2, b: 3, f32>, !xtensor.array<a: 2, b: 3, f32>)
  return %r#0, %r#1 : !xtensor.array<a: 2, b: 3, f32>, !xtensor.array<a: 2, b: 3, f32>
}

// Batch names stay first, whatever comes first in an op: they are the outer loops.
// CHECK-LABEL: func @first(
// CHECK-SAME: %[[X:[a-z0-9]+]]: {{[^%]+}}, %[[W:[a-z0-9]+]]:
// CHECK: %[[XT:.+]] = xtensor.broadcast %[[X]] : (!xtensor.array<i: 3, v: 8, f32>) -> !xtensor.array<v: 8, i: 3, f32>
// CHECK-NEXT: %[[A:.+]] = xtensor.add %[[XT]], %[[W]] : <v: 8, i: 3, f32>, <i: 3, o: 2, f32>
// CHECK-NEXT: %[[WV:.+]] = xtensor.broadcast %[[W]] : (!xtensor.array<i: 3, o: 2, f32>) -> !xtensor.array<v: 8, i: 3, o: 2, f32>
// CHECK-NEXT: %[[D:.+]] = xtensor.sub %[[WV]], %[[A]]
// CHECK-NEXT: %[[C:.+]] = xtensor.contract %[[W]], %[[D]] over [i] order [v, o]
// CHECK-NEXT: return %[[C]]
func.func @first(%x: !xtensor.array<i: 3, v: 8, f32>, %w: !w) -> !xtensor.array<v: 8, o: 2, f32> {
  %y = xtensor.vectorize over [v] at(%x) {
  ^bb0(%x_: !i):
    %a = xtensor.add %w, %x_ : !w, !i
    %d = xtensor.sub %w, %a : !w, !w
    %c = xtensor.contract %w, %d over [i] : !w, !w
    xtensor.yield %c : !xtensor.array<o: 2, f32>
  } : (!xtensor.array<i: 3, v: 8, f32>) -> !xtensor.array<v: 8, o: 2, f32>
  return %y : !xtensor.array<v: 8, o: 2, f32>
}

// What no instance differs in is worked out once.
// CHECK-LABEL: func @shared(
// CHECK-NEXT: %[[E:.+]] = xtensor.exp %{{.+}} : <i: 3, f32>
// CHECK-NEXT: xtensor.contract %{{.+}}, %[[E]] over [i] : !xtensor.array<v: 8, i: 3, f32>, !xtensor.array<i: 3, f32>
func.func @shared(%x: !xtensor.array<v: 8, i: 3, f32>, %u: !i) -> !xtensor.array<v: 8, f32> {
  %y = xtensor.vectorize over [v] at(%x) {
  ^bb0(%x_: !i):
    %e = xtensor.exp %u : !i
    %c = xtensor.contract %x_, %e over [i] : !i, !i
    xtensor.yield %c : !s
  } : (!xtensor.array<v: 8, i: 3, f32>) -> !xtensor.array<v: 8, f32>
  return %y : !xtensor.array<v: 8, f32>
}

// A dynamic batch takes its size from an argument that has it.
// CHECK-LABEL: func @dynamic(
// CHECK-SAME: %[[X:[a-z0-9]+]]:
// CHECK: %[[N:.+]] = xtensor.size %[[X]] v
// CHECK: xtensor.broadcast %{{.+}} sizes(%[[N]]) : {{.*}} -> !xtensor.array<v: ?, i: 3, f32>
func.func @dynamic(%x: !xtensor.array<v: ?, i: 3, f32>, %u: !i) -> !xtensor.array<v: ?, i: 3, f32> {
  %y = xtensor.vectorize over [v] at(%x) {
  ^bb0(%x_: !i):
    xtensor.yield %u : !i
  } : (!xtensor.array<v: ?, i: 3, f32>) -> !xtensor.array<v: ?, i: 3, f32>
  return %y : !xtensor.array<v: ?, i: 3, f32>
}

// From the inside out: names of the inner one are batch names, those of the outer one come first.
// CHECK-LABEL: func @nested(
// CHECK-SAME: %[[X:[a-z0-9]+]]: {{[^%]+}}, %[[Y:[a-z0-9]+]]:
// CHECK: xtensor.vectorize over [a]
// CHECK: %[[P:.+]] = xtensor.mul %{{.+}}, %[[Y]] : <f32>, <b: 3, f32>
// CHECK-NOT: xtensor.vectorize
func.func @nested(%x: !xtensor.array<a: 2, f32>, %y: !xtensor.array<b: 3, f32>) -> !xtensor.array<a: 2, b: 3, f32> {
  %r = xtensor.vectorize over [a] at(%x) {
  ^bb0(%x_: !s):
    %z = xtensor.vectorize over [b] at(%y) {
    ^bb1(%y_: !s):
      %p = xtensor.mul %x_, %y_ : !s, !s
      xtensor.yield %p : !s
    } : (!xtensor.array<b: 3, f32>) -> !xtensor.array<b: 3, f32>
    xtensor.yield %z : !xtensor.array<b: 3, f32>
  } : (!xtensor.array<a: 2, f32>) -> !xtensor.array<a: 2, b: 3, f32>
  return %r : !xtensor.array<a: 2, b: 3, f32>
}
