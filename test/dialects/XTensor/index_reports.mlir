// RUN: xtensor-opt %s --canonicalize --cse | FileCheck %s
// RUN: xtensor-opt %s --xtensor-simplify | FileCheck %s

!x = !xtensor.array<row: 9, col: 4, f32>
!i = !xtensor.array<pick: 3, i64>
!y = !xtensor.array<pick: 3, col: 4, f32>

// A read that may fail stays for its report; one that cannot goes.
// CHECK-LABEL: func.func @unread
// CHECK-NEXT: xtensor.gather raise
// CHECK-NEXT: return
func.func @unread(%x: !x, %i: !i) -> !x {
  %a = xtensor.gather raise %x at %i along [row] : !x, !i
  %b = xtensor.gather clip %x at %i along [row] : !x, !i
  %known = xtensor.iota : !i
  %c = xtensor.gather raise %x at %known along [row] : !x, !i
  %d = xtensor.add %a, %b : !y, !y
  return %x : !x
}

// CHECK-LABEL: func.func @unread_update
// CHECK-NEXT: xtensor.scatter add raise
// CHECK-NEXT: return
func.func @unread_update(%x: !x, %i: !i, %y: !y) -> !x {
  %a = xtensor.scatter add raise %x at %i with %y along [row] : !x, !y, !i
  %b = xtensor.scatter add drop %x at %i with %y along [row] : !x, !y, !i
  return %x : !x
}

// What was read before is read once, in loops, too.
// CHECK-LABEL: func.func @twice
// CHECK-COUNT-1: xtensor.gather raise
// CHECK-NOT: xtensor.gather
// CHECK: return
func.func @twice(%x: !x, %i: !i, %n: !xtensor.array<t: 5, f32>) -> (!y, !xtensor.array<t: 5, pick: 3, col: 4, f32>) {
  %a = xtensor.gather raise %x at %i along [row] : !x, !i
  %b = xtensor.gather raise %x at %i along [row] : !x, !i
  %c = xtensor.add %a, %b : !y, !y
  %d = xtensor.scan along t carry() over(%n) {
  ^bb0(%e: !xtensor.array<f32>):
    %f = xtensor.gather raise %x at %i along [row] : !x, !i
    %g = xtensor.mul %f, %e : !y, !xtensor.array<f32>
    xtensor.yield %g : !y
  } : (!xtensor.array<t: 5, f32>) -> !xtensor.array<t: 5, pick: 3, col: 4, f32>
  return %c, %d : !y, !xtensor.array<t: 5, pick: 3, col: 4, f32>
}

// A loop that nobody reads keeps the read, and the carry that says where.
// CHECK-LABEL: func.func @unread_loop
// CHECK: xtensor.scan along t carry(%{{.*}}) over() length 5 {
// CHECK-NEXT: ^bb0(%[[AT:.*]]: !xtensor.array<i64>):
// CHECK-NEXT: xtensor.gather raise %{{.*}} at %[[AT]]
func.func @unread_loop(%x: !x, %start: !xtensor.array<i64>, %one: !xtensor.array<i64>, %n: !xtensor.array<t: 5, f32>) -> !x {
  %last, %ys = xtensor.scan along t carry(%start) over(%n) {
  ^bb0(%at: !xtensor.array<i64>, %e: !xtensor.array<f32>):
    %f = xtensor.gather raise %x at %at along [row] : !x, !xtensor.array<i64>
    %g = xtensor.mul %f, %e : !xtensor.array<col: 4, f32>, !xtensor.array<f32>
    %next = xtensor.add %at, %one : !xtensor.array<i64>, !xtensor.array<i64>
    xtensor.yield %next, %g : !xtensor.array<i64>, !xtensor.array<col: 4, f32>
  } : (!xtensor.array<i64>, !xtensor.array<t: 5, f32>) -> (!xtensor.array<i64>, !xtensor.array<t: 5, col: 4, f32>)
  return %x : !x
}
