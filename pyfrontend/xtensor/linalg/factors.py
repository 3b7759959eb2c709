"""Factors, solutions, determinants and norms.

No function raises because of values: a matrix without the requested factor gives NaN or
infinities for its own instance. `inner=` names new inner dims.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _native
from ..base.errors import ArgumentError, DimensionError
from ..call.dispatch import op
from ..call.opened import apart, room
from ..ops import promotion as p
from ..ops.arguments import (
    dims_of,
    extend,
    fail,
    fresh,
    integer,
    is_static,
    needs_lapack,
    number,
    reorder,
    size_of,
    static_size,
)  # fmt: skip
from ..ops.contraction import contract
from ..ops.moving import elsewhere, places
from ..ops.reductions import _norm, _wide, any_empty
from ..ops.types import Array, ArrayLike
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from ..transforms.custom import custom_derivative
from .arguments import (
    MATRIX,
    Pair,
    as_matrix,
    check_square,
    compared_positions,
    diagonal_of,
    first_of,
    identity,
    least_size,
    matrix_dims,
    new_inner,
    replaced,
    square_at_calls,
    system,
)
from .complex_factors import factor, pivots, product_of, sign_and_log

# -- factors ----------------------------------------------------------------------------------------------------------


@op
def cholesky(a: ArrayLike, /, dims: Pair = MATRIX) -> Array:
    """Returns the lower triangular L with A = L L^H, with the dims of `a`.

    `dims` names the row and the column dim; all other dims are batches. It factors the symmetric part (A + A^H) /
    2, as JAX does, so gradients are symmetric. The result is NaN if A is not positive definite. Raises SizeError if the
    matrix is not square.

    Example:
    >>> xt.linalg.cholesky(xt.array([[4.0, 2.0], [2.0, 5.0]], ("row", "col")))
    <xtensor.Array (row: 2, col: 2) float64>
    [[2. 0.]
     [1. 2.]]
    """
    x, pair, dtype = as_matrix("cholesky", a, dims, square=True)
    return p.cast(factor("cholesky", x, pair)[0], dtype)


def _factors_plan(kind: str, a: Any, dims: Any, inner: Any, whole: bool) -> Any:
    if not isinstance(a, _native.Array) or whole or type(inner) is not str or inner in a.dims:
        return None
    if type(dims) is not tuple or len(dims) != 2 or not {*dims} <= {*a.dims}:
        return None
    least = min(a.sizes[d] for d in dims)
    return (kind, a, room(inner, least, a._device), dims) if least else None


def _factors_wide(kind: str, a: ArrayLike, space: ArrayLike, dims: Pair, /) -> tuple[Array, ...]:
    x, pair, dtype = as_matrix(kind, a, dims)
    (inner,) = as_tracer(space).dims
    found = [elsewhere(y, inner, places(space, inner)) for y in factor(kind, x, pair, apart(inner))]
    dtypes = [dtype, dtype] if kind == "qr" else [dtype, p.real_of(dtype), dtype]
    return tuple([p.cast(y, t) for y, t in zip(found, dtypes, strict=True)])


def _qr_plan(a: Any, /, dims: Any = MATRIX, inner: Any = "rank", mode: Any = "reduced") -> Any:
    return _factors_plan("qr", a, dims, inner, mode != "reduced")


def _svd_plan(a: Any, /, dims: Any = MATRIX, inner: Any = "rank", full_matrices: Any = False) -> Any:
    return _factors_plan("svd", a, dims, inner, full_matrices)


@op(wide=(_qr_plan, _factors_wide))
def qr(a: ArrayLike, /, dims: Pair = MATRIX, inner: str = "rank", mode: str = "reduced") -> tuple[Array, Array]:
    """Returns q, r with A = Q R.

    `dims` names the row and the column dim; all other dims are batches. q has `inner` in place of col, r has
    `inner` in place of row. The size of `inner` is the smaller of both sizes. With mode="complete" it is the number
    of rows: q is square and orthogonal, and the rows of r that come on top are 0. Raises ArgumentError for another
    mode.

    Example:
    >>> q, r = xt.linalg.qr(xt.ones(row=3, col=2))
    >>> q.sizes, r.sizes
    ({'row': 3, 'rank': 2}, {'rank': 2, 'col': 2})
    """
    x, pair, dtype = as_matrix("qr", a, dims)
    if mode not in ("reduced", "complete"):
        raise fail(ArgumentError, "linalg.qr", f"mode is 'reduced' or 'complete', not {mode!r}", x)
    q, r = factor("qr", x, pair, new_inner("qr", x, inner))
    if mode == "complete":
        rows, columns = (static_size("linalg.qr", x, d) for d in pair)
        if rows > columns:
            r = build.pad(r, p.zero(r.dtype), {inner: (0, rows - columns, 0)})
        q = completed(q, (pair[0], inner))
    return p.cast(q, dtype), p.cast(r, dtype)


def completed(q: Tracer, pair: Pair) -> Tracer:
    """Orthonormal columns with as many more as make them a basis."""
    row, inner = pair
    n, k = (int(q.sizes[d]) for d in pair)
    if k >= n:
        return q

    def value(q: Tracer) -> Tracer:
        other = fresh(q.dims, "basis")
        unit = extend(identity(q, row, inner), {d: size_of(q, d) for d in q.dims if d != inner}, q.dims)
        both = build.concat([q, unit], inner)
        basis = factor("qr", both, (row, inner), other)[0]
        return reorder(build.rename(build.slice(basis, {other: (k, n - k, 1)}), {other: inner}), q.dims)

    def pushforward(primals: tuple[Tracer], tangents: tuple[Tracer]) -> tuple[Tracer, Tracer]:
        # Of the ways in which the rest can turn, the one that does not turn it in itself: dR = -Q dQ^H R.
        (q,), (t,) = primals, tangents
        rest = found(q)
        inside = fresh(q.dims, "inside")
        t, q = (build.rename(v, {inner: inside}) for v in (t, q))
        along = contract([build.conj(t), rest], (row,), (*[d for d in t.dims if d != row], inner))
        return rest, build.unary("neg", contract([q, along], (inside,), rest.dims))

    found = custom_derivative(value)
    found.defpushforward(pushforward)
    return build.concat([q, found(q)], inner)


@op
def eig(a: ArrayLike, /, dims: Pair = MATRIX, inner: str = "rank") -> tuple[Array, Array]:
    """Returns w, v: the eigenvalues of a square matrix, in no order, and its eigenvectors: A V = V diag(w).

    `dims` names the row and the column dim; all other dims are batches. w has `inner`, v has row and `inner`, and both
    are complex, of real matrices, too. Each vector has norm 1; its phase is LAPACK's. A matrix that is not
    diagonalisable has equal vectors. Derivatives need different eigenvalues. `eigh` is for symmetric matrices. Raises
    SizeError if the matrix is not square.

    Example:
    >>> w, v = xt.linalg.eig(xt.array([[0.0, -1.0], [1.0, 0.0]], ("row", "col")))
    >>> v.sizes, w.dtype, abs(w).values
    ({'row': 2, 'rank': 2}, dtype('complex128'), array([1., 1.]))
    """
    x, pair, dtype = as_matrix("eig", a, dims, square=True)
    inner = new_inner("eig", x, inner)
    w, v = factor("eig", p.cast(x, p.complex_of(x.dtype)), pair, inner)
    return p.cast(w, p.complex_of(dtype)), p.cast(v, p.complex_of(dtype))


@op
def eigvals(a: ArrayLike, /, dims: Pair = MATRIX, inner: str = "rank") -> Array:
    """Returns the eigenvalues of a square matrix, in no order: complex, with `inner` in place of the matrix's dims.

    Raises SizeError if the matrix is not square.

    Example:
    >>> abs(xt.linalg.eigvals(xt.array([[0.0, -2.0], [2.0, 0.0]], ("row", "col"))))
    <xtensor.Array (rank: 2) float64>
    [2. 2.]
    """
    x, pair, dtype = as_matrix("eigvals", a, dims, square=True)
    inner = new_inner("eigvals", x, inner)
    return p.cast(factor("eig", p.cast(x, p.complex_of(x.dtype)), pair, inner)[0], p.complex_of(dtype))


@op
def eigh(a: ArrayLike, /, dims: Pair = MATRIX, inner: str = "rank") -> tuple[Array, Array]:
    """Returns w, v: the eigenvalues of a symmetric or Hermitian matrix, in ascending order, and its eigenvectors.

    `dims` names the row and the column dim; all other dims are batches. w has `inner`, v has row and `inner`. It
    decomposes the part (A + A^H) / 2, and w is real. Eigenvectors of equal eigenvalues do not have a derivative. Raises
    SizeError if the matrix is not square.

    Example:
    >>> w, v = xt.linalg.eigh(xt.array([[2.0, 1.0], [1.0, 2.0]], ("row", "col")))
    >>> w.values.round(6), v.sizes
    (array([1., 3.]), {'row': 2, 'rank': 2})
    """
    x, pair, dtype = as_matrix("eigh", a, dims, square=True)
    w, v = factor("eigh", x, pair, new_inner("eigh", x, inner))
    return p.cast(w, p.real_of(dtype)), p.cast(v, dtype)


@op(wide=(_svd_plan, _factors_wide))
def svd(
    a: ArrayLike, /, dims: Pair = MATRIX, inner: str = "rank", full_matrices: bool = False
) -> tuple[Array, Array, Array]:
    """Returns u, s, vh with A = U diag(s) Vh, with s in descending order.

    `dims` names the row and the column dim; all other dims are batches. u has row and `inner`, s has `inner`, vh
    has `inner` and col. With `full_matrices=True` u and vh are square: u has row and row', vh has col' and col.

    Example:
    >>> u, s, vh = xt.linalg.svd(xt.array([[0.0, 2.0], [3.0, 0.0], [0.0, 0.0]], ("row", "col")))
    >>> u.sizes, s.values.round(6), vh.sizes
    ({'row': 3, 'rank': 2}, array([3., 2.]), {'rank': 2, 'col': 2})
    """
    x, pair, dtype = as_matrix("svd", a, dims)
    u, s, vh = factor("svd", x, pair, new_inner("svd", x, inner))
    if full_matrices:
        row, col = pair
        for d in pair:
            static_size("linalg.svd", x, d)
        names = (new_inner("svd", x, f"{row}'"), new_inner("svd", x, f"{col}'"))
        u = build.rename(completed(u, (row, inner)), {inner: names[0]})
        vh = build.rename(completed(vh, (col, inner)), {inner: names[1]})
    return p.cast(u, dtype), p.cast(s, p.real_of(dtype)), p.cast(vh, dtype)


def _lu_plan(a: Any, /, dims: Any = MATRIX, inner: Any = "rank") -> Any:
    found = None if p.is_complex(getattr(a, "dtype", p.BOOL)) else _factors_plan("lu", a, dims, inner, False)
    if found is None:
        return None
    moved = f"{dims[0]}'"
    if moved in (*a.dims, inner):
        return None
    return (*found, room(moved, a.sizes[dims[0]], a._device))


def _lu_wide(kind: str, a: ArrayLike, space: ArrayLike, dims: Pair, rows: ArrayLike, /) -> tuple[Array, Array, Array]:
    x, (row, col), dtype = as_matrix(kind, a, dims)
    (inner,), (moved,) = as_tracer(space).dims, as_tracer(rows).dims
    packed, order, _, _ = factor(kind, x, (row, col))

    def first(y: Tracer, dim: str, room: ArrayLike, name: str) -> Tracer:
        return elsewhere(build.rename(y, {dim: apart(name)}), name, places(room, name))

    lower = first(first(packed, col, space, inner), row, rows, moved)
    lower, upper = _triangles(lower, first(packed, row, space, inner), moved, inner, col)
    return _permuted(x, first(order, row, rows, moved), lower, upper, (row, col), (moved, inner), dtype)


@op(wide=(_lu_plan, _lu_wide))
def lu(a: ArrayLike, /, dims: Pair = MATRIX, inner: str = "rank") -> tuple[Array, Array, Array]:
    """Returns p, l, u with A = P L U, computed with partial pivoting: xt.dot(p, l, u) is A.

    `dims` names the row and the column dim; all other dims are batches. p has row and row', l has row' and `inner`,
    u has `inner` and col. If both sizes are dynamic, the matrix must be square.

    Example:
    >>> p, l, u = xt.linalg.lu(xt.array([[1.0, 2.0], [4.0, 5.0]], ("row", "col")))
    >>> xt.dot(p, l, u)
    <xtensor.Array (row: 2, col: 2) float64>
    [[1. 2.]
     [4. 5.]]
    """
    x, (row, col), dtype = as_matrix("lu", a, dims)
    inner = new_inner("lu", x, inner)
    moved = f"{row}'"
    if moved in (*x.dims, inner):
        raise fail(DimensionError, "linalg.lu", f"the permuted rows are named {moved!r}, which is a dim already", x)
    square_at_calls(x, (row, col))
    if p.is_complex(x.dtype):
        lower, upper, order, _ = factor("lu", x, (row, col), inner)
        lower = build.rename(lower, {row: moved})
    else:
        packed, order, _, _ = factor("lu", x, (row, col))
        lower, upper = _unpacked(packed, (row, col), moved, inner)
    return _permuted(x, build.rename(order, {row: moved}), lower, upper, (row, col), (moved, inner), dtype)


def _permuted(
    x: Tracer, order: Tracer, lower: Tracer, upper: Tracer, pair: Pair, names: tuple[str, str], dtype: np.dtype
) -> tuple[Tracer, Tracer, Tracer]:
    """P, and L and U in the order of the dims of `x`. names: those of the permuted rows and of the inner dim."""
    (row, col), (moved, inner) = pair, names
    at = build.compare("eq", order, build.iota(row, size_of(x, row)))
    permutation = reorder(p.cast(at, p.real_of(dtype)), replaced(x, (col, moved)))
    lower = reorder(lower, replaced(x, (col, inner), (row, moved)))
    return permutation, p.cast(lower, dtype), p.cast(reorder(upper, replaced(x, (row, inner))), dtype)


def _unpacked(packed: Tracer, pair: Pair, moved: str, inner: str) -> tuple[Tracer, Tracer]:
    """L, with `moved` for its rows, and U."""
    row, col = pair
    least: int | Tracer | None = least_size(packed, pair)
    if least is None and (is_static(packed, row) or is_static(packed, col)):
        least = build.binary("minimum", build.size(packed, row), build.size(packed, col))
    lower = build.rename(first_of(packed, col, least, inner), {row: moved})
    return _triangles(lower, first_of(packed, row, least, inner), moved, inner, col)


def _triangles(lower: Tracer, upper: Tracer, moved: str, inner: str, col: str) -> tuple[Tracer, Tracer]:
    """L and U, of what has both of them."""
    zero, one = p.zero(lower.dtype), p.constant(1, lower.dtype)
    lower = build.select(compared_positions("gt", lower, moved, inner), lower, zero)
    lower = build.select(compared_positions("eq", lower, moved, inner), one, lower)
    return lower, build.select(compared_positions("le", upper, inner, col), upper, zero)


# -- solutions --------------------------------------------------------------------------------------------------------


@op(joins=True)
def solve(a: ArrayLike, b: ArrayLike, /, dims: Pair = MATRIX) -> Array:
    """Returns the x with A x = b, for a square matrix.

    `dims` names the row and the column dim; all other dims are batches. `b` has the row dim, and x has the col dim
    in its place. The result has the batch dims of `a`, then those of `b`. A singular A gives infinities or NaN. Raises
    SizeError if the matrix is not square.

    Example:
    >>> a = xt.array([[2.0, 0.0], [0.0, 4.0]], ("row", "col"))
    >>> xt.linalg.solve(a, xt.array([2.0, 8.0], "row"))
    <xtensor.Array (col: 2) float64>
    [1. 2.]
    """
    x, y, pair, dtype = system("solve", a, b, dims)
    check_square("solve", x, pair)
    return p.cast(build.solve(x, y, pair), dtype)


@op(joins=True)
def triangular_solve(
    a: ArrayLike, b: ArrayLike, /, dims: Pair = MATRIX, lower: bool = True, unit: bool = False
) -> Array:
    """Returns the x with A x = b, for a triangular matrix, whose other triangle is not read.

    Dims are as for `solve`. With `unit=True`, the diagonal counts as ones. For the transposed system, swap the dims
    and choose the other triangle: triangular_solve(l, y, dims=("col", "row"), lower=False). Raises SizeError if the
    matrix is not square.

    Example:
    >>> l = xt.array([[2.0, 0.0], [1.0, 4.0]], ("row", "col"))
    >>> xt.linalg.triangular_solve(l, xt.array([2.0, 9.0], "row"))
    <xtensor.Array (col: 2) float64>
    [1. 2.]
    """
    x, y, pair, dtype = system("triangular_solve", a, b, dims)
    check_square("triangular_solve", x, pair)
    return p.cast(build.triangular_solve(x, y, pair, upper=not lower, unit=unit), dtype)


@op
def inv(a: ArrayLike, /, dims: Pair = MATRIX) -> Array:
    """Returns the inverse, whose row and col dims are in each other's place.

    `dims` names the row and the column dim; all other dims are batches. The inverse maps an array with the row dim
    to one with the col dim. A singular matrix gives infinities or NaN. Raises SizeError if the matrix is not square.

    Example:
    >>> xt.linalg.inv(xt.array([[2.0, 0.0], [0.0, 4.0]], ("row", "col")))
    <xtensor.Array (col: 2, row: 2) float64>
    [[0.5  0.  ]
     [0.   0.25]]
    """
    x, pair, dtype = as_matrix("inv", a, dims, square=True)
    return p.cast(inverse(x, pair), dtype)


def inverse(x: Tracer, pair: Pair) -> Tracer:
    row, col = pair
    right = fresh(x.dims, row)
    found = build.rename(build.solve(x, identity(x, row, right), pair), {right: row})
    return reorder(found, replaced(x, (row, col), (col, row)))


@op
def pinv(a: ArrayLike, /, dims: Pair = MATRIX, *, rtol: float | None = None) -> Array:
    """Returns the Moore-Penrose inverse, whose row and col dims are in each other's place.

    Singular values up to `rtol`, by default eps * max(rows, columns), times the largest count as 0. Derivatives
    hold where the rank does not change (Golub and Pereyra 1973).

    Example:
    >>> xt.linalg.pinv(xt.array([[2.0], [0.0]], ("row", "col")))
    <xtensor.Array (col: 1, row: 2) float64>
    [[0.5 0. ]]
    """
    x, pair, dtype = as_matrix("pinv", a, dims)
    bound = None if rtol is None else float(number("linalg.pinv", rtol, "rtol"))
    return p.cast(_pseudoinverse(x, pair, bound), dtype)


def _pseudoinverse(x: Tracer, pair: Pair, rtol: float | None = None) -> Tracer:
    """The inverse that leaves out what is small. Its derivative is Golub and Pereyra's (1973), with no division by
    differences of singular values."""
    row, col = pair
    if rtol is None and not p.is_complex(x.dtype):
        return build.factor("pinv", x, pair)[0]

    def value(x: Tracer) -> Tracer:
        rank = fresh(x.dims, "rank")
        u, s, vh = factor("svd", x, pair, rank)
        one, nought = p.constant(1, s.dtype), p.zero(s.dtype)
        large = build.compare("gt", s, least_counted(x, s, pair, rank, rtol))
        inverses = build.select(large, build.binary("div", one, build.select(large, s, one)), nought)
        v = build.binary("mul", build.conj(vh), p.cast(inverses, vh.dtype))
        return contract([v, build.conj(u)], (rank,), replaced(x, (row, col), (col, row)))

    def pushforward(primals: tuple[Tracer], tangents: tuple[Tracer]) -> tuple[Tracer, Tracer]:
        # dY = -Y dX Y + Y Y^H dX^H (1 - X Y) + (1 - Y X) dX^H Y^H Y
        (x,), (t,) = primals, tangents
        y = pseudo(x)
        i, j = (f"{n}~side" for n in "ij")  # rows, columns
        order = y.dims

        def named(m: Tracer, r: str, c: str) -> Tracer:
            return build.rename(m, {row: r, col: c})

        yh, th = build.conj(y), build.conj(t)
        first = contract([named(y, i, col), named(t, i, j), named(y, row, j)], (i, j), order)
        second = contract([named(y, i, col), named(yh, i, j), named(th, row, j)], (i, j), order)
        back = contract([named(second, i, col), named(x, i, j), named(y, row, j)], (i, j), order)
        third = contract([named(th, i, col), named(yh, i, j), named(y, row, j)], (i, j), order)
        forth = contract([named(y, i, col), named(x, i, j), named(third, row, j)], (i, j), order)
        turned = build.binary("add", build.binary("sub", second, back), build.binary("sub", third, forth))
        return y, build.binary("sub", turned, first)

    pseudo = custom_derivative(value)
    pseudo.defpushforward(pushforward)
    found: Tracer = pseudo(x)
    return found


def least_counted(x: Tracer, s: Tracer, pair: Pair, rank: str, rtol: float | None) -> Tracer:
    """Up to where singular values count as 0: `rtol`, by default eps * max(rows, columns), times the largest."""
    if is_static(s, rank) and s.sizes[rank] == 0:
        return p.zero(s.dtype)
    if rtol is None:
        rows, cols = (p.cast(size_of(x, d), s.dtype) for d in pair)
        bound = build.binary("mul", build.binary("maximum", rows, cols), p.constant(np.finfo(s.dtype).eps, s.dtype))
    else:
        bound = p.constant(rtol, s.dtype)
    return build.binary("mul", build.reduce("max", s, (rank,)), bound)


@op(joins=True)
def lstsq(a: ArrayLike, b: ArrayLike, /, dims: Pair = MATRIX) -> Array:
    """Returns the x of least norm that minimises |A x - b|: `b` has the row dim, x has the col dim in its place.

    The result has the batch dims of `a`, then those of `b`.

    Example:
    >>> a = xt.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], ("row", "col"))
    >>> xt.linalg.lstsq(a, xt.array([1.0, 3.0, 5.0], "row")).values.round(6)
    array([1., 2.])
    """
    x, y, (row, col), dtype = system("lstsq", a, b, dims)
    inverse = _pseudoinverse(x, (row, col))
    batch = [d for d in x.dims if d not in (row, col)]
    order = dict.fromkeys([*batch, *replaced(y, (row, col))])
    return p.cast(contract([inverse, y], (row,), tuple(order)), dtype)


@op
def det(a: ArrayLike, /, dims: Pair = MATRIX) -> Array:
    """Returns the determinant, with the batch dims of `a`. Its gradient is exact if at most one rank is missing.

    Raises SizeError if the matrix is not square.

    Example:
    >>> xt.linalg.det(xt.array([[4.0, 2.0], [2.0, 5.0]], ("row", "col")))
    <xtensor.Array () float64>
    16.
    """
    x, (row, col), dtype = as_matrix("det", a, dims, square=True)
    x, swaps = _last_pivot_least(x, row, col)
    diagonal, parity = pivots(x, (row, col))
    parity = build.binary("mul", parity, swaps)
    return p.cast(reorder(build.binary("mul", parity, product_of(diagonal, row)), parity.dims), dtype)


@op
def slogdet(a: ArrayLike, /, dims: Pair = MATRIX) -> tuple[Array, Array]:
    """Returns the sign and the logarithm of the absolute value of the determinant, with the batch dims of `a`.

    A singular matrix gives 0 and -inf. Raises SizeError if the matrix is not square.

    Example:
    >>> sign, logarithm = xt.linalg.slogdet(-1e200 * xt.eye(3))
    >>> sign.item(), round(logarithm.item(), 3)
    (-1.0, 1381.551)
    """
    x, (row, col), dtype = as_matrix("slogdet", a, dims, square=True)
    sign, logs = sign_and_log(x, (row, col))
    return p.cast(sign, dtype), p.cast(logs, p.real_of(dtype))


def _last_pivot_least(x: Tracer, row: str, col: str) -> tuple[Tracer, Tracer]:
    """`x` with the column of its least pivot moved to the end, and the sign that this gives the determinant.

    The derivative of lu divides by all pivots but the last. Where one rank is missing and the columns before the last
    are independent, no other pivot vanishes; they are once the first that depends on those before it is the last.
    """
    if is_static(x, col) and int(x.sizes[col]) < 2:
        return x, build.constant(1, (), x.dtype)
    fixed = build.stop_gradient(x)
    size = size_of(x, col)
    largest = build.reduce("max", build.unary("abs", fixed), (row,))
    scale = diagonal_of(build.broadcast(largest, x.dims, x.sizes), row, col)
    scale = build.select(build.compare("eq", scale, p.zero(scale.dtype)), p.constant(1, scale.dtype), scale)
    sizes = build.unary("abs", pivots(fixed, (row, col))[0])
    least = build.reduce("argmin", build.binary("div", sizes, scale), (row,))
    at, one = build.iota(col, size), build.constant(1)
    last = build.binary("sub", build.as_size(size), one)
    order = build.select(build.compare("lt", at, least), at, build.binary("add", at, one))
    order = build.select(build.compare("eq", at, last), least, order)
    steps = build.binary("maximum", build.binary("sub", last, least), build.constant(0))  # of no columns none
    odd = build.binary("mod", steps, build.constant(2))
    sign = build.binary("sub", build.constant(1), build.binary("mul", build.constant(2), odd))
    return build.gather("clip", x, {col: order}), p.cast(sign, x.dtype)


# -- from the elements ------------------------------------------------------------------------------------------------


@op
def diagonal(a: ArrayLike, /, dims: Pair = MATRIX, inner: str | None = None, offset: int = 0) -> Array:
    """Returns the elements at equal positions, along row (or `inner`), with the dims of `a` without col.

    With `offset`, the column is that much further than the row, and both sizes must be known while tracing.
    It takes any dtype and any two dims. If a size is dynamic, a row below the last column raises IndexError.

    Example:
    >>> xt.linalg.diagonal(xt.array([[4.0, 2.0], [1.0, 5.0]], ("row", "col")))
    <xtensor.Array (row: 2) float64>
    [4. 5.]
    """
    x = as_tracer(a)
    row, col = matrix_dims("diagonal", x, dims)
    shift = integer("linalg.diagonal", offset, "offset")
    if shift:
        rows, columns = (static_size("linalg.diagonal", x, d) for d in (row, col))
        first = (min(max(-shift, 0), rows), min(max(shift, 0), columns))
        n = max(min(rows - first[0], columns - first[1]), 0)
        x = build.slice(x, {row: (first[0], n, 1), col: (first[1], n, 1)})
    found = diagonal_of(x, row, col, mode="raise")
    return found if inner is None else build.rename(found, {row: new_inner("diagonal", x, inner)})


@op
def trace(a: ArrayLike, /, dims: Pair = MATRIX) -> Array:
    """Returns the sum of the diagonal, with the batch dims of `a`. Integers widen to 64 bits.

    Example:
    >>> xt.linalg.trace(xt.array([[1, 2], [3, 4]], ("row", "col"))).item()
    5
    """
    x = as_tracer(a)
    row, col = matrix_dims("trace", x, dims)
    if any_empty(x, (row, col)):
        return build.reduce("sum", p.cast(x, p.sum_dtype(x.dtype)), (row, col))
    found = p.cast(diagonal_of(x, row, col), p.accumulator(p.sum_dtype(x.dtype)))
    if least_size(x, (row, col)) is None:
        columns = p.cast(size_of(x, col), p.I8)
        inside = build.compare("lt", build.iota(row, size_of(x, row)), columns)
        found = build.select(inside, found, p.zero(found.dtype))
    return p.cast(build.reduce("sum", found, (row,)), p.sum_dtype(x.dtype))


@op
def norm(x: ArrayLike, /, ord: Any = None, dims: Any = MATRIX) -> Array:
    """Returns the matrix norm over dims=(row, col), or the vector norm over one dim, dims="i".

    Values of `ord` for a matrix norm: "fro", which is the default (None); "nuc", the sum of the singular values; 2 and
    -2, the largest and the smallest singular value; 1 and -1, the largest and the smallest sum of absolute values of a
    column; inf and -inf, the same of a row. An array with one dim has a vector norm. Raises ArgumentError for another
    `ord`.

    Example:
    >>> xt.linalg.norm(xt.array([[3.0, 0.0], [0.0, 4.0]], ("row", "col"))).item()
    5.0
    """
    a = as_tracer(x)
    dtype = p.real_of(p.mean_dtype(a.dtype))
    wide = _wide(a)
    if isinstance(dims, str) or (dims is MATRIX and a.ndim == 1):
        dims = (dims,) if isinstance(dims, str) else a.dims
    if isinstance(dims, (tuple, list)) and len(dims) == 1:
        order = 2.0 if ord is None else ord
        return p.cast(_norm(wide, dims_of("linalg.norm", a, dims), float(order)), dtype)
    row, col = matrix_dims("norm", a, dims)
    if ord is None or ord == "fro":
        return p.cast(_norm(wide, (row, col), 2.0), dtype)
    if ord in (2, -2, "nuc"):
        needs_lapack("linalg.norm")
        s = factor("svd", wide, (row, col), fresh(a.dims, "rank"))[1]
        (inner,) = (d for d in s.dims if d not in a.dims)
        kind = "sum" if ord == "nuc" else "max" if ord == 2 else "min"
        return p.cast(build.reduce(kind, s, (inner,)), dtype)
    if ord in (1, -1, math.inf, -math.inf):
        summed, kept = (row, col) if abs(ord) == 1 else (col, row)
        sums = build.reduce("sum", build.unary("abs", wide), (summed,))
        return p.cast(build.reduce("max" if ord > 0 else "min", sums, (kept,)), dtype)
    raise fail(
        ArgumentError, "linalg.norm", f"there is no matrix norm ord={ord!r}", a,
        instead='There are "fro", "nuc", 1, -1, 2, -2, inf and -inf',
    )  # fmt: skip
