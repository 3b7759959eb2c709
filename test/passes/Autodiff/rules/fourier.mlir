// A transform is linear. Forward and backward are the transposes of each other. In the transpose of one from real numbers,
// each number that stands for its conjugate, too, counts half; in that of one to real numbers, it counts twice.
// RUN: xtensor-opt %s --split-input-file --xtensor-linearize | FileCheck %s --check-prefix=LINEAR
// RUN: xtensor-opt %s --split-input-file --xtensor-linearize --xtensor-transpose | FileCheck %s --check-prefix=BACK

!a = !xtensor.array<t: 6, c: 2, f32>
func.func @fourier(%a: !a) -> (!a, !xtensor.linear<(!a) -> !a>) {
  %p, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !a):
    %r = xtensor.fourier forward %x along [t] pair c {scale = 0.5} : !a
    xtensor.yield %r : !a
  } : (!a) -> (!a, !xtensor.linear<(!a) -> !a>)
  return %p, %back : !a, !xtensor.linear<(!a) -> !a>
}

// LINEAR-LABEL: func.func @fourier(
// LINEAR-SAME: %[[A:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V0:.+]] = xtensor.fourier forward %[[A]] along [t] pair c {scale = 5.000000e-01 : f64}
// LINEAR-NEXT: %[[V1:.+]] = xtensor.linear {
// LINEAR-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// LINEAR-NEXT: %[[V2:.+]] = xtensor.fourier forward %[[T0]] along [t] pair c {scale = 5.000000e-01 : f64}
// LINEAR-NEXT: xtensor.yield %[[V2]]

// BACK-LABEL: func.func @fourier(
// BACK: xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[V2:.+]] = xtensor.fourier backward %[[T0]] along [t] pair c {scale = 5.000000e-01 : f64}
// BACK-NEXT: xtensor.yield %[[V2]]

// -----

!a = !xtensor.array<t: 6, f32>
!r = !xtensor.array<t: 4, c: 2, f32>
func.func @real(%a: !a) -> (!r, !xtensor.linear<(!r) -> !a>) {
  %p, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !a):
    %r = xtensor.fourier real %x along [t] pair c : !a
    xtensor.yield %r : !r
  } : (!a) -> (!r, !xtensor.linear<(!r) -> !a>)
  return %p, %back : !r, !xtensor.linear<(!r) -> !a>
}

// BACK-LABEL: func.func @real(
// BACK: xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK: %[[W:.+]] = xtensor.select
// BACK: %[[H:.+]] = xtensor.mul %[[T0]], %[[W]]
// BACK-NEXT: %[[V2:.+]] = xtensor.fourier hermitian %[[H]] along [t] pair c size 6
// BACK-NEXT: xtensor.yield %[[V2]]

// -----

!a = !xtensor.array<t: 4, c: 2, f32>
!r = !xtensor.array<t: 6, f32>
func.func @hermitian(%a: !a) -> (!r, !xtensor.linear<(!r) -> !a>) {
  %p, %back = xtensor.pullback at(%a) wrt [0] {
  ^bb0(%x: !a):
    %r = xtensor.fourier hermitian %x along [t] pair c size 6 : !a
    xtensor.yield %r : !r
  } : (!a) -> (!r, !xtensor.linear<(!r) -> !a>)
  return %p, %back : !r, !xtensor.linear<(!r) -> !a>
}

// BACK-LABEL: func.func @hermitian(
// BACK: xtensor.linear {
// BACK-NEXT: ^bb0(%[[T0:[a-z0-9]+]]:
// BACK-NEXT: %[[R:.+]] = xtensor.fourier real %[[T0]] along [t] pair c
// BACK: %[[W:.+]] = xtensor.select
// BACK: %[[V2:.+]] = xtensor.mul %[[R]], %[[W]]
// BACK-NEXT: xtensor.yield %[[V2]]
