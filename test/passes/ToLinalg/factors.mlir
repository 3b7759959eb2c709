// Dense linear algebra: one call per op, on matrices as they are stored, whose axes the call names:
// batches first, then row and column. -1 is a batch dim that an operand lacks.
// RUN: xtensor-opt %s --split-input-file --xtensor-to-linalg --xtensor-verify-linalg | FileCheck %s

!a = !xtensor.array<row: 4, batch: 2, col: 4, f32>

// CHECK-LABEL: func.func @cholesky(
// CHECK-SAME: %[[A:.*]]: tensor<4x2x4xf32>
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4x2x4xf32>
// CHECK: %[[L:.*]] = xtensor.library "xt_cholesky" ins(%[[A]] : tensor<4x2x4xf32>) outs(%[[E]] : tensor<4x2x4xf32>)
// CHECK-SAME: axes = [array<i64: 1, 0, 2>, array<i64: 1, 0, 2>]
// CHECK: return %[[L]]
func.func @cholesky(%a: !a) -> !a {
  %l = xtensor.cholesky %a on [row, col] : !a
  return %l : !a
}

// -----

// Batches of both: -1 is the one that an operand lacks.
!l = !xtensor.array<row: 4, batch: 2, col: 4, f32>
!t = !xtensor.array<n: 3, col: 4, row: 4, f32>
!x = !xtensor.array<batch: 2, n: 3, col: 4, row: 4, f32>

// CHECK-LABEL: func.func @cholesky_tangent(
// CHECK-SAME: %[[L:.*]]: tensor<4x2x4xf32> {{.*}}, %[[T:.*]]: tensor<3x4x4xf32>
// CHECK: %[[X:.*]] = xtensor.library "xt_cholesky_tangent" ins(%[[L]], %[[T]] :
// CHECK-SAME: axes = [array<i64: 1, -1, 0, 2>, array<i64: -1, 0, 2, 1>, array<i64: 0, 1, 3, 2>], options = array<i64: 1>
// CHECK: return %[[X]]
func.func @cholesky_tangent(%l: !l, %t: !t) -> !x {
  %x = xtensor.cholesky_tangent %l, %t on [row, col] transposed : !l, !t
  return %x : !x
}

// -----

// CHECK-LABEL: func.func @lu_tangent(
// CHECK-SAME: %[[P:.*]]: tensor<4x3xf32> {{.*}}, %[[T:.*]]: tensor<3x2x4xf32>
// CHECK: %[[X:.*]] = xtensor.library "xt_lu_tangent" ins(%[[P]], %[[T]] :
// CHECK-SAME: axes = [array<i64: -1, 0, 1>, array<i64: 1, 2, 0>, array<i64: 1, 2, 0>], options = array<i64: 0>
// CHECK: return %[[X]]
!p = !xtensor.array<row: 4, col: 3, f32>
!t = !xtensor.array<col: 3, n: 2, row: 4, f32>
func.func @lu_tangent(%p: !p, %t: !t) -> !t {
  %x = xtensor.lu_tangent %p, %t on [row, col] : !p, !t
  return %x : !t
}

// -----

// The triangle with the sums along its columns; those along its rows are of the upper triangle.
// CHECK-LABEL: func.func @triangular_product(
// CHECK-SAME: %[[A:.*]]: tensor<4x2x4xf32> {{.*}}, %[[B:.*]]: tensor<4x3xf32> {{.*}}, %[[C:.*]]: tensor<4x3xf32>
// CHECK: xtensor.library "xt_triangular_product" ins(%[[A]], %[[B]] :
// CHECK-SAME: axes = [array<i64: 1, 0, 2>, array<i64: -1, 0, 1>, array<i64: 1, 0, 2>], options = array<i64: 0, 0>
// CHECK: xtensor.library "xt_triangular_product" ins(%[[A]], %[[C]] :
// CHECK-SAME: axes = [array<i64: 1, 2, 0>, array<i64: -1, 0, 1>, array<i64: 0, 1, 2>], options = array<i64: 1, 1>
!a = !xtensor.array<row: 4, batch: 2, col: 4, f32>
!b = !xtensor.array<col: 4, n: 3, f32>
!c = !xtensor.array<row: 4, n: 3, f32>
!x = !xtensor.array<row: 4, batch: 2, n: 3, f32>
!y = !xtensor.array<batch: 2, col: 4, n: 3, f32>
func.func @triangular_product(%a: !a, %b: !b, %c: !c) -> (!x, !y) {
  %x = xtensor.triangular_contract %a, %b over [col] on [row, col] : !a, !b
  %y = xtensor.triangular_contract %a, %c over [row] on [row, col] {strict} : !a, !c
  return %x, %y : !x, !y
}

// -----

// Rows first, then what is summed over.
// CHECK-LABEL: func.func @triangle_of_product(
// CHECK-SAME: %[[A:.*]]: tensor<5x4x3xf32> {{.*}}, %[[B:.*]]: tensor<3x2x4x5xf32>
// CHECK: xtensor.library "xt_triangle_of_product" ins(%[[B]], %[[A]] :
// CHECK-SAME: axes = [array<i64: 1, 2, 0, 3>, array<i64: -1, 1, 2, 0>, array<i64: 1, 2, 0>], options = array<i64: 0>
!a = !xtensor.array<k: 5, col: 4, n: 3, f32>
!b = !xtensor.array<n: 3, batch: 2, row: 4, k: 5, f32>
!x = !xtensor.array<col: 4, batch: 2, row: 4, f32>
func.func @triangle_of_product(%a: !a, %b: !b) -> !x {
  %x = xtensor.triangular_contract %a, %b over [n, k] on [row, col] : !a, !b
  return %x : !x
}

// -----

// A permuted matrix is no copy.
!a = !xtensor.array<row: 4, batch: 2, col: 4, f32>
!p = !xtensor.array<batch: 2, col: 4, row: 4, f32>
!x = !xtensor.array<batch: 2, n: 3, col: 4, f32>
!b = !xtensor.array<n: 3, row: 4, f32>

// CHECK-LABEL: func.func @triangular_solve(
// CHECK-SAME: %[[A:.*]]: tensor<4x2x4xf32> {{.*}}, %[[B:.*]]: tensor<3x4xf32>
// CHECK-NOT: linalg
// CHECK: xtensor.library "xt_triangular_solve" ins(%[[A]], %[[B]] :
// CHECK-SAME: axes = [array<i64: 1, 0, 2>, array<i64: -1, 1, 0>, array<i64: 0, 2, 1>], options = array<i64: 1, 0>
func.func @triangular_solve(%a: !a, %b: !b) -> !x {
  %p = xtensor.broadcast %a : (!a) -> !p
  %x = xtensor.triangular_solve %p, %b on [row, col] {upper} : !p, !b
  return %x : !x
}

// -----

// Solves with a matrix, and with its transpose, share the factors with whoever else wants them.
!a = !xtensor.array<row: 4, col: 4, f64>
!b = !xtensor.array<row: 4, f64>
!x = !xtensor.array<col: 4, f64>
!i = !xtensor.array<row: 4, i64>
!s = !xtensor.array<f64>

// CHECK-LABEL: func.func @solve(
// CHECK: %[[LU:.*]]:4 = xtensor.library "xt_lu"
// CHECK-NOT: "xt_lu"
// CHECK: xtensor.library "xt_lu_solve" ins(%[[LU]]#0, %[[LU]]#1, %{{.*}} options = array<i64: 0>
// CHECK: xtensor.library "xt_lu_solve" ins(%[[LU]]#0, %[[LU]]#2, %{{.*}} options = array<i64: 1>
// CHECK: return %{{.*}}, %{{.*}}, %[[LU]]#3
func.func @solve(%a: !a, %b: !b, %c: !x) -> (!x, !b, !s) {
  %x = xtensor.solve %a, %b on [row, col] : !a, !b
  %y = xtensor.solve %a, %c on [row, col] transposed : !a, !x
  %p, %o, %i, %s = xtensor.lu %a on [row, col] : !a
  return %x, %y, %s : !x, !b, !s
}

// -----

// Of the identity's columns most rows are 0 until the second triangle: the routine knows.
!a = !xtensor.array<row: 4, col: 4, f64>
!p = !xtensor.array<row: 4, i64>
!q = !xtensor.array<k: 4, i64>

// CHECK-LABEL: func.func @inverse(
// CHECK: %[[LU:.*]]:4 = xtensor.library "xt_lu"
// CHECK: xtensor.library "xt_lu_inverse" ins(%[[LU]]#0, %[[LU]]#1 : tensor<4x4xf64>, tensor<4xi64>)
// CHECK-SAME: axes = [array<i64: 0, 1>, array<i64: 0>, array<i64: 0, 1>], options = array<i64: 0>
func.func @inverse(%a: !a) -> !xtensor.array<col: 4, k: 4, f64> {
  %i = xtensor.iota : !p
  %j = xtensor.iota : !q
  %on = xtensor.compare eq %i, %j : !p, !q
  %eye = xtensor.cast %on to f64 : !xtensor.array<row: 4, k: 4, i1>
  %x = xtensor.solve %a, %eye on [row, col] : !a, !xtensor.array<row: 4, k: 4, f64>
  return %x : !xtensor.array<col: 4, k: 4, f64>
}

// CHECK-LABEL: func.func @part_of_an_inverse(
// CHECK: xtensor.library "xt_lu_solve"
func.func @part_of_an_inverse(%a: !a) -> !xtensor.array<col: 4, k: 3, f64> {
  %i = xtensor.iota : !p
  %j = xtensor.iota : !xtensor.array<k: 3, i64>
  %on = xtensor.compare eq %i, %j : !p, !xtensor.array<k: 3, i64>
  %eye = xtensor.cast %on to f64 : !xtensor.array<row: 4, k: 3, i1>
  %x = xtensor.solve %a, %eye on [row, col] : !a, !xtensor.array<row: 4, k: 3, f64>
  return %x : !xtensor.array<col: 4, k: 3, f64>
}

// -----

// The inner dim's size follows from the matrix's.
!a = !xtensor.array<row: ?, col: 4, f32>
!q = !xtensor.array<row: ?, k: ?, f32>
!r = !xtensor.array<k: ?, col: 4, f32>

// CHECK-LABEL: func.func @qr(
// CHECK: %[[K:.*]] = arith.minsi
// CHECK: tensor.empty(%{{.*}}, %[[K]]) : tensor<?x?xf32>
// CHECK: xtensor.library "xt_qr"
func.func @qr(%a: !a) -> (!q, !r) {
  %q, %r = xtensor.qr %a on [row, col] inner k : !a
  return %q, %r : !q, !r
}

// -----

!a = !xtensor.array<row: 3, col: 4, f32>
!s = !xtensor.array<row: 3, col: 3, f32>
!u = !xtensor.array<row: 3, k: 3, f32>
!k = !xtensor.array<k: 3, f32>
!v = !xtensor.array<k: 3, col: 4, f32>
!p = !xtensor.array<col: 4, row: 3, f32>

// CHECK-LABEL: func.func @others(
// CHECK: xtensor.library "xt_svd"
// CHECK: xtensor.library "xt_pinv"
// CHECK-SAME: axes = [array<i64: 0, 1>, array<i64: 0, 1>]
// CHECK: xtensor.library "xt_eigh"
func.func @others(%a: !a, %s: !s) -> (!u, !k, !v, !p, !k, !u) {
  %u, %d, %v = xtensor.svd %a on [row, col] inner k : !a
  %p = xtensor.pinv %a on [row, col] : !a
  %w, %e = xtensor.eigh %s on [row, col] inner k : !s
  return %u, %d, %v, %p, %w, %e : !u, !k, !v, !p, !k, !u
}

// -----

// Of complex numbers: the parts are the last axis. Solves and factors of one matrix share its LU factors.
!a = !xtensor.array<b: ?, row: 3, col: 3, p: 2, f64>
!b = !xtensor.array<row: 3, p: 2, k: 2, f64>
!x = !xtensor.array<b: ?, p: 2, col: 3, k: 2, f64>
!l = !xtensor.array<b: ?, row: 3, i: 3, p: 2, f64>

// CHECK-LABEL: func.func @complex(
// CHECK: xtensor.library "xt_complex_lu"
// CHECK: xtensor.library "xt_complex_lu_solve"
// CHECK-SAME: axes = [array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>, array<i64: 0, 1>, array<i64: -1, 0, 2, 1>, array<i64: 0, 2, 3, 1>]
// CHECK-NOT: "xt_complex_lu"
// CHECK: xtensor.library "xt_complex_triangular_solve"
// CHECK: xtensor.library "xt_complex_qr"
func.func @complex(%a: !a, %b: !b) -> (!x, !l, !x, !l) {
  %x = xtensor.solve %a, %b on [row, col] {pair = "p"} : !a, !b
  %l, %u, %o, %s = xtensor.complex_factor lu %a on [row, col] inner i pair p : !a
  %y = xtensor.triangular_solve %a, %b on [row, col] {pair = "p", upper} : !a, !b
  %q, %r = xtensor.complex_factor qr %a on [row, col] inner i pair p : !a
  return %x, %l, %y, %q : !x, !l, !x, !l
}
