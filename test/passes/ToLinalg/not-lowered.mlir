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

// -----

// The product of these sizes is 2^66: as a number of 64 bits it would be 4.

func.func @large(%x: !xtensor.array<i: 4194304, f32>, %y: !xtensor.array<j: 4194304, f32>,
                 %z: !xtensor.array<k: 4194304, f32>) -> !xtensor.array<f32> {
  %xy = xtensor.mul %x, %y : !xtensor.array<i: 4194304, f32>, !xtensor.array<j: 4194304, f32>
  // expected-error @+1 {{'xtensor.mul' op gives an array (i: 4194304, j: 4194304, k: 4194304) that is larger than the address space}}
  %xyz = xtensor.mul %xy, %z : !xtensor.array<i: 4194304, j: 4194304, f32>, !xtensor.array<k: 4194304, f32>
  %s = xtensor.reduce max %xyz over [i, j, k] : !xtensor.array<i: 4194304, j: 4194304, k: 4194304, f32>
  return %s : !xtensor.array<f32>
}

// -----

func.func @many_products(%x: !xtensor.array<i: 4194304, k: 4194304, f32>,
                         %y: !xtensor.array<j: 4194304, k: 4194304, f32>)
    -> !xtensor.array<i: 4194304, j: 4194304, f32> {
  // expected-error @+1 {{'xtensor.contract' op has more products than the address space has bytes}}
  %xy = xtensor.contract %x, %y over [k] : !xtensor.array<i: 4194304, k: 4194304, f32>, !xtensor.array<j: 4194304, k: 4194304, f32>
  return %xy : !xtensor.array<i: 4194304, j: 4194304, f32>
}

// -----

func.func @empty(%x: !xtensor.array<i: 4194304, k: 0, f32>, %y: !xtensor.array<j: 4194304, k: 0, f32>,
                 %z: !xtensor.array<l: 4194304, k: 0, f32>)
    -> !xtensor.array<i: 4194304, k: 0, j: 4194304, l: 4194304, f32> {
  %xy = xtensor.mul %x, %y : !xtensor.array<i: 4194304, k: 0, f32>, !xtensor.array<j: 4194304, k: 0, f32>
  %xyz = xtensor.mul %xy, %z : !xtensor.array<i: 4194304, k: 0, j: 4194304, f32>, !xtensor.array<l: 4194304, k: 0, f32>
  return %xyz : !xtensor.array<i: 4194304, k: 0, j: 4194304, l: 4194304, f32>
}
