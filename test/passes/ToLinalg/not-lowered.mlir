// What xtensor-to-linalg cannot take, and which pass should have taken it before.
// RUN: xtensor-opt %s --split-input-file --verify-diagnostics --xtensor-to-linalg

func.func @derivative(%x: !xtensor.array<i: 3, f32>) -> !xtensor.array<i: 3, f32> {
  // expected-error@+1 {{'xtensor.pullback' has no lowering to linalg; if it is part of a derivative, xtensor-inline-derivatives should have expanded it}}
  %y, %back = xtensor.pullback at(%x) wrt [0] {
  ^bb0(%x_: !xtensor.array<i: 3, f32>):
    xtensor.yield %x_ : !xtensor.array<i: 3, f32>
  } : (!xtensor.array<i: 3, f32>) -> (!xtensor.array<i: 3, f32>, !xtensor.linear<(!xtensor.array<i: 3, f32>) -> !xtensor.array<i: 3, f32>>)
  return %y : !xtensor.array<i: 3, f32>
}

// -----

func.func @three(%x: !xtensor.array<i: 3, f32>) -> !xtensor.array<f32> {
  // expected-error@+1 {{contract: only pairs that share what is summed have a lowering; run xtensor-decompose-contract before xtensor-to-linalg}}
  %y = xtensor.contract %x, %x, %x over [i] : !xtensor.array<i: 3, f32>, !xtensor.array<i: 3, f32>, !xtensor.array<i: 3, f32>
  return %y : !xtensor.array<f32>
}
