// RUN: xtensor-opt %s --compile-to=cpu | FileCheck %s

// A loop whose body is lowered to nothing goes with all that is in it. Its ops were looked at once more after that:
// AddressSanitizer tells, and the compiler crashed now and then.

// CHECK-LABEL: func.func @main
// CHECK-NOT: scf.for
// CHECK: return
func.func @main(%x: !xtensor.array<i: 0, f32>, %n: !xtensor.array<ui8>) -> !xtensor.array<i: 0, f32> {
  %zero = xtensor.constant dense<0> : tensor<ui8> as <ui8>
  %1:2 = xtensor.while init(%zero, %x) max_steps 4 cond {
  ^bb0(%step: !xtensor.array<ui8>, %carry: !xtensor.array<i: 0, f32>):
    %2 = xtensor.compare lt %step, %n : <ui8>, <ui8>
    xtensor.yield %2 : !xtensor.array<i1>
  } body {
  ^bb0(%step: !xtensor.array<ui8>, %carry: !xtensor.array<i: 0, f32>):
    %one = xtensor.constant dense<1> : tensor<ui8> as <ui8>
    %next = xtensor.add %step, %one : <ui8>, <ui8>
    %4:2 = xtensor.scan along i reverse carry(%n) over(%x) {
    ^bb0(%sum: !xtensor.array<ui8>, %element: !xtensor.array<f32>):
      %9 = xtensor.tanh %element : <f32>
      %10 = xtensor.cast %9 to ui8 : <f32>
      %11 = xtensor.add %sum, %10 : <ui8>, <ui8>
      xtensor.yield %11, %sum : !xtensor.array<ui8>, !xtensor.array<ui8>
    } : (!xtensor.array<ui8>, !xtensor.array<i: 0, f32>) -> (!xtensor.array<ui8>, !xtensor.array<i: 0, ui8>)
    %7 = xtensor.cast %4#0 to f32 : <ui8>
    %8 = xtensor.add %carry, %7 : <i: 0, f32>, <f32>
    xtensor.yield %next, %8 : !xtensor.array<ui8>, !xtensor.array<i: 0, f32>
  } : (!xtensor.array<ui8>, !xtensor.array<i: 0, f32>) -> (!xtensor.array<ui8>, !xtensor.array<i: 0, f32>)
  return %1#1 : !xtensor.array<i: 0, f32>
}
