// Every constraint of ops on matrices, with its exact message.
// RUN: xtensor-opt %s --split-input-file --verify-diagnostics

// matrix_c1
func.func @f(%a: !xtensor.array<row: 3, col: 3, f32>) {
  // expected-error@+1 {{cholesky: expected two dims, row and column, got 1}}
  %l = xtensor.cholesky %a on [row] : !xtensor.array<row: 3, col: 3, f32>
  return
}

// -----

// matrix_c1
func.func @f(%a: !xtensor.array<row: 3, col: 3, f32>) {
  // expected-error@+1 {{eigh: dim "row" is named twice}}
  %w, %v = xtensor.eigh %a on [row, row] inner k : !xtensor.array<row: 3, col: 3, f32>
  return
}

// -----

// matrix_c2
func.func @f(%a: !xtensor.array<row: 3, col: 2, f32>) {
  // expected-error@+1 {{cholesky: dims "row" and "col" must have equal sizes, the matrix must be square; it has (row: 3, col: 2)}}
  %l = xtensor.cholesky %a on [row, col] : !xtensor.array<row: 3, col: 2, f32>
  return
}

// -----

// complex_factor_c1
func.func @f(%a: !xtensor.array<row: 3, col: 3, p: 3, f32>) {
  // expected-error@+1 {{complex_factor qr: the dim "p" of the parts has size 2 and is no dim of the matrix; it has (row: 3, col: 3, p: 3)}}
  %q, %r = xtensor.complex_factor qr %a on [row, col] inner k pair p : !xtensor.array<row: 3, col: 3, p: 3, f32>
  return
}

// -----

// matrix_c2
func.func @f(%a: !xtensor.array<row: 3, col: 2, p: 2, f32>) {
  // expected-error@+1 {{complex_factor eig: dims "row" and "col" must have equal sizes, the matrix must be square; it has (row: 3, col: 2, p: 2)}}
  %w, %v = xtensor.complex_factor eig %a on [row, col] inner k pair p : !xtensor.array<row: 3, col: 2, p: 2, f32>
  return
}

// -----

// solve_c3
func.func @f(%a: !xtensor.array<row: 3, col: 3, p: 2, f32>, %b: !xtensor.array<row: 3, f32>) {
  // expected-error@+2 {{solve: the dim "p" of the parts must be a dim of both operands, of size 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %x = xtensor.solve %a, %b on [row, col] {pair = "p"} : !xtensor.array<row: 3, col: 3, p: 2, f32>, !xtensor.array<row: 3, f32>
  return
}

// -----

// matrix_c3
func.func @f(%a: !xtensor.array<k: 3, row: 3, col: 2, f32>) {
  // expected-error@+1 {{qr: the new inner dim "k" is a dim of the matrix already; it has (k: 3, row: 3, col: 2)}}
  %q, %r = xtensor.qr %a on [row, col] inner k : !xtensor.array<k: 3, row: 3, col: 2, f32>
  return
}

// -----

// matrix_c2
func.func @f(%l: !xtensor.array<row: 3, col: 2, f32>) {
  // expected-error@+1 {{cholesky_tangent: dims "row" and "col" must have equal sizes, the matrix must be square; it has (row: 3, col: 2)}}
  %x = xtensor.cholesky_tangent %l, %l on [row, col] : !xtensor.array<row: 3, col: 2, f32>, !xtensor.array<row: 3, col: 2, f32>
  return
}

// -----

// triangular_contract_c1
func.func @f(%a: !xtensor.array<row: 3, k: 2, f32>, %b: !xtensor.array<col: 4, k: 2, f32>) {
  // expected-error@+1 {{triangular_contract: dims "row" and "col" must have equal sizes; there are (row: 3, k: 2, col: 4)}}
  %x = xtensor.triangular_contract %a, %b over [k] on [row, col] : !xtensor.array<row: 3, k: 2, f32>, !xtensor.array<col: 4, k: 2, f32>
  return
}

// -----

// triangular_contract_c2
func.func @f(%a: !xtensor.array<row: 3, col: 3, f32>, %b: !xtensor.array<row: 3, col: 3, f32>) {
  // expected-error@+1 {{triangular_contract: one operand has dims "row" and "col" and the other the summed one of them, or each has one of them and the summed dims beside it; they have (row: 3, col: 3) and (row: 3, col: 3)}}
  %x = xtensor.triangular_contract %a, %b over [col] on [row, col] : !xtensor.array<row: 3, col: 3, f32>, !xtensor.array<row: 3, col: 3, f32>
  return
}

// -----

// triangular_contract_c2
func.func @f(%a: !xtensor.array<row: 3, k: 3, f32>, %b: !xtensor.array<col: 3, f32>) {
  // expected-error@+1 {{each has one of them and the summed dims beside it; they have (row: 3, k: 3) and (col: 3)}}
  %x = xtensor.triangular_contract %a, %b over [k] on [row, col] : !xtensor.array<row: 3, k: 3, f32>, !xtensor.array<col: 3, f32>
  return
}

// -----

// triangular_contract_c3
func.func @f(%a: !xtensor.array<row: 3, k: 3, f32>, %b: !xtensor.array<col: 3, k: 3, f64>) {
  // expected-error@+1 {{triangular_contract: expected two arrays of f32 or of f64}}
  %x = xtensor.triangular_contract %a, %b over [k] on [row, col] : !xtensor.array<row: 3, k: 3, f32>, !xtensor.array<col: 3, k: 3, f64>
  return
}

// -----

// triangular_contract_c3
func.func @f(%a: !xtensor.array<row: 3, k: 3, f32>, %b: !xtensor.array<col: 3, k: 2, f32>) {
  // expected-error@+1 {{triangular_contract: dim "k" has sizes 3 and 2}}
  %x = xtensor.triangular_contract %a, %b over [k] on [row, col] : !xtensor.array<row: 3, k: 3, f32>, !xtensor.array<col: 3, k: 2, f32>
  return
}

// -----

// tangent_c1
func.func @f(%p: !xtensor.array<row: 3, col: 2, f32>, %t: !xtensor.array<row: 3, k: 2, f32>) {
  // expected-error@+1 {{lu_tangent: the tangent lacks dim "col" of the matrix; it has (row: 3, k: 2)}}
  %x = xtensor.lu_tangent %p, %t on [row, col] : !xtensor.array<row: 3, col: 2, f32>, !xtensor.array<row: 3, k: 2, f32>
  return
}

// -----

// tangent_c1
func.func @f(%l: !xtensor.array<row: 3, col: 3, f32>, %t: !xtensor.array<row: 3, k: 3, f32>) {
  // expected-error@+1 {{cholesky_tangent: the tangent lacks dim "col" of the matrix; it has (row: 3, k: 3)}}
  %x = xtensor.cholesky_tangent %l, %t on [row, col] : !xtensor.array<row: 3, col: 3, f32>, !xtensor.array<row: 3, k: 3, f32>
  return
}

// -----

// tangent_c1
func.func @f(%l: !xtensor.array<row: 3, col: 3, f32>, %t: !xtensor.array<row: 3, col: 3, f64>) {
  // expected-error@+1 {{cholesky_tangent: the tangent must be an array of 'f32'}}
  %x = xtensor.cholesky_tangent %l, %t on [row, col] : !xtensor.array<row: 3, col: 3, f32>, !xtensor.array<row: 3, col: 3, f64>
  return
}

// -----

// tangent_c1
func.func @f(%l: !xtensor.array<row: 3, col: 3, f32>, %t: !xtensor.array<row: 2, col: 3, f32>) {
  // expected-error@+1 {{cholesky_tangent: dim "row" has sizes 3 and 2; equal names must have equal sizes; operands: (row: 3, col: 3), (row: 2, col: 3)}}
  %x = xtensor.cholesky_tangent %l, %t on [row, col] : !xtensor.array<row: 3, col: 3, f32>, !xtensor.array<row: 2, col: 3, f32>
  return
}

// -----

// solve_c1
func.func @f(%a: !xtensor.array<row: 3, col: 3, f32>, %b: !xtensor.array<col: 3, f32>) {
  // expected-error@+1 {{solve: the right-hand side has "row" and not "col", which the result has instead; it has (col: 3)}}
  %x = xtensor.solve %a, %b on [row, col] : !xtensor.array<row: 3, col: 3, f32>, !xtensor.array<col: 3, f32>
  return
}

// -----

// solve_c2
func.func @f(%a: !xtensor.array<row: 3, col: 3, f32>, %b: !xtensor.array<row: 4, f32>) {
  // expected-error@+1 {{triangular_solve: dim "row" has sizes 3 and 4; equal names must have equal sizes; operands: (row: 3, col: 3), (row: 4)}}
  %x = xtensor.triangular_solve %a, %b on [row, col] : !xtensor.array<row: 3, col: 3, f32>, !xtensor.array<row: 4, f32>
  return
}

// -----

// solve_c2
func.func @f(%a: !xtensor.array<row: 3, col: 3, f32>, %b: !xtensor.array<row: 3, f64>) {
  // expected-error@+1 {{solve: the right-hand side must be an array of 'f32'}}
  %x = xtensor.solve %a, %b on [row, col] : !xtensor.array<row: 3, col: 3, f32>, !xtensor.array<row: 3, f64>
  return
}
