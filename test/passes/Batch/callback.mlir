// A call for one instance becomes a loop of calls, which tells the function the position, or one
// call for all instances.
// RUN: xtensor-opt %s --xtensor-batch | FileCheck %s

!s = !xtensor.array<f32>
!v = !xtensor.array<v: 4, f32>

// CHECK-LABEL: func @each(
// CHECK-SAME: %[[X:[a-z0-9]+]]:
// CHECK: %[[I:.+]] = xtensor.iota : <v: 4, i64>
// CHECK: xtensor.scan along v carry() over(%[[I]], %[[X]]) {
// CHECK-NEXT: ^bb0(%[[AT:.+]]: !xtensor.array<i64>, %[[E:.+]]: !xtensor.array<f32>):
// CHECK-NEXT: xtensor.callback ordered "x {}" number 2(%[[E]], %[[AT]]) instances [v] : (!xtensor.array<f32>, !xtensor.array<i64>) -> ()
func.func @each(%x: !v) -> !v {
  %y = xtensor.vectorize over [v] at(%x) {
  ^bb0(%x_: !s):
    xtensor.callback ordered "x {}" number 2 (%x_) : (!s) -> ()
    xtensor.yield %x_ : !s
  } : (!v) -> !v
  return %y : !v
}

// What no instance differs in is called once.
// CHECK-LABEL: func @shared(
// CHECK-NOT: scan
// CHECK: xtensor.callback ordered "u {}" number 2(%{{.+}}) : (!xtensor.array<f32>) -> ()
func.func @shared(%x: !v, %u: !s) -> !v {
  %y = xtensor.vectorize over [v] at(%x) {
  ^bb0(%x_: !s):
    xtensor.callback ordered "u {}" number 2 (%u) : (!s) -> ()
    xtensor.yield %x_ : !s
  } : (!v) -> !v
  return %y : !v
}

// CHECK-LABEL: func @together(
// CHECK-NEXT: %[[Y:.+]] = xtensor.callback together "f" number 0(%{{.+}}) : (!xtensor.array<v: 4, f32>) -> !xtensor.array<v: 4, k: 2, f32>
func.func @together(%x: !v) -> !xtensor.array<v: 4, k: 2, f32> {
  %y = xtensor.vectorize over [v] at(%x) {
  ^bb0(%x_: !s):
    %z = xtensor.callback together "f" number 0 (%x_) : (!s) -> !xtensor.array<k: 2, f32>
    xtensor.yield %z : !xtensor.array<k: 2, f32>
  } : (!v) -> !xtensor.array<v: 4, k: 2, f32>
  return %y : !xtensor.array<v: 4, k: 2, f32>
}

// Only instances that take the branch make its calls.
// CHECK-LABEL: func @branch(
// CHECK: %[[MASK:.+]] = xtensor.compare ge
// CHECK: xtensor.scan along v carry() over(%{{.+}}, %{{.+}}, %[[MASK]])
// CHECK: xtensor.switch
// CHECK: xtensor.callback ordered "x {}" number 2(%{{.+}}, %{{.+}}) instances [v]
func.func @branch(%x: !v, %i: !xtensor.array<v: 4, i64>) -> !v {
  %y = xtensor.vectorize over [v] at(%x, %i) {
  ^bb0(%x_: !s, %i_: !xtensor.array<i64>):
    %z = xtensor.switch %i_ {
      xtensor.yield %x_ : !s
    }, {
      xtensor.callback ordered "x {}" number 2 (%x_) : (!s) -> ()
      xtensor.yield %x_ : !s
    } : (!xtensor.array<i64>) -> !s
    xtensor.yield %z : !s
  } : (!v, !xtensor.array<v: 4, i64>) -> !v
  return %y : !v
}
