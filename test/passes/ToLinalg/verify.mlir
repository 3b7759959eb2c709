// Errors of the phase stand at the user's line and say what is likely the cause.
// RUN: xtensor-opt %s --split-input-file --verify-diagnostics --xtensor-verify-linalg

// expected-error@+1 {{'func.func' is left in the linalg phase: an op of another dialect took an array}}
func.func @signature(%x: !xtensor.array<i: 3, f32>) {
  return
}

// -----

func.func @op(%t: tensor<3xf32>) {
  // expected-error@+1 {{'xtensor.iota' is left in the linalg phase: xtensor-to-linalg did not run, or the op came up after it}}
  %i = xtensor.iota : !xtensor.array<i: 3, i64>
  return
}
