// The body of the loop is a checkpoint. The scan back does not read the carries of all steps: it
// keeps some in slots, and a loop takes steps from the last of them to the step at hand.
// RUN: xtensor-opt %s --xtensor-differentiate --xtensor-simplify | FileCheck %s

!s = !xtensor.array<i: 3, f32>
func.func @main(%x: !s, %end: !xtensor.array<f32>, %ct: !s) -> !s {
  %y, %back = xtensor.pullback at(%x) wrt [0] {
  ^bb0(%x_: !s):
    %z = xtensor.while init(%x_) cond {
    ^bb0(%c: !s):
      %sum = xtensor.reduce sum %c over [i] : !s
      %more = xtensor.compare lt %sum, %end : !xtensor.array<f32>, !xtensor.array<f32>
      xtensor.yield %more : !xtensor.array<i1>
    } body {
    ^bb0(%c: !s):
      %n = xtensor.checkpoint {
        %e = xtensor.exp %c : !s
        xtensor.yield %e : !s
      } : !s
      xtensor.yield %n : !s
    } : (!s) -> !s
    xtensor.yield %z : !s
  } : (!s) -> (!s, !xtensor.linear<(!s) -> !s>)
  %g = xtensor.apply %back(%ct) : <(!s) -> !s>, (!s) -> !s
  return %g : !s
}

// CHECK: %[[COUNTED:.*]]:2 = xtensor.while
// CHECK: %[[STEPS:.*]] = xtensor.barrier {{.*}} of %[[COUNTED]]#1
// CHECK: %[[PLACES:.*]] = xtensor.broadcast {{.*}} -> !xtensor.array<"slot of step~0": ?, i64>
// CHECK: %[[SLOTS:.*]] = xtensor.broadcast {{.*}} -> !xtensor.array<"slot of step~0": ?, i: 3, f32>
// CHECK-NOT: !xtensor.array<"step~0"
// CHECK: xtensor.scan along "step~0" reverse carry({{.*}}%[[PLACES]], %[[SLOTS]], {{.*}}) over() size %[[STEPS]] {
// CHECK: xtensor.while
// CHECK: xtensor.exp
// CHECK: xtensor.scatter set clip {{.*}} along ["slot of step~0"]
// CHECK-NOT: !xtensor.array<"step~0"
