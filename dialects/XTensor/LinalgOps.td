// Dense linear algebra on matrices that two named dims span; all other dims are batches.
#ifndef XTENSOR_LINALG_OPS_TD
#define XTENSOR_LINALG_OPS_TD

include "XTensor/Base.td"

def XTensor_MatrixArray : XTensor_ArrayOf<"e.isF32() || e.isF64()", "f32 or f64">;

/// Works on each matrix that `dims`, its row and its column dim, span.
class XTensor_MatrixOp<string mnemonic> : XTensor_InferredOp<mnemonic> {
  // Constraints of all ops:
  // * (matrix_c1) dims are two different dims of the matrix, row and column.
  // * (matrix_c2) If the op needs a square matrix, their sizes are equal.
  // * (matrix_c3) The name of the new inner dim is not the name of a dim of the matrix.
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
  let summary = "Lower triangular L such that L L^T is the symmetric part of a matrix";
  let description = [{
    The symmetric part is (A + A^T) / 2. L has zeros above the diagonal. If the matrix is not
    positive definite, L is NaN on and below the diagonal. Constraints: matrix_c1, matrix_c2.

    Example: `xtensor.cholesky %a on [row, col] : !xtensor.array<row: 4, col: 4, f32>`
  }];
  let results = (outs XTensor_MatrixArray:$l);
}

def XTensor_CholeskyTangentOp : XTensor_MatrixOp<"cholesky_tangent"> {
  let summary = "The tangent of a Cholesky factor for a tangent of its matrix, or the transpose of that map";
  let description = [{
    The result X is lower triangular, with zeros above the diagonal, and solves X L^T + L X^T = T. T
    is the symmetric part of `t`, and L is the lower triangle of `l`.

    With `transposed`, the op maps the cotangent of L to the cotangent of the matrix. X is then
    symmetric, and the lower triangle of X L is half of the lower triangle of `t`. The op does not
    read `t` above the diagonal.

    The dims of `x` are the batch dims of `l`, then the dims of `t`. The op is linear in `t`.
    Constraints: matrix_c1, matrix_c2, and tangent_c1 of `lu_tangent`.

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

def XTensor_ComplexFactorKind : I32EnumAttr<"ComplexFactorKind", "factorisation", [
    I32EnumAttrCase<"cholesky", 0>, I32EnumAttrCase<"eig", 1>, I32EnumAttrCase<"eigh", 2>,
    I32EnumAttrCase<"lu", 3>, I32EnumAttrCase<"qr", 4>, I32EnumAttrCase<"svd", 5>]> {
  let cppNamespace = "::xtensor";
}

def XTensor_ComplexFactorOp : XTensor_MatrixOp<"complex_factor"> {
  let summary = "Factors of a matrix of complex numbers, whose parts lie along the dim `pair`";
  let description = [{
    The dim `pair` has size 2: the real and the imaginary parts. The factors have it, too, unless
    they are real. The inner dim has the smaller of the two sizes. The factors of each kind are:

    * `cholesky`: l (row, inner, pair), lower triangular, with L L^H = (A + A^H) / 2. L is NaN on and
      below the diagonal if this matrix is not positive definite.
    * `eig`: w (inner, pair), v (row, inner, pair). The columns of V have norm 1.
    * `eigh`: w (inner), ascending, and v (row, inner, pair), of (A + A^H) / 2.
    * `lu`: l (row, inner, pair), u (inner, col, pair), order (row), parity (). L U is A with its
      rows in `order`. `parity` is the sign of this permutation.
    * `qr`: q (row, inner, pair), r (inner, col, pair). The diagonal of R is real.
    * `svd`: u (row, inner, pair), s (inner), descending, and vh (inner, col, pair).

    If the matrix contains a NaN or an infinity, the factors are NaN. The op does not have a
    derivative rule: the Python package defines the derivatives of the functions that use it.
    Constraints: matrix_c1, matrix_c2 for `cholesky`, `eig` and `eigh`, matrix_c3, and
    (complex_factor_c1) `pair` is another dim of the matrix, of size 2.

    Example: `%w, %v = xtensor.complex_factor eig %a on [row, col] inner rank pair part :
    !xtensor.array<row: 4, col: 4, part: 2, f32>`
  }];
  let arguments = (ins XTensor_ComplexFactorKind:$kind, XTensor_MatrixArray:$a, StrArrayAttr:$dims,
                       StrAttr:$inner, StrAttr:$pair);
  let results = (outs Variadic<XTensor_ArrayType>:$factors);
  let assemblyFormat = [{
    $kind $a `on` custom<Names>($dims) `inner` custom<Name>($inner) `pair` custom<Name>($pair)
    attr-dict `:` type($a)
  }];
  let extraClassDeclaration = [{
    bool isSquare() {
      return getKind() == ComplexFactorKind::cholesky || getKind() == ComplexFactorKind::eig ||
             getKind() == ComplexFactorKind::eigh;
    }
  }];
}

def XTensor_EighOp : XTensor_InnerFactorOp<"eigh"> {
  let summary = "Eigenvalues, ascending, and orthonormal eigenvectors of a symmetric matrix";
  let description = [{
    The op decomposes the symmetric part (A + A^T) / 2. The eigenvalues `w` have the inner dim. The
    eigenvectors `v` have the inner dim in place of the column dim. If the matrix contains a NaN,
    the results are NaN. Constraints: matrix_c1, matrix_c2, matrix_c3.

    Example: `%w, %v = xtensor.eigh %a on [row, col] inner rank :
    !xtensor.array<row: 4, col: 4, f32>`
  }];
  let results = (outs XTensor_MatrixArray:$w, XTensor_MatrixArray:$v);
}

def XTensor_LuOp : XTensor_FactorOp<"lu"> {
  let summary = "LU factors with partial pivoting, in one matrix";
  let description = [{
    L U is the matrix A with its rows in `order`. `packed` holds U on and above the diagonal, and
    the unit lower triangular L below it. `inverse` is the inverse permutation, and `parity` is its
    sign, 1 or -1. If the matrix is singular, U has a zero on its diagonal. Constraints: matrix_c1.

    Example: `%packed, %order, %inverse, %parity = xtensor.lu %a on [row, col] :
    !xtensor.array<row: 4, col: 3, f32>`
  }];
  let results = (outs XTensor_MatrixArray:$packed, XTensor_IntegerArray:$order,
                      XTensor_IntegerArray:$inverse, XTensor_MatrixArray:$parity);
}

def XTensor_LuTangentOp : XTensor_MatrixOp<"lu_tangent"> {
  let summary = "The tangents of both LU factors for a tangent of L U, or the transpose of that map";
  let description = [{
    L and U are the factors in `packed`. The op solves D U + L E = T for D, the tangent of L, and E,
    the tangent of U. T is the matrix `t`. X holds D below the diagonal and E on and above it, as
    `packed` holds L and U.

    With `transposed`, the op maps the cotangents of the factors to the cotangent of L U. X U^T then
    equals `t` below the diagonal, and L^T X equals `t` on and above it.

    The op divides by a pivot only if there are rows below it. If such a pivot is 0, D is 0 in its
    column. The dims of `x` are the batch dims of `packed`, then the dims of `t`. The op is linear
    in `t`.

    Constraints:
    * matrix_c1
    * (tangent_c1) `t` has both dims of the matrix and its element type. Equal names have equal
      sizes.

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
    The roles of the two dims are swapped: the inverse maps an array with the row dim to an array
    with the column dim. Singular values up to eps * max(rows, columns) * the largest count as 0.
    Constraints: matrix_c1.

    Example: `xtensor.pinv %a on [row, col] : !xtensor.array<row: 4, col: 3, f32>`
  }];
  let results = (outs XTensor_MatrixArray:$p);
}

def XTensor_QrOp : XTensor_InnerFactorOp<"qr"> {
  let summary = "Reduced QR factors";
  let description = [{
    `q` has the inner dim in place of the column dim, and `r` has it in place of the row dim. The
    size of the inner dim is the smaller of the two sizes. Signs are those of LAPACK. Constraints:
    matrix_c1, matrix_c3.

    Example: `%q, %r = xtensor.qr %a on [row, col] inner rank :
    !xtensor.array<row: 4, col: 3, f32>`
  }];
  let results = (outs XTensor_MatrixArray:$q, XTensor_MatrixArray:$r);
}

def XTensor_SolveOp : XTensor_MatrixOp<"solve"> {
  let summary = "The solution x of A x = b, for a square matrix";
  let description = [{
    `b` has the row dim, and `x` has the column dim in its place. With `transposed`, the op solves
    A^T x = b: `b` has the column dim, and `x` has the row dim. The dims of `x` are the batch dims
    of the matrix, then those of `b`. If A is singular, the result is not finite.

    With `pair`, the arrays hold complex numbers, whose parts lie along this dim of size 2, and
    `transposed` stands for A^H.

    Constraints:
    * matrix_c1, matrix_c2
    * (solve_c1) `b` has the row dim (with `transposed`, the column dim), and does not have the
      other dim.
    * (solve_c2) Equal names have equal sizes, and element types are equal.
    * (solve_c3) `pair` is a dim of both operands, of size 2.

    Example: `xtensor.solve %a, %b on [row, col] : !xtensor.array<row: 4, col: 4, f32>,
    !xtensor.array<row: 4, f32>`
  }];
  let arguments = (ins XTensor_MatrixArray:$a, XTensor_MatrixArray:$b, StrArrayAttr:$dims,
                       UnitAttr:$transposed, OptionalAttr<StrAttr>:$pair);
  let results = (outs XTensor_MatrixArray:$x);
  let assemblyFormat = [{
    $a `,` $b `on` custom<Names>($dims) (`transposed` $transposed^)? attr-dict
    `:` type($a) `,` type($b)
  }];
}

def XTensor_SvdOp : XTensor_InnerFactorOp<"svd"> {
  let summary = "Reduced singular value decomposition, values descending";
  let description = [{
    A = U diag(s) Vh. `u` has the inner dim in place of the column dim. `vh` has the inner dim in
    place of the row dim. `s` has the inner dim and the batch dims. The size of the inner dim is the
    smaller of the two sizes. If the matrix contains a NaN or an infinity, the results are NaN.
    Constraints: matrix_c1, matrix_c3.

    Example: `%u, %s, %vh = xtensor.svd %a on [row, col] inner rank :
    !xtensor.array<row: 4, col: 3, f32>`
  }];
  let results = (outs XTensor_MatrixArray:$u, XTensor_MatrixArray:$s, XTensor_MatrixArray:$vh);
}

def XTensor_TriangularContractOp : XTensor_MatrixOp<"triangular_contract"> {
  let summary = "The terms of a contraction on and below a diagonal";
  let description = [{
    The op is a `contract` of both operands that leaves out some terms. It keeps the terms on and
    below the diagonal: the position along the first of `dims` is not less than the position along
    the second. With `strict`, it keeps only the terms below the diagonal. The op has two forms:

    * One operand is a matrix with both dims, and the sum is over the dim that the other operand
      has. The result is the product with the lower triangle of the matrix. The op does not read the
      rest of the matrix.
    * Each operand has one of the dims. The result is the lower triangle of a product, with zeros
      above it.

    For an upper triangle, give the dims in the other order. The op is linear in each operand.

    Constraints:
    * (triangular_contract_c1) `dims` are two dims of equal sizes.
    * (triangular_contract_c2) The operands and `over` have one of the two forms. All summed dims
      are dims of both operands.
    * (triangular_contract_c3) Equal names have equal sizes, and element types are equal.

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
  let summary = "The solution x of A x = b, for a triangular matrix";
  let description = [{
    Works like `solve`, but reads only one triangle of A: the lower one, or with `upper` the upper
    one. With `unit`, the op does not read the diagonal, and uses ones in its place. To solve with
    the transposed matrix, swap `dims` and use the other triangle. With `pair`, the arrays hold
    complex numbers, as for `solve`. Constraints: matrix_c1, matrix_c2, solve_c1, solve_c2, solve_c3.

    Example: `xtensor.triangular_solve %a, %b on [row, col] {upper} :
    !xtensor.array<row: 4, col: 4, f32>, !xtensor.array<row: 4, rhs: 2, f32>`
  }];
  let arguments = (ins XTensor_MatrixArray:$a, XTensor_MatrixArray:$b, StrArrayAttr:$dims,
                       UnitAttr:$upper, UnitAttr:$unit, OptionalAttr<StrAttr>:$pair);
  let results = (outs XTensor_MatrixArray:$x);
  let assemblyFormat = [{
    $a `,` $b `on` custom<Names>($dims) attr-dict `:` type($a) `,` type($b)
  }];
}

#endif // XTENSOR_LINALG_OPS_TD
