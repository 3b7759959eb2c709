"""What a matrix is reduced to: its determinant, trace and norm, and its diagonal.

No function raises because of values.
"""

from __future__ import annotations

import math
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from ..base.calls import in_words
from ..base.errors import ArgumentError, ArgumentTypeError
from ..call.dispatch import op
from ..ops import promotion as p
from ..ops.arguments import (
    dims_of,
    fail,
    fresh,
    integer,
    is_static,
    needs_lapack,
    not_static,
    reorder,
    size_of,
    static_size,
)
from ..ops.reductions import _norm, _wide, any_empty
from ..ops.types import Array, ArrayLike
from ..trace import build
from ..trace.control import cond
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from ..transforms.custom import custom_derivative
from ..transforms.jvp import jvp
from .arguments import MATRIX, Pair, as_matrix, diagonal_of, least_size, matrix_dims, new_inner
from .complex_factors import factor, pivots, product_of, sign_and_log

# A pivot, beside the largest element of its column, that the derivative should not divide by.
_SMALL_PIVOT = 2.0**-8


@op
def det(a: ArrayLike, /, dims: Pair = MATRIX) -> Array:
    """Returns the determinant, with the batch dims of `a`. Its gradient is exact if at most one rank is missing.

    Raises:
        DimensionError: `a` does not have the dims `dims`.
        SizeError: the matrix is not square.

    Example:
    >>> xt.linalg.det(xt.array([[4.0, 2.0], [2.0, 5.0]], ("row", "col")))
    <xtensor.Array () float64 16.>
    """
    x, (row, col), dtype = as_matrix("det", a, dims, square=True)
    if is_static(x, col) and 0 < int(x.sizes[col]) <= 4:
        return p.cast(_expanded(x, row, col), dtype)
    return p.cast(_factored(x, row, col), dtype)


def _factored(x: Tracer, row: str, col: str) -> Tracer:
    """The determinant by LU factors. For its derivative, matrices with a small pivot are factored again."""

    def value(x: Tracer) -> Tracer:
        return product(*pivots(x, (row, col)))

    def product(diagonal: Tracer, *signs: Tracer) -> Tracer:
        found = product_of(diagonal, row)
        for sign in signs:
            found = build.binary("mul", sign, found)
        return reorder(found, signs[0].dims)

    def differentiable(x: Tracer) -> Tracer:
        if is_static(x, col) and int(x.sizes[col]) < 2:
            return value(x)
        order, sign, is_moved = _last_pivot_least(build.stop_gradient(x), row, col)
        sign = p.cast(sign, x.dtype)
        if p.is_complex(x.dtype):
            diagonal, parity = pivots(build.gather("clip", x, {col: order}), (row, col))
            return product(diagonal, parity, sign)
        packed, parity = _factored_again(x, order, is_moved, row, col)
        return product(diagonal_of(packed, row, col), parity, sign)

    found = custom_derivative(value)
    found.defpushforward(partial(jvp, differentiable))
    determinant: Tracer = found(x)
    return determinant


def _factored_again(x: Tracer, order: Tracer, is_moved: Tracer, row: str, col: str) -> tuple[Tracer, Tracer]:
    """The LU factors of `x` with its columns in this order, and the sign of the order of the rows. If no column is
    moved, these are the factors of `x`, which the program has already."""

    def value(x: Tracer) -> tuple[Tracer, ...]:
        def again() -> tuple[Tracer, ...]:
            packed, rows, _, parity = build.factor("lu", build.gather("clip", x, {col: order}), (row, col))
            return tuple(reorder(y, like.dims) for y, like in zip((packed, rows, parity), given, strict=True))

        packed, rows, _, parity = build.factor("lu", x, (row, col))
        given = (packed, rows, parity)
        factors: tuple[Tracer, ...] = cond(is_moved, again, lambda: given, ())
        return factors

    def pushforward(primals: tuple[Tracer], tangents: tuple[Tracer]) -> tuple[Any, Any]:
        # One rule after the choice: a branch of its own for each would hand on the factors of both.
        (x,), (t,) = primals, tangents
        packed, rows, parity = found(x)
        moved = reorder(build.gather("clip", build.gather("clip", t, {col: order}), {row: rows}), packed.dims)
        return (packed, rows, parity), (build.lu_tangent(packed, moved, (row, col)), None, None)

    found = custom_derivative(value)
    found.defpushforward(pushforward)
    packed, _, parity = found(x)
    return packed, parity


@op
def slogdet(a: ArrayLike, /, dims: Pair = MATRIX) -> tuple[Array, Array]:
    """Returns the sign and the logarithm of the absolute value of the determinant, with the batch dims of `a`.

    A singular matrix gives 0 and -inf.

    Raises:
        DimensionError: `a` does not have the dims `dims`.
        SizeError: the matrix is not square.

    Example:
    >>> sign, logarithm = xt.linalg.slogdet(-1e200 * xt.eye(3))
    >>> sign.item(), round(logarithm.item(), 3)
    (-1.0, 1381.551)
    """
    x, (row, col), dtype = as_matrix("slogdet", a, dims, square=True)
    sign, logs = sign_and_log(x, (row, col))
    return p.cast(sign, dtype), p.cast(logs, p.real_of(dtype))


def _expanded(x: Tracer, row: str, col: str) -> Tracer:
    """The determinant of a matrix of at most 4 rows by its definition: a batch is one loop over vectors, where a
    factorization takes matrix by matrix. Its derivatives are exact for every rank."""
    n = int(x.sizes[col])

    def at(i: int, j: int) -> Tracer:
        return build.squeeze(build.slice(x, {row: (i, 1, 1), col: (j, 1, 1)}), (row, col))

    def minor(first: int, i: int, j: int) -> Tracer:
        """Of rows `first` and `first` + 1, and of columns i and j."""
        forward = build.binary("mul", at(first, i), at(first + 1, j))
        return build.binary("sub", forward, build.binary("mul", at(first, j), at(first + 1, i)))

    if n == 1:
        return at(0, 0)
    if n == 2:
        return minor(0, 0, 1)
    # By the minors of the last two rows: beside each is an element, or the minor of the first two rows.
    total = None
    for left in combinations(range(n), n - 2):
        right = [j for j in range(n) if j not in left]
        beside = at(0, *left) if n == 3 else minor(0, *left)
        term = build.binary("mul", beside, minor(n - 2, *right))
        kind = "sub" if sum(left) % 2 != sum(range(n - 2)) % 2 else "add"
        total = term if total is None else build.binary(kind, total, term)
    assert total is not None
    return total


def _last_pivot_least(x: Tracer, row: str, col: str) -> tuple[Tracer, Tracer, Tracer]:
    """The order of the columns of `x` with that of the least pivot at the end, if it is small, or that of the least
    elements; the sign that this order gives the determinant; and whether any matrix needs it.

    The derivative of lu divides by all pivots but the last. Where one rank is missing and the columns before the last
    are independent, no other pivot vanishes; they are once the first that depends on those before it is the last.
    Rounding lets the change of a column move the gradient by that column, by as much as the column is smaller than
    others; that of the last column does not.
    """
    size = size_of(x, col)
    largest = build.reduce("max", build.unary("abs", x), (row,))
    scale = diagonal_of(build.broadcast(largest, x.dims, x.sizes), row, col)
    scale = build.select(build.compare("eq", scale, p.zero(scale.dtype)), p.constant(1, scale.dtype), scale)
    sizes = build.binary("div", build.unary("abs", pivots(x, (row, col))[0]), scale)
    least = build.reduce("argmin", sizes, (row,))
    at, one = build.iota(col, size), build.constant(1)
    last = build.binary("sub", build.as_size(size), one)
    is_small = build.compare("lt", build.reduce("min", sizes, (row,)), p.constant(_SMALL_PIVOT, sizes.dtype))
    shortest, longest = (build.reduce(kind, scale, (row,)) for kind in ("min", "max"))
    bound = build.binary("mul", longest, p.constant(_SMALL_PIVOT, scale.dtype))
    otherwise = build.select(build.compare("lt", shortest, bound), build.reduce("argmin", scale, (row,)), last)
    least = build.select(is_small, least, otherwise)
    order = build.select(build.compare("lt", at, least), at, build.binary("add", at, one))
    order = build.select(build.compare("eq", at, last), least, order)
    steps = build.binary("maximum", build.binary("sub", last, least), build.constant(0))  # of no columns none
    odd = build.binary("mod", steps, build.constant(2))
    sign = build.binary("sub", build.constant(1), build.binary("mul", build.constant(2), odd))
    return order, sign, build.reduce("any", build.compare("gt", steps, build.constant(0)), steps.dims)


@op
def diagonal(a: ArrayLike, /, dims: Pair = MATRIX, inner: str | None = None, offset: int = 0) -> Array:
    """Returns the elements at equal positions, along row (or `inner`), with the dims of `a` without col.

    With `offset`, the column is that much further than the row, and both sizes must be known while tracing.
    It takes any dtype and any two dims. If a size is dynamic, a row below the last column raises IndexError.

    Raises:
        DimensionError: `a` does not have the dims `dims`, or has `inner` already.
        ArgumentError: `inner` is not a name.

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

    Raises:
        DimensionError: `a` does not have the dims `dims`.

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
    column; inf and -inf, the same of a row. An array with one dim has a vector norm.

    Raises:
        DimensionError: `x` does not have the dims `dims`.
        ArgumentError: `ord` is another one.

    Example:
    >>> xt.linalg.norm(xt.array([[3.0, 0.0], [0.0, 4.0]], ("row", "col"))).item()
    5.0
    """
    a = as_tracer(x)
    dtype = p.real_of(p.mean_dtype(a.dtype))
    wide = _wide(a)
    if isinstance(ord, Tracer):
        raise not_static("linalg.norm", ord, "ord", kind="a number, 'fro', 'nuc' or None", to="float")
    if ord is not None and not isinstance(ord, (int, float, str, np.number)):
        raise fail(ArgumentTypeError, "linalg.norm", f"ord is a number, 'fro', 'nuc' or None, not {in_words(ord)}", a)
    if isinstance(ord, str) and ord not in ("fro", "nuc") and ord in a.dims:
        raise fail(
            ArgumentError, "linalg.norm", f"ord={ord!r} is a dim, and the second argument is the order of the norm", a,
            instead=f"Write xt.linalg.norm(x, dims={ord!r})",
        )  # fmt: skip
    if isinstance(dims, str) or (dims is MATRIX and a.ndim == 1):
        dims = (dims,) if isinstance(dims, str) else a.dims
    if isinstance(dims, (tuple, list)) and len(dims) == 1:
        order = 2.0 if ord is None else ord
        if isinstance(order, str):
            raise fail(
                ArgumentError, "linalg.norm", f"there is no vector norm ord={ord!r}", a,
                instead="ord is a number: 2 is the default, and math.inf the largest absolute value",
            )  # fmt: skip
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
