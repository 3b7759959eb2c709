"""Solutions from factors that are there: cho_solve and lu_solve."""

from __future__ import annotations

from collections.abc import Sequence

from ..base.errors import ArgumentTypeError, DimensionError
from ..call.dispatch import op
from ..ops import promotion as p
from ..ops.arguments import fail
from ..ops.contraction import contract
from ..ops.types import Array, ArrayLike
from ..trace import build
from .arguments import MATRIX, Pair, check_square, system


@op(joins=True)
def cho_solve(l: ArrayLike, b: ArrayLike, /, dims: Pair = MATRIX) -> Array:  # noqa: E741
    """Returns the x with L L^H x = b, for the lower triangular L that `cholesky` gives.

    Dims are as for `solve`: `b` has the row dim, and x has the col dim in its place.

    Example:
    >>> l = xt.linalg.cholesky(xt.array([[4.0, 2.0], [2.0, 5.0]], ("row", "col")))
    >>> xt.linalg.cho_solve(l, xt.array([8.0, 8.0], "row"))
    <xtensor.Array (col: 2) float64>
    [1.5 1. ]
    """
    x, y, (row, col), dtype = system("cho_solve", l, b, dims)
    check_square("cho_solve", x, (row, col))
    y = build.triangular_solve(x, y, (row, col), upper=False, unit=False)
    found = build.triangular_solve(build.conj(x), y, (col, row), upper=True, unit=False)
    return p.cast(build.rename(found, {row: col}), dtype)


@op(joins=True)
def lu_solve(factors: Sequence[ArrayLike], b: ArrayLike, /, dims: Pair = MATRIX) -> Array:
    """Returns the x with A x = b from the factors p, l, u that `lu` gives for A.

    Dims are as for `solve`: `b` has the row dim, and x has the col dim in its place.

    Example:
    >>> factors = xt.linalg.lu(xt.array([[2.0, 0.0], [0.0, 4.0]], ("row", "col")))
    >>> xt.linalg.lu_solve(factors, xt.array([2.0, 8.0], "row"))
    <xtensor.Array (col: 2) float64>
    [1. 2.]
    """
    if not isinstance(factors, (tuple, list)) or len(factors) != 3:
        raise fail(ArgumentTypeError, "linalg.lu_solve", "factors are the tuple that xt.linalg.lu gives: p, l, u")
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
    along = (*(d for d in order.dims if d not in (row, moved)), *(moved if d == row else d for d in y.dims))
    y = contract([order, y], (row,), tuple(dict.fromkeys(along)))
    y = build.triangular_solve(lower, y, (moved, inner[-1]), upper=False, unit=True)
    return p.cast(build.triangular_solve(upper, y, (inner[-1], col), upper=True, unit=False), dtype)
