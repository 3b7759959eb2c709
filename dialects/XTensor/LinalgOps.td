// Dense linear algebra on matrices that two named dims span; all other dims are batches.
#ifndef XTENSOR_LINALG_OPS_TD
#define XTENSOR_LINALG_OPS_TD

include "XTensor/Base.td"

def XTensor_MatrixArray : XTensor_ArrayOf<"e.isF32() || e.isF64()", "f32 or f64">;

/// Works on each matrix that `dims`, its row and its column dim, span.
class XTensor_MatrixOp<string mnemonic> : XTensor_InferredOp<mnemonic> {
  // In every description: (matrix_c1) dims are two different dims of the matrix, row and column,
  // (matrix_c2) where a square matrix is needed their sizes are equal, (matrix_c3) a new inner dim
  // has a name that the matrix does not have.
}

class XTensor_FactorOp<string mnemonic> : XTensor_MatrixOp<mnemonic> {
  let arguments = (ins XTensor_MatrixArray:$a, StrArrayAttr:$dims);
  let assemblyFormat = "$a `on` custom<Names>($dims) attr-dict `:` type($a)";
}

class XTensor_InnerFactorOp<string mnemonic> : XTensor_MatrixOp<mnemonic> {
  let arguments = (ins XTensor_MatrixArray:$a, StrArrayAttr:$dims, StrAttr:$inner);
  let assemblyFormat = [{
    $a `on` custom<Names>($dims) `inner` custom<Name>($inner) attr-dict `:` type($a)
  }];
}

def XTensor_CholeskyOp : XTensor_FactorOp<"cholesky"> {
  let summary = "The lower triangular L of which L L^T is the symmetric part of a matrix";
  let description = [{
    Of (A + A^T) / 2; zeros above the diagonal. NaN on and below it where the matrix is not
    positive definite. Constraints: matrix_c1, matrix_c2.

    Example: `xtensor.cholesky %a on [row, col] : !xtensor.array<row: 4, col: 4, f32>`
  }];
  let results = (outs XTensor_MatrixArray:$l);
}

def XTensor_CholeskyTangentOp : XTensor_MatrixOp<"cholesky_tangent"> {
  let summary = "What a change of a matrix makes of its Cholesky factor, and the transpose of that";
  let description = [{
    The lower triangular X of X L^T + L X^T = T, for the symmetric part of `t` and the lower
    triangle of `l`; zeros above the diagonal. `transposed`: the symmetric X of which X L has half
    of the lower triangle of `t`, the rest of which is not read: the cotangent of the matrix from
    that of L. The dims of `x`: those of `l` beside its matrix, then those of `t`. Linear in `t`.
    Constraints: matrix_c1, matrix_c2, tangent_c1.

    Example: `xtensor.cholesky_tangent %l, %t on [row, col] :
    !xtensor.array<row: 4, col: 4, f32>, !xtensor.array<row: 4, col: 4, f32>`
  }];
  let arguments = (ins XTensor_MatrixArray:$l, XTensor_MatrixArray:$t, StrArrayAttr:$dims,
                       UnitAttr:$transposed);
  let results = (outs XTensor_MatrixArray:$x);
  let assemblyFormat = [{
    $l `,` $t `on` custom<Names>($dims) (`transposed` $transposed^)? attr-dict
    `:` type($l) `,` type($t)
  }];
}

def XTensor_EighOp : XTensor_InnerFactorOp<"eigh"> {
  let summary = "Eigenvalues, ascending, and orthonormal eigenvectors of a symmetric matrix";
  let description = [{
    Of (A + A^T) / 2. `w` has the inner dim, `v` it instead of the column dim. NaN where the
    matrix holds one. Constraints: matrix_c1, matrix_c2, matrix_c3.

    Example: `%w, %v = xtensor.eigh %a on [row, col] inner rank :
    !xtensor.array<row: 4, col: 4, f32>`
  }];
  let results = (outs XTensor_MatrixArray:$w, XTensor_MatrixArray:$v);
}

def XTensor_LuOp : XTensor_FactorOp<"lu"> {
  let summary = "LU factors with partial pivoting, in one matrix";
  let description = [{
    The rows of A in `order` are L U: `packed` holds U on and above the diagonal and the unit
    lower triangular L below. `inverse` is the inverse permutation, `parity` its sign, 1 or -1.
    A singular matrix has a zero on U's diagonal. Constraints: matrix_c1.

    Example: `%packed, %order, %inverse, %parity = xtensor.lu %a on [row, col] :
    !xtensor.array<row: 4, col: 3, f32>`
  }];
  let results = (outs XTensor_MatrixArray:$packed, XTensor_IntegerArray:$order,
                      XTensor_IntegerArray:$inverse, XTensor_MatrixArray:$parity);
}

def XTensor_LuTangentOp : XTensor_MatrixOp<"lu_tangent"> {
  let summary = "What a change of L U makes of both factors, and the transpose of that";
  let description = [{
    With L and U those of `packed`, and D below the diagonal and E on and above it in one matrix
    X, as they lie in `packed`: D U + L E = T. `transposed`: X of which X U^T has what lies below
    the diagonal of `t`, and L^T X the rest: the cotangent of L U from those of its factors. A
    pivot is divided by only where rows lie below it, and if it is 0, D is 0 there. The dims of
    `x`: those of `packed` beside its matrix, then those of `t`. Linear in `t`.
    Constraints: matrix_c1, (tangent_c1) `t` has both dims of the matrix and its element type, and
    equal names have equal sizes.

    Example: `xtensor.lu_tangent %packed, %t on [row, col] :
    !xtensor.array<row: 4, col: 3, f32>, !xtensor.array<row: 4, col: 3, f32>`
  }];
  let arguments = (ins XTensor_MatrixArray:$packed, XTensor_MatrixArray:$t, StrArrayAttr:$dims,
                       UnitAttr:$transposed);
  let results = (outs XTensor_MatrixArray:$x);
  let assemblyFormat = [{
    $packed `,` $t `on` custom<Names>($dims) (`transposed` $transposed^)? attr-dict
    `:` type($packed) `,` type($t)
  }];
}

def XTensor_PinvOp : XTensor_FactorOp<"pinv"> {
  let summary = "Moore-Penrose inverse";
  let description = [{
    The dims change places: what has the column dim is mapped back from what has the row dim.
    Singular values up to eps * max(rows, columns) * the largest count as 0.
    Constraints: matrix_c1.

    Example: `xtensor.pinv %a on [row, col] : !xtensor.array<row: 4, col: 3, f32>`
  }];
  let results = (outs XTensor_MatrixArray:$p);
}

def XTensor_QrOp : XTensor_InnerFactorOp<"qr"> {
  let summary = "Reduced QR factors";
  let description = [{
    `q` has the inner dim, of the smaller of both sizes, instead of the column dim, `r` instead of
    the row dim. Signs are LAPACK's. Constraints: matrix_c1, matrix_c3.

    Example: `%q, %r = xtensor.qr %a on [row, col] inner rank :
    !xtensor.array<row: 4, col: 3, f32>`
  }];
  let results = (outs XTensor_MatrixArray:$q, XTensor_MatrixArray:$r);
}

def XTensor_SolveOp : XTensor_MatrixOp<"solve"> {
  let summary = "x of A x = b, for a square matrix";
  let description = [{
    `b` has the row dim, `x` the column dim in its place; `transposed` solves A^T x = b, the other
    way around. The dims of `x`: the matrix's batch dims, then those of `b`. Not finite where A is
    singular. Constraints: matrix_c1, matrix_c2, (solve_c1) `b` has the dim that the equation
    sums to and not the other, (solve_c2) equal names have equal sizes, and element types are
    equal.

    Example: `xtensor.solve %a, %b on [row, col] : !xtensor.array<row: 4, col: 4, f32>,
    !xtensor.array<row: 4, f32>`
  }];
  let arguments = (ins XTensor_MatrixArray:$a, XTensor_MatrixArray:$b, StrArrayAttr:$dims,
                       UnitAttr:$transposed);
  let results = (outs XTensor_MatrixArray:$x);
  let assemblyFormat = [{
    $a `,` $b `on` custom<Names>($dims) (`transposed` $transposed^)? attr-dict
    `:` type($a) `,` type($b)
  }];
}

def XTensor_SvdOp : XTensor_InnerFactorOp<"svd"> {
  let summary = "Reduced singular value decomposition, values descending";
  let description = [{
    A = U diag(s) Vh: `u` has the inner dim, of the smaller of both sizes, instead of the column
    dim, `s` it alone, `vh` instead of the row dim. NaN where the matrix holds one or an infinity.
    Constraints: matrix_c1, matrix_c3.

    Example: `%u, %s, %vh = xtensor.svd %a on [row, col] inner rank :
    !xtensor.array<row: 4, col: 3, f32>`
  }];
  let results = (outs XTensor_MatrixArray:$u, XTensor_MatrixArray:$s, XTensor_MatrixArray:$vh);
}

def XTensor_TriangularContractOp : XTensor_MatrixOp<"triangular_contract"> {
  let summary = "The terms of a contraction on and below a diagonal";
  let description = [{
    As `contract` of both operands, of those terms alone whose position along the first of `dims`
    is not less than along the second; `strict`: is greater. Either one operand is a matrix with
    both dims, and the sum is over the one that the other has: the product with its lower triangle,
    of which the rest is not read. Or each operand has one of them: the lower triangle of a
    product, zeros above it. An upper triangle has its dims in the other order.
    Linear in each operand.
    Constraints: (triangular_contract_c1) `dims` are two, of equal sizes, (triangular_contract_c2)
    the operands and `over` are of one of both forms, and all summed dims are those of both
    operands, (triangular_contract_c3) equal names have equal sizes, and element types are equal.

    Example: `xtensor.triangular_contract %a, %b over [col] on [row, col] :
    !xtensor.array<row: 4, col: 4, f32>, !xtensor.array<col: 4, n: 2, f32>`
  }];
  let arguments = (ins XTensor_MatrixArray:$a, XTensor_MatrixArray:$b, StrArrayAttr:$over,
                       StrArrayAttr:$dims, UnitAttr:$strict);
  let results = (outs XTensor_MatrixArray:$x);
  let assemblyFormat = [{
    $a `,` $b `over` custom<Names>($over) `on` custom<Names>($dims) attr-dict
    `:` type($a) `,` type($b)
  }];
  let extraClassDeclaration = [{
    /// Which operand has both dims, the triangle; -1 if each has one.
    int getMatrixOperand();
  }];
}

def XTensor_TriangularSolveOp : XTensor_MatrixOp<"triangular_solve"> {
  let summary = "x of A x = b, for a triangular matrix";
  let description = [{
    As `solve`, but only one triangle of A is read, the lower one unless `upper`; `unit`: its
    diagonal is not read and counts as ones. The transposed matrix is the same one with its dims
    in the other order and the other triangle.
    Constraints: matrix_c1, matrix_c2, solve_c1, solve_c2.

    Example: `xtensor.triangular_solve %a, %b on [row, col] {upper} :
    !xtensor.array<row: 4, col: 4, f32>, !xtensor.array<row: 4, rhs: 2, f32>`
  }];
  let arguments = (ins XTensor_MatrixArray:$a, XTensor_MatrixArray:$b, StrArrayAttr:$dims,
                       UnitAttr:$upper, UnitAttr:$unit);
  let results = (outs XTensor_MatrixArray:$x);
  let assemblyFormat = [{
    $a `,` $b `on` custom<Names>($dims) attr-dict `:` type($a) `,` type($b)
  }];
}

#endif // XTENSOR_LINALG_OPS_TD
