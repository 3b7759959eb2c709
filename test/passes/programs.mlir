// What the phases cannot compile is told before they change it.
// RUN: xtensor-opt %s --split-input-file --verify-diagnostics --compile-to=llvm

// expected-error @below {{function @main has no body: nothing is there to compile}}
func.func private @main(!xtensor.array<i: 4, f32>) -> !xtensor.array<i: 4, f32>

// -----

// expected-error @below {{there is no function @main: name the one to compile so}}
module {
  func.func @f(%x: !xtensor.array<i: 4, f32>) -> !xtensor.array<i: 4, f32> {
    return %x : !xtensor.array<i: 4, f32>
  }
}

// -----

func.func private @twice(%x: !xtensor.array<i: 4, f32>) -> !xtensor.array<i: 4, f32> {
  %0 = xtensor.add %x, %x : !xtensor.array<i: 4, f32>, !xtensor.array<i: 4, f32>
  return %0 : !xtensor.array<i: 4, f32>
}
func.func @main(%x: !xtensor.array<i: 4, f32>) -> !xtensor.array<i: 4, f32> {
  // expected-error @below {{calls between functions are not compiled: run --inline before}}
  %0 = call @twice(%x) : (!xtensor.array<i: 4, f32>) -> !xtensor.array<i: 4, f32>
  return %0 : !xtensor.array<i: 4, f32>
}
