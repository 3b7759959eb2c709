// Text that is no program: a diagnostic with its place, and exit status 1.
// RUN: not xtensor-opt %s 2>&1 | FileCheck %s

// CHECK: malformed.mlir:[[@LINE+1]]:{{[0-9]+}}: error: dim "i" is named twice
func.func private @f(!xtensor.array<i: 2, i: 3, f32>)
