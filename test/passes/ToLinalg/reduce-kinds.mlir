// What each kind of reduction starts from and combines with.
// RUN: xtensor-opt %s --split-input-file --xtensor-to-linalg --xtensor-verify-linalg | FileCheck %s

// CHECK-LABEL: func.func @prod(
// CHECK: %[[START:.*]] = arith.constant 1.000000e+00 : f32
// CHECK: linalg.fill ins(%[[START]] :
// CHECK: arith.mulf %out, %in
func.func @prod(%x: !xtensor.array<a: 3, b: 4, f32>) -> !xtensor.array<a: 3, f32> {
  %y = xtensor.reduce prod %x over [b] : !xtensor.array<a: 3, b: 4, f32>
  return %y : !xtensor.array<a: 3, f32>
}

// -----

// CHECK-LABEL: func.func @min(
// CHECK: %[[START:.*]] = arith.constant 0x7F800000 : f32
// CHECK: linalg.fill ins(%[[START]] :
// CHECK: arith.minimumf %out, %in
func.func @min(%x: !xtensor.array<a: 3, b: 4, f32>) -> !xtensor.array<a: 3, f32> {
  %y = xtensor.reduce min %x over [b] : !xtensor.array<a: 3, b: 4, f32>
  return %y : !xtensor.array<a: 3, f32>
}

// -----

// CHECK-LABEL: func.func @min_unsigned(
// CHECK: %[[START:.*]] = arith.constant -1 : i8
// CHECK: linalg.fill ins(%[[START]] :
// CHECK: arith.minui %out, %in
func.func @min_unsigned(%x: !xtensor.array<a: 3, b: 4, ui8>) -> !xtensor.array<a: 3, ui8> {
  %y = xtensor.reduce min %x over [b] : !xtensor.array<a: 3, b: 4, ui8>
  return %y : !xtensor.array<a: 3, ui8>
}

// -----

// CHECK-LABEL: func.func @any(
// CHECK: %[[START:.*]] = arith.constant 0 : i8
// CHECK: linalg.fill ins(%[[START]] :
// CHECK: arith.ori %out, %in
func.func @any(%x: !xtensor.array<a: 3, b: 4, i1>) -> !xtensor.array<a: 3, i1> {
  %y = xtensor.reduce any %x over [b] : !xtensor.array<a: 3, b: 4, i1>
  return %y : !xtensor.array<a: 3, i1>
}

// -----

// CHECK-LABEL: func.func @all(
// CHECK: %[[START:.*]] = arith.constant 1 : i8
// CHECK: linalg.fill ins(%[[START]] :
// CHECK: arith.andi %out, %in
func.func @all(%x: !xtensor.array<a: 3, b: 4, i1>) -> !xtensor.array<b: 4, i1> {
  %y = xtensor.reduce all %x over [a] : !xtensor.array<a: 3, b: 4, i1>
  return %y : !xtensor.array<b: 4, i1>
}

// -----

// CHECK-LABEL: func.func @argmin(
// CHECK: %[[START:.*]] = arith.constant 2147483647 : i32
// CHECK: linalg.fill ins(%[[START]] :
// CHECK: arith.cmpi slt, %in, %out
// CHECK: linalg.index 1
// CHECK: return %{{.*}}#1
func.func @argmin(%x: !xtensor.array<a: 3, b: 4, i32>) -> !xtensor.array<a: 3, i64> {
  %y = xtensor.reduce argmin %x over [b] : !xtensor.array<a: 3, b: 4, i32>
  return %y : !xtensor.array<a: 3, i64>
}
