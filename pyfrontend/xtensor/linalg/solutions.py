"""Solutions of linear systems, by matrices, their factors or their inverses.

No function raises because of values: a singular matrix gives NaN or infinities for its own instance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..base.errors import ArgumentTypeError, DimensionError
from ..call.dispatch import op
from ..ops import promotion as p
from ..ops.arguments import fail, forbid_pairs, fresh, is_static, number, reorder, size_of
from ..ops.contraction import contract
from ..ops.types import Array, ArrayLike
from ..trace import build
from ..trace.tracer import Tracer
from ..transforms.custom import custom_derivative
from .arguments import MATRIX, Pair, as_matrix, identity, replaced, system
from .complex_factors import factor


@op(joins=True)
def solve(a: ArrayLike, b: ArrayLike, /, dims: Pair = MATRIX) -> Array:
    """Returns the x with A x = b, for a square matrix.

    `dims` names the row and the column dim; all other dims are batches. `b` has the row dim, and x has the col dim in
    its place. The result has the batch dims of `a`, then those of `b`. A singular A gives infinities or NaN.

    Raises:
        DimensionError: `a` does not have the dims `dims`, or `b` the row dim.
        SizeError: the matrix is not square, or a dim has two sizes.

    Example:
    >>> a = xt.array([[2.0, 0.0], [0.0, 4.0]], ("row", "col"))
    >>> xt.linalg.solve(a, xt.array([2.0, 8.0], "row"))
    <xtensor.Array (col: 2) float64>
    [1. 2.]
    """
    x, y, pair, dtype = system("solve", a, b, dims, square=True)
    return p.cast(build.solve(x, y, pair), dtype)


@op(joins=True)
def triangular_solve(
    a: ArrayLike, b: ArrayLike, /, dims: Pair = MATRIX, lower: bool = True, unit: bool = False
) -> Array:
    """Returns the x with A x = b, for a triangular matrix, whose other triangle is not read.

    Dims are as for `solve`. With `unit=True`, the diagonal counts as ones. For the transposed system, swap the dims and
    choose the other triangle: triangular_solve(l, y, dims=("col", "row"), lower=False).

    Raises:
        DimensionError: `a` does not have the dims `dims`, or `b` the row dim.
        SizeError: the matrix is not square, or a dim has two sizes.

    Example:
    >>> l = xt.array([[2.0, 0.0], [1.0, 4.0]], ("row", "col"))
    >>> xt.linalg.triangular_solve(l, xt.array([2.0, 9.0], "row"))
    <xtensor.Array (col: 2) float64>
    [1. 2.]
    """
    x, y, pair, dtype = system("triangular_solve", a, b, dims, square=True)
    return p.cast(build.triangular_solve(x, y, pair, upper=not lower, unit=unit), dtype)


@op
def inv(a: ArrayLike, /, dims: Pair = MATRIX) -> Array:
    """Returns the inverse, whose row and col dims are in each other's place.

    `dims` names the row and the column dim; all other dims are batches. The inverse maps an array with the row dim to
    one with the col dim. A singular matrix gives infinities or NaN.

    Raises:
        DimensionError: `a` does not have the dims `dims`.
        SizeError: the matrix is not square.

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

    Raises:
        DimensionError: `a` does not have the dims `dims`.

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

    Raises:
        DimensionError: `a` does not have the dims `dims`, or `b` the row dim.
        SizeError: a dim has two sizes.

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


@op(joins=True)
def cho_solve(l: ArrayLike, b: ArrayLike, /, dims: Pair = MATRIX) -> Array:  # noqa: E741
    """Returns the x with L L^H x = b, for the lower triangular L that `cholesky` gives.

    Dims are as for `solve`: `b` has the row dim, and x has the col dim in its place.

    Raises:
        DimensionError: `l` does not have the dims `dims`, or `b` the row dim.
        SizeError: the matrix is not square, or a dim has two sizes.

    Example:
    >>> l = xt.linalg.cholesky(xt.array([[4.0, 2.0], [2.0, 5.0]], ("row", "col")))
    >>> xt.linalg.cho_solve(l, xt.array([8.0, 8.0], "row"))
    <xtensor.Array (col: 2) float64>
    [1.5 1. ]
    """
    x, y, (row, col), dtype = system("cho_solve", l, b, dims, square=True)
    y = build.triangular_solve(x, y, (row, col), upper=False, unit=False)
    found = build.triangular_solve(build.conj(x), y, (col, row), upper=True, unit=False)
    return p.cast(build.rename(found, {row: col}), dtype)


@op(joins=True)
def lu_solve(factors: Sequence[ArrayLike], b: ArrayLike, /, dims: Pair = MATRIX) -> Array:
    """Returns the x with A x = b from the factors p, l, u that `lu` gives for A.

    Dims are as for `solve`: `b` has the row dim, and x has the col dim in its place.

    Raises:
        DimensionError: `factors` are not those of a matrix with the dims `dims`, or `b` lacks the row dim.
        SizeError: a dim has two sizes.

    Example:
    >>> factors = xt.linalg.lu(xt.array([[2.0, 0.0], [0.0, 4.0]], ("row", "col")))
    >>> xt.linalg.lu_solve(factors, xt.array([2.0, 8.0], "row"))
    <xtensor.Array (col: 2) float64>
    [1. 2.]
    """
    if not isinstance(factors, (tuple, list)) or len(factors) != 3:
        raise fail(ArgumentTypeError, "linalg.lu_solve", "factors are the tuple that xt.linalg.lu gives: p, l, u")
    if isinstance(dims, str) or not isinstance(dims, (tuple, list)) or len(dims) != 2:
        raise fail(DimensionError, "linalg.lu_solve", f"dims are the matrix's row and column dim, not {dims!r}", b)
    row, col = dims
    order, lower, upper, y = p.promote_float(*factors, b)
    dtype = y.dtype
    order, lower, upper, y = (p.cast(v, p.accumulator(dtype)) for v in (order, lower, upper, y))
    moved = next((d for d in order.dims if d == f"{row}'"), None)
    inner = [d for d in lower.dims if d in upper.dims and d not in order.dims and d not in y.dims]
    if row not in order.dims or moved is None or moved not in lower.dims or col not in upper.dims or not inner:
        raise fail(DimensionError, "linalg.lu_solve", f"these are not the factors of a matrix with dims {dims}",
                   order, lower, upper)  # fmt: skip
    if row not in y.dims or col in y.dims:
        raise fail(DimensionError, "linalg.lu_solve", f"the right-hand side has dim {row!r} and not {col!r}", y)
    forbid_pairs("linalg.lu_solve", (order, y), besides=(row, moved))
    along = (*(d for d in order.dims if d not in (row, moved)), *(moved if d == row else d for d in y.dims))
    y = contract([order, y], (row,), tuple(dict.fromkeys(along)))
    y = build.triangular_solve(lower, y, (moved, inner[-1]), upper=False, unit=True)
    return p.cast(build.triangular_solve(upper, y, (inner[-1], col), upper=True, unit=False), dtype)
