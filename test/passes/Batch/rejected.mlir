// What cannot be vectorized names the op and its line.
// RUN: xtensor-opt %s --xtensor-batch --split-input-file --verify-diagnostics

!s = !xtensor.array<f32>

// A name that an op inside makes is found before any pass runs (invalid-control.mlir); here one
// that only an inner vectorize brings.
func.func @same_name(%x: !xtensor.array<v: 4, f32>, %y: !xtensor.array<w: 4, f32>) -> !xtensor.array<v: 4, f32> {
  // expected-note@+1 {{vectorized over it here}}
  %r = xtensor.vectorize over [v] at(%x) {
  ^bb0(%x_: !s):
    // expected-error@+1 {{makes an array with dim "v", which is batched here}}
    %z = xtensor.rename %y [w] to [v] : !xtensor.array<w: 4, f32>
    %s = xtensor.reduce sum %z over [v] : !xtensor.array<v: 4, f32>
    xtensor.yield %s : !s
  } : (!xtensor.array<v: 4, f32>) -> !xtensor.array<v: 4, f32>
  return %r : !xtensor.array<v: 4, f32>
}
