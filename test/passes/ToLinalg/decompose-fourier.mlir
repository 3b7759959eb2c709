// For devices and libraries, Fourier transforms are contractions with small matrices.
// RUN: xtensor-opt %s --split-input-file --xtensor-decompose-fourier --verify-diagnostics | FileCheck %s

// The example of Passes.td: 1024 = 32 * 32.
// CHECK-LABEL: func.func @split(
// CHECK-SAME: %[[X:[a-z0-9]+]]:
// CHECK: %[[S:.*]] = xtensor.split %[[X]] t into [{{.*}}] sizes [32, 32]
// CHECK: %[[A:.*]] = xtensor.contract %[[S]], %{{.*}} over
// CHECK: xtensor.mul
// CHECK: xtensor.reverse %{{.*}} [{{.*}}c{{.*}}]
// CHECK: xtensor.mul
// CHECK: %[[T:.*]] = xtensor.add
// CHECK: xtensor.contract %[[T]], %{{.*}} over
// CHECK: xtensor.merge
// CHECK-NOT: xtensor.fourier
func.func @split(%x: !xtensor.array<t: 1024, c: 2, f32>) -> !xtensor.array<t: 1024, c: 2, f32> {
  %y = xtensor.fourier forward %x along [t] pair c : !xtensor.array<t: 1024, c: 2, f32>
  return %y : !xtensor.array<t: 1024, c: 2, f32>
}

// -----

// The first step from real numbers reads real numbers, and half of the last one's result is dropped.
// CHECK-LABEL: func.func @real(
// CHECK: %[[Y:.*]] = xtensor.contract %{{.*}}, %{{.*}} over [t]
// CHECK: xtensor.slice %{{.*}} [t] offsets [0] sizes [4] strides [1]
// CHECK-NOT: xtensor.fourier
func.func @real(%x: !xtensor.array<t: 6, f32>) -> !xtensor.array<t: 4, c: 2, f32> {
  %y = xtensor.fourier real %x along [t] pair c : !xtensor.array<t: 6, f32>
  return %y : !xtensor.array<t: 4, c: 2, f32>
}

// -----

// 67 is a prime above 64: a convolution by transforms of 256 positions.
// CHECK-LABEL: func.func @chirp(
// CHECK: xtensor.pad {{.*}} low [0] high [189] interior [0]
// CHECK: xtensor.split {{.*}} sizes [32, 8]
// CHECK: xtensor.split {{.*}} sizes [32, 8]
// CHECK: xtensor.slice {{.*}} sizes [67]
// CHECK-NOT: xtensor.fourier
func.func @chirp(%x: !xtensor.array<t: 67, c: 2, f64>) -> !xtensor.array<t: 67, c: 2, f64> {
  %y = xtensor.fourier backward %x along [t] pair c : !xtensor.array<t: 67, c: 2, f64>
  return %y : !xtensor.array<t: 67, c: 2, f64>
}

// -----

// Matrices are made before the loop that reads them.
// CHECK-LABEL: func.func @loop(
// CHECK: %[[M:.*]] = xtensor.constant
// CHECK: xtensor.scan
// CHECK: xtensor.contract %{{.*}}, %[[M]]
func.func @loop(%x: !xtensor.array<b: 3, t: 4, c: 2, f32>) -> !xtensor.array<b: 3, t: 4, c: 2, f32> {
  %y = xtensor.scan along b carry() over(%x) {
  ^bb0(%r: !xtensor.array<t: 4, c: 2, f32>):
    %f = xtensor.fourier forward %r along [t] pair c : !xtensor.array<t: 4, c: 2, f32>
    xtensor.yield %f : !xtensor.array<t: 4, c: 2, f32>
  } : (!xtensor.array<b: 3, t: 4, c: 2, f32>) -> !xtensor.array<b: 3, t: 4, c: 2, f32>
  return %y : !xtensor.array<b: 3, t: 4, c: 2, f32>
}

// -----

func.func @open(%x: !xtensor.array<t: ?, c: 2, f32>) -> !xtensor.array<t: ?, c: 2, f32> {
  // expected-error@+1 {{fourier: dim "t" has a dynamic size; devices and bundles need a static one}}
  %y = xtensor.fourier forward %x along [t] pair c : !xtensor.array<t: ?, c: 2, f32>
  return %y : !xtensor.array<t: ?, c: 2, f32>
}
