// The ops that only derivatives bring: their text is read as it is written.
// RUN: xtensor-opt %s | xtensor-opt | FileCheck %s

!x = !xtensor.array<t: ?, f32>
!n = !xtensor.array<i64>

// CHECK-LABEL: func.func @map(
// CHECK: %[[N:.+]] = xtensor.size %{{.+}} t
// CHECK: %[[L:.+]] = xtensor.linear trusted sizes(%[[N]], %[[N]]) {
// CHECK: %{{.+}} = xtensor.sized %{{.+}} by(%[[N]])
// CHECK: } : <(!xtensor.array<t: ?, f32>) -> !xtensor.array<t: ?, f32>>
// CHECK: %[[B:.+]] = xtensor.transposed %[[L]]
// CHECK: xtensor.apply %[[B]](%{{.+}})
func.func @map(%x: !x) -> !x {
  %n = xtensor.size %x t : !x
  %l = xtensor.linear trusted sizes(%n, %n) {
  ^bb0(%t: !x):
    %s = xtensor.sized %t by(%n) : (!x, !n) -> !x
    xtensor.yield %s : !x
  } : <(!x) -> !x>, !n, !n
  %b = xtensor.transposed %l : <(!x) -> !x>
  %y = xtensor.apply %b(%x) : <(!x) -> !x>, (!x) -> !x
  return %y : !x
}

// Barriers of different ids are different values, whatever they stand before.
// CHECK-LABEL: func.func @barriers(
// CHECK: xtensor.barrier distinct[[[I:[0-9]+]]]<> of %[[X:.+]] :
// CHECK-NOT: xtensor.barrier distinct[[[I]]]<>
// CHECK: xtensor.barrier distinct
// CHECK: xtensor.barrier "name" of
func.func @barriers(%x: !x) -> (!x, !x, !x) {
  %a = xtensor.barrier distinct[0]<> of %x : !x
  %b = xtensor.barrier distinct[1]<> of %x : !x
  %c = xtensor.barrier "name" of %x : !x
  return %a, %b, %c : !x, !x, !x
}
