"""Factors, solutions, determinants and norms, and how all of `xt.linalg` reads its arguments.

`dims=(row, col)` names the dims of a matrix. Python ints and integer arrays become f8, as in NumPy. 16-bit floats
are computed in f4. No function raises because of values: a matrix without the requested factor gives NaN or
infinities for its own instance. `inner=` names new inner dims.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base.dims import check_name
from ..base.dtypes import real_of
from ..base.errors import ArgumentError, DimensionError, DTypeError, SizeError
from ..call.dispatch import op
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
    union_sizes,
)  # fmt: skip
from ..ops.contraction import contract
from ..ops.reductions import _norm, _wide, any_empty
from ..ops.types import Array, ArrayLike
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from ..transforms.custom import custom_derivative

Pair = tuple[str, str]
MATRIX: Pair = ("row", "col")


# -- arguments --------------------------------------------------------------------------------------------------------


def matrix_dims(name: str, x: Tracer, dims: Any) -> Pair:
    """(row, col): two different dims of `x`."""
    if isinstance(dims, str) or not isinstance(dims, (tuple, list)) or len(dims) != 2:
        raise fail(
            DimensionError, f"linalg.{name}", f"dims are the matrix's row and column dim, not {dims!r}", x,
            instead='Write dims=("row", "col")',
        )  # fmt: skip
    if dims == MATRIX and len(x.dims) > 1 and not {*MATRIX} <= {*x.dims}:
        raise fail(
            DimensionError, f"linalg.{name}", f"there are no dims {MATRIX}, and dims= does not say which two are the "
            "matrix", x, instead=f"Write dims={x.dims[-2:]}",
        )  # fmt: skip
    row, col = dims_of(f"linalg.{name}", x, dims)
    return row, col


def check_square(name: str, x: Tracer, dims: Pair) -> None:
    sizes = [x.sizes[d] if is_static(x, d) else None for d in dims]
    if sizes[0] != sizes[1]:
        raise fail(
            SizeError, f"linalg.{name}", f"the matrix must be square: dims {dims} have sizes "
            f"{x.sizes[dims[0]]} and {x.sizes[dims[1]]}", x,
            instead="Use lstsq, pinv, qr or svd for matrices that are not",
        )  # fmt: skip


def square_at_calls(x: Tracer, dims: Pair) -> None:
    """Where no factor sees to it: one name for both sizes, which only a call knows (compiler/Sizes.cpp)."""
    if is_static(x, dims[0]) or is_static(x, dims[1]):
        return
    for dim in dims:
        build.rename(x, {dim: f"~square~ {dims[0]}~ {dims[1]}"})


def _float_dtype(x: Tracer) -> np.dtype:
    if p.is_complex(x.dtype):
        raise DTypeError(build.REAL_MATRICES)
    return p.mean_dtype(x.dtype)


def as_matrix(name: str, a: Any, dims: Any, square: bool = False) -> tuple[Tracer, Pair, np.dtype]:
    """The matrix in f4 or f8, its two dims, and the dtype that results have."""
    x = as_tracer(a)
    pair = matrix_dims(name, x, dims)
    if square:
        check_square(name, x, pair)
    needs_lapack(f"linalg.{name}")
    dtype = _float_dtype(x)
    return p.cast(x, p.accumulator(dtype)), pair, dtype


def system(name: str, a: Any, b: Any, dims: Any) -> tuple[Tracer, Tracer, Pair, np.dtype]:
    """Matrix and right-hand side in one dtype; the right-hand side has the row dim and not the column dim."""
    x, y = as_tracer(a), as_tracer(b)
    row, col = pair = matrix_dims(name, x, dims)
    if row not in y.dims or col in y.dims:
        wrong = f"lacks dim {row!r}" if row not in y.dims else f"has dim {col!r}, which is the result's"
        renamed = (col, row) if col in y.dims and row not in y.dims else (y.dims[0], row) if len(y.dims) == 1 else None
        raise fail(
            DimensionError, f"linalg.{name}", f"the right-hand side {wrong}: its {row!r} runs along the rows of the "
            f"matrix, and the result has {col!r} in its place", x, y,
            instead=f"Write b.rename({{{renamed[0]!r}: {renamed[1]!r}}})" if renamed else "Rename its dims",
        )  # fmt: skip
    union_sizes(f"linalg.{name}", (x, y))
    needs_lapack(f"linalg.{name}")
    dtype = p.result_type(_float_dtype(x), _float_dtype(y))
    p.check_width((x, y), dtype)
    wide = p.accumulator(dtype)
    return p.cast(x, wide), p.cast(y, wide), pair, dtype


def new_inner(name: str, x: Tracer, inner: Any) -> str:
    if not isinstance(inner, str):
        raise fail(ArgumentError, f"linalg.{name}", f"inner is the name of one new dim, not {inner!r}", x)
    check_name(inner)
    if inner in x.dims:
        raise fail(
            DimensionError, f"linalg.{name}", f"the new inner dim {inner!r} is a dim of the matrix already", x,
            instead='Name it otherwise: inner="component"',
        )  # fmt: skip
    return inner


def _least(x: Tracer, dims: Pair) -> int | None:
    """The smaller of both sizes, where they are known."""
    if not all(is_static(x, d) for d in dims):
        return None
    return min(int(x.sizes[d]) for d in dims)


def _head(x: Tracer, dim: str, size: int | None) -> Tracer:
    if size is None or not is_static(x, dim) or x.sizes[dim] == size:
        return x
    return build.slice(x, {dim: (0, size, 1)})


def _first(x: Tracer, dim: str, size: int | Tracer | None, name: str) -> Tracer:
    """The first `size` elements along `dim` under another name; all of them if it is None."""
    if not isinstance(size, Tracer):
        return build.rename(_head(x, dim, size), {dim: name})
    found = build.gather("clip", x, {dim: build.iota(name, size)})
    return reorder(found, tuple(name if d == dim else d for d in x.dims))


def compared_positions(predicate: str, x: Tracer, row: str, col: str) -> Tracer:
    """How the positions along two dims of `x` compare."""
    at = [build.iota(d, size_of(x, d)) for d in (row, col)]
    return build.compare(predicate, *at)


def replaced(x: Tracer, *names: tuple[str, str]) -> tuple[str, ...]:
    """The dims of `x` with some under other names."""
    new = dict(names)
    return tuple(new.get(d, d) for d in x.dims)


# -- factors ----------------------------------------------------------------------------------------------------------


@op
def cholesky(a: ArrayLike, /, dims: Pair = MATRIX) -> Array:
    """Returns the lower triangular L with A = L L^T, with the dims of `a`.

    `dims` names the row and the column dim; all other dims are batches. It factors the symmetric part (A + A^T) /
    2, as JAX does, so gradients are symmetric. The result is NaN if A is not positive definite.
    """
    x, pair, dtype = as_matrix("cholesky", a, dims, square=True)
    return p.cast(build.factor("cholesky", x, pair)[0], dtype)


@op
def qr(a: ArrayLike, /, dims: Pair = MATRIX, inner: str = "rank", mode: str = "reduced") -> tuple[Array, Array]:
    """Returns q, r with A = Q R.

    `dims` names the row and the column dim; all other dims are batches. q has `inner` in place of col, r has
    `inner` in place of row. The size of `inner` is the smaller of both sizes. With mode="complete" it is the number
    of rows: q is square and orthogonal, and the rows of r that come on top are 0.
    """
    x, pair, dtype = as_matrix("qr", a, dims)
    if mode not in ("reduced", "complete"):
        raise fail(ArgumentError, "linalg.qr", f"mode is 'reduced' or 'complete', not {mode!r}", x)
    q, r = build.factor("qr", x, pair, new_inner("qr", x, inner))
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
        identity = extend(_identity(q, row, inner), {d: size_of(q, d) for d in q.dims if d != inner}, q.dims)
        both = build.concat([q, identity], inner)
        basis = build.factor("qr", both, (row, inner), other)[0]
        return reorder(build.rename(build.slice(basis, {other: (k, n - k, 1)}), {other: inner}), q.dims)

    def pushforward(primals: tuple[Tracer], tangents: tuple[Tracer]) -> tuple[Tracer, Tracer]:
        # Of the ways in which the rest can turn, the one that does not turn it in itself: dR = -Q dQ^T R.
        (q,), (t,) = primals, tangents
        rest = found(q)
        inside = fresh(q.dims, "inside")
        t, q = (build.rename(v, {inner: inside}) for v in (t, q))
        along = contract([t, rest], (row,), (*[d for d in t.dims if d != row], inner))
        return rest, build.unary("neg", contract([q, along], (inside,), rest.dims))

    found = custom_derivative(value)
    found.defpushforward(pushforward)
    return build.concat([q, found(q)], inner)


@op
def eigh(a: ArrayLike, /, dims: Pair = MATRIX, inner: str = "rank") -> tuple[Array, Array]:
    """Returns w, v: the eigenvalues of a symmetric matrix, in ascending order, and its eigenvectors.

    `dims` names the row and the column dim; all other dims are batches. w has `inner`, v has row and `inner`. It
    decomposes the symmetric part (A + A^T) / 2. Eigenvectors of equal eigenvalues do not have a derivative.
    """
    x, pair, dtype = as_matrix("eigh", a, dims, square=True)
    w, v = build.factor("eigh", x, pair, new_inner("eigh", x, inner))
    return p.cast(w, dtype), p.cast(v, dtype)


@op
def svd(
    a: ArrayLike, /, dims: Pair = MATRIX, inner: str = "rank", full_matrices: bool = False
) -> tuple[Array, Array, Array]:
    """Returns u, s, vh with A = U diag(s) Vh, with s in descending order.

    `dims` names the row and the column dim; all other dims are batches. u has row and `inner`, s has `inner`, vh
    has `inner` and col. With `full_matrices=True` u and vh are square: u has row and row', vh has col' and col.
    """
    x, pair, dtype = as_matrix("svd", a, dims)
    u, s, vh = build.factor("svd", x, pair, new_inner("svd", x, inner))
    if full_matrices:
        row, col = pair
        for d in pair:
            static_size("linalg.svd", x, d)
        names = (new_inner("svd", x, f"{row}'"), new_inner("svd", x, f"{col}'"))
        u = build.rename(completed(u, (row, inner)), {inner: names[0]})
        vh = build.rename(completed(vh, (col, inner)), {inner: names[1]})
    return p.cast(u, dtype), p.cast(s, dtype), p.cast(vh, dtype)


@op
def lu(a: ArrayLike, /, dims: Pair = MATRIX, inner: str = "rank") -> tuple[Array, Array, Array]:
    """Returns p, l, u with A = P L U, computed with partial pivoting: xt.dot(p, l, u) is A.

    `dims` names the row and the column dim; all other dims are batches. p has row and row', l has row' and `inner`,
    u has `inner` and col. If both sizes are dynamic, the matrix must be square.
    """
    x, (row, col), dtype = as_matrix("lu", a, dims)
    inner = new_inner("lu", x, inner)
    moved = f"{row}'"
    if moved in (*x.dims, inner):
        raise fail(DimensionError, "linalg.lu", f"the permuted rows are named {moved!r}, which is a dim already", x)
    square_at_calls(x, (row, col))
    packed, order, _, _ = build.factor("lu", x, (row, col))
    least: int | Tracer | None = _least(x, (row, col))
    if least is None and (is_static(x, row) or is_static(x, col)):
        least = build.binary("minimum", build.size(x, row), build.size(x, col))
    zero, one = p.zero(x.dtype), p.constant(1, x.dtype)
    at = build.compare("eq", build.rename(order, {row: moved}), build.iota(row, size_of(x, row)))
    permutation = reorder(p.cast(at, dtype), replaced(x, (col, moved)))
    lower = build.rename(_first(packed, col, least, inner), {row: moved})
    dims_of_lower = lower.dims
    lower = build.select(compared_positions("gt", lower, moved, inner), lower, zero)
    lower = build.select(compared_positions("eq", lower, moved, inner), one, lower)
    upper = _first(packed, row, least, inner)
    dims_of_upper = upper.dims
    upper = build.select(compared_positions("le", upper, inner, col), upper, zero)
    return permutation, p.cast(reorder(lower, dims_of_lower), dtype), p.cast(reorder(upper, dims_of_upper), dtype)


# -- solutions --------------------------------------------------------------------------------------------------------


@op(joins=True)
def solve(a: ArrayLike, b: ArrayLike, /, dims: Pair = MATRIX) -> Array:
    """Returns the x with A x = b, for a square matrix.

    `dims` names the row and the column dim; all other dims are batches. `b` has the row dim, and x has the col dim
    in its place. The result has the batch dims of `a`, then those of `b`. A singular A gives infinities or NaN.
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
    and choose the other triangle: triangular_solve(l, y, dims=("col", "row"), lower=False).
    """
    x, y, pair, dtype = system("triangular_solve", a, b, dims)
    check_square("triangular_solve", x, pair)
    return p.cast(build.triangular_solve(x, y, pair, upper=not lower, unit=unit), dtype)


@op
def inv(a: ArrayLike, /, dims: Pair = MATRIX) -> Array:
    """Returns the inverse, whose row and col dims are in each other's place.

    `dims` names the row and the column dim; all other dims are batches. The inverse maps an array with the row dim
    to one with the col dim. A singular matrix gives infinities or NaN.
    """
    x, pair, dtype = as_matrix("inv", a, dims, square=True)
    return p.cast(inverse(x, pair), dtype)


def inverse(x: Tracer, pair: Pair) -> Tracer:
    row, col = pair
    right = fresh(x.dims, row)
    found = build.rename(build.solve(x, _identity(x, row, right), pair), {right: row})
    return reorder(found, replaced(x, (row, col), (col, row)))


def _transposed_inverse(x: Tracer, pair: Pair) -> Tracer:
    """The inverse's transpose, which has the dims of `x`."""
    right = fresh(x.dims, pair[1])
    found = build.solve(x, _identity(x, pair[1], right), pair, transposed=True)
    return reorder(build.rename(found, {right: pair[1]}), x.dims)


def _identity(x: Tracer, dim: str, other: str) -> Tracer:
    """As long as `dim` of `x`, either way."""
    size = size_of(x, dim)
    return build.cast(build.compare("eq", build.iota(dim, size), build.iota(other, size)), x.dtype)


@op
def pinv(a: ArrayLike, /, dims: Pair = MATRIX, *, rtol: float | None = None) -> Array:
    """Returns the Moore-Penrose inverse, whose row and col dims are in each other's place.

    Singular values up to `rtol`, by default eps * max(rows, columns), times the largest count as 0. Derivatives
    hold where the rank does not change (Golub and Pereyra 1973).
    """
    x, pair, dtype = as_matrix("pinv", a, dims)
    if rtol is None:
        return p.cast(build.factor("pinv", x, pair)[0], dtype)
    return p.cast(_pinv_above(x, pair, float(number("linalg.pinv", rtol, "rtol"))), dtype)


def _pinv_above(x: Tracer, pair: Pair, rtol: float) -> Tracer:
    """The inverse that leaves out what is small. Its derivative is Golub and Pereyra's (1973), with no division by
    differences of singular values."""
    row, col = pair

    def value(x: Tracer) -> Tracer:
        rank = fresh(x.dims, "rank")
        u, s, vh = build.factor("svd", x, pair, rank)
        least = build.binary("mul", build.reduce("max", s, (rank,)), p.constant(rtol, s.dtype))
        large = build.compare("gt", s, least)
        inverses = build.binary("div", p.constant(1, s.dtype), build.select(large, s, p.constant(1, s.dtype)))
        inverses = build.select(large, inverses, p.zero(s.dtype))
        return contract([build.binary("mul", vh, inverses), u], (rank,), replaced(x, (row, col), (col, row)))

    def pushforward(primals: tuple[Tracer], tangents: tuple[Tracer]) -> tuple[Tracer, Tracer]:
        # dY = -Y dX Y + Y Y^T dX^T (1 - X Y) + (1 - Y X) dX^T Y^T Y
        (x,), (t,) = primals, tangents
        y = pseudo(x)
        i, j, k = (f"{n}~side" for n in "ijk")
        order = y.dims

        def named(m: Tracer, r: str, c: str) -> Tracer:
            return build.rename(m, {row: r, col: c})

        first = contract([named(y, i, col), named(t, i, j), named(y, row, j)], (i, j), order)
        second = contract([named(y, i, col), named(y, i, j), named(t, row, j)], (i, j), order)
        back = contract([named(second, k, col), named(x, k, i), named(y, row, i)], (k, i), order)
        third = contract([named(t, i, col), named(y, i, j), named(y, row, j)], (i, j), order)
        forth = contract([named(y, i, col), named(x, i, j), named(third, row, j)], (i, j), order)
        turned = build.binary("add", build.binary("sub", second, back), build.binary("sub", third, forth))
        return y, build.binary("sub", turned, first)

    pseudo = custom_derivative(value)
    pseudo.defpushforward(pushforward)
    found: Tracer = pseudo(x)
    return found


@op(joins=True)
def lstsq(a: ArrayLike, b: ArrayLike, /, dims: Pair = MATRIX) -> Array:
    """Returns the x of least norm that minimises |A x - b|: `b` has the row dim, x has the col dim in its place.

    The result has the batch dims of `a`, then those of `b`.
    """
    x, y, (row, col), dtype = system("lstsq", a, b, dims)
    inverse = build.factor("pinv", x, (row, col))[0]
    batch = [d for d in x.dims if d not in (row, col)]
    order = dict.fromkeys([*batch, *replaced(y, (row, col))])
    return p.cast(contract([inverse, y], (row,), tuple(order)), dtype)


@op
def det(a: ArrayLike, /, dims: Pair = MATRIX) -> Array:
    """Returns the determinant, with the batch dims of `a`. Its gradient is exact if at most one rank is missing."""
    x, (row, col), dtype = as_matrix("det", a, dims, square=True)
    x, swaps = _last_pivot_least(x, row, col)
    packed, _, _, parity = build.factor("lu", x, (row, col))
    parity = build.binary("mul", parity, swaps)
    product = build.reduce("prod", _diagonal(packed, row, col), (row,))
    return p.cast(reorder(build.binary("mul", parity, product), parity.dims), dtype)


@op
def slogdet(a: ArrayLike, /, dims: Pair = MATRIX) -> tuple[Array, Array]:
    """Returns the sign and the logarithm of the absolute value of the determinant, with the batch dims of `a`.

    A singular matrix gives 0 and -inf.
    """
    x, (row, col), dtype = as_matrix("slogdet", a, dims, square=True)
    packed, _, _, parity = build.factor("lu", x, (row, col))
    pivots = _diagonal(packed, row, col)
    sign = build.binary("mul", parity, build.reduce("prod", build.unary("sign", pivots), (row,)))
    return p.cast(build.stop_gradient(sign), dtype), p.cast(log_of_det(x, (row, col)), dtype)


def log_of_det(x: Tracer, pair: Pair) -> Tracer:
    """log |det x|. d log |det A| = tr(A^-1 dA): cheaper than the derivative of all factors, which it shares."""

    def value(x: Tracer) -> Tracer:
        pivots = _diagonal(build.factor("lu", x, pair)[0], *pair)
        return build.reduce("sum", build.unary("log", build.unary("abs", pivots)), (pair[0],))

    def pushforward(primals: tuple[Tracer], tangents: tuple[Tracer]) -> tuple[Tracer, Tracer]:
        (x,), (t,) = primals, tangents
        return value(x), contract([_transposed_inverse(x, pair), t], pair, x.dims)

    logs = custom_derivative(value)
    logs.defpushforward(pushforward)
    found: Tracer = logs(x)
    return found


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
    scale = _diagonal(build.broadcast(largest, x.dims, x.sizes), row, col)
    scale = build.select(build.compare("eq", scale, p.zero(x.dtype)), build.constant(1, (), x.dtype), scale)
    pivots = build.unary("abs", _diagonal(build.factor("lu", fixed, (row, col))[0], row, col))
    least = build.reduce("argmin", build.binary("div", pivots, scale), (row,))
    at, one = build.iota(col, size), build.constant(1)
    last = build.binary("sub", build.as_size(size), one)
    order = build.select(build.compare("lt", at, least), at, build.binary("add", at, one))
    order = build.select(build.compare("eq", at, last), least, order)
    steps = build.binary("maximum", build.binary("sub", last, least), build.constant(0))  # of no columns none
    odd = build.binary("mod", steps, build.constant(2))
    sign = build.binary("sub", build.constant(1), build.binary("mul", build.constant(2), odd))
    return build.gather("clip", x, {col: order}), build.cast(sign, x.dtype)


# -- from the elements ------------------------------------------------------------------------------------------------


def _diagonal(x: Tracer, row: str, col: str, mode: str = "clip") -> Tracer:
    """The diagonal, under the name of the row dim. `mode`: what a row without an element on it does, where only the
    call knows the sizes."""
    least = _least(x, (row, col))
    x = _head(_head(x, row, least), col, least)
    kept = tuple(d for d in x.dims if d != col)
    # By position: what lies beside the diagonal is not read.
    at = build.iota(row, size_of(x, row))
    if least == 0:
        return reorder(build.squeeze(build.pad(x, p.zero(x.dtype), {col: (1, 0, 0)}), (col,)), kept)
    return reorder(build.gather("clip" if least is not None else mode, x, {row: at, col: at}), kept)


@op
def diagonal(a: ArrayLike, /, dims: Pair = MATRIX, inner: str | None = None, offset: int = 0) -> Array:
    """Returns the elements at equal positions, along row (or `inner`), with the dims of `a` without col.

    With `offset`, the column is that much further than the row, and both sizes must be known while tracing.
    It takes any dtype and any two dims. If a size is dynamic, a row below the last column raises IndexError.
    """
    x = as_tracer(a)
    row, col = matrix_dims("diagonal", x, dims)
    shift = integer("linalg.diagonal", offset, "offset")
    if shift:
        rows, columns = (static_size("linalg.diagonal", x, d) for d in (row, col))
        first = (min(max(-shift, 0), rows), min(max(shift, 0), columns))
        n = max(min(rows - first[0], columns - first[1]), 0)
        x = build.slice(x, {row: (first[0], n, 1), col: (first[1], n, 1)})
    found = _diagonal(x, row, col, mode="raise")
    return found if inner is None else build.rename(found, {row: new_inner("diagonal", x, inner)})


@op
def trace(a: ArrayLike, /, dims: Pair = MATRIX) -> Array:
    """Returns the sum of the diagonal, with the batch dims of `a`. Integers widen to 64 bits."""
    x = as_tracer(a)
    row, col = matrix_dims("trace", x, dims)
    if any_empty(x, (row, col)):
        return build.reduce("sum", p.cast(x, p.sum_dtype(x.dtype)), (row, col))
    found = p.cast(_diagonal(x, row, col), p.accumulator(p.sum_dtype(x.dtype)))
    if _least(x, (row, col)) is None:
        columns = p.cast(size_of(x, col), p.I8)
        inside = build.compare("lt", build.iota(row, size_of(x, row)), columns)
        found = build.select(inside, found, p.zero(found.dtype))
    return p.cast(build.reduce("sum", found, (row,)), p.sum_dtype(x.dtype))


@op
def norm(x: ArrayLike, /, ord: Any = None, dims: Any = MATRIX) -> Array:
    """Returns the matrix norm over dims=(row, col), or the vector norm over one dim, dims="i".

    Values of `ord` for a matrix norm: "fro", which is the default (None); "nuc", the sum of the singular values; 2 and
    -2, the largest and the smallest singular value; 1 and -1, the largest and the smallest sum of absolute values of a
    column; inf and -inf, the same of a row. An array with one dim has a vector norm.
    """
    a = as_tracer(x)
    dtype = real_of(p.mean_dtype(a.dtype))
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
        s = build.factor("svd", wide, (row, col), fresh(a.dims, "rank"))[1]
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


@op
def matrix_power(a: ArrayLike, n: int, /, dims: Pair = MATRIX) -> Array:
    """Returns A to the integer power `n`, with the dims of `a`.

    The row and the col dim stand for the same space. Negative powers are those of the inverse.
    """
    x = as_tracer(a)
    row, col = pair = matrix_dims("matrix_power", x, dims)
    check_square("matrix_power", x, pair)
    square_at_calls(x, pair)
    power = integer("linalg.matrix_power", n, "the power")
    if x.dtype == p.BOOL:
        x = p.cast(x, p.I8)
    dtype = x.dtype
    if power < 0:
        x, pair, dtype = as_matrix("matrix_power", a, dims, square=True)
        x = build.rename(inverse(x, pair), {row: col, col: row})
        x, power = reorder(x, as_tracer(a).dims), -power
    if power == 0:
        same = build.cast(compared_positions("eq", x, row, col), dtype)
        return extend(same, {d: size_of(x, d) for d in x.dims}, x.dims)
    between = fresh(x.dims, col)

    def times(left: Tracer, right: Tracer) -> Tracer:
        pieces = [build.rename(left, {col: between}), build.rename(right, {row: between})]
        return build.contract(pieces, (between,), x.dims)

    result: Tracer | None = None
    square = x
    while True:
        if power & 1:
            result = square if result is None else times(result, square)
        power >>= 1
        if not power:
            assert result is not None
            return p.cast(result, dtype)
        square = times(square, square)
