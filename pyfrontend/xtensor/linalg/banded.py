"""Systems whose matrix is 0 off a band along the diagonal, in time that grows with the size alone."""

from __future__ import annotations

from typing import Any

from ..base.errors import ArgumentTypeError, DimensionError, SizeError
from ..call.dispatch import op
from ..ops import promotion as p
from ..ops.arguments import (
    dim_of,
    dims_of,
    extend,
    fail,
    integer,
    is_static,
    paired_sizes,
    reorder,
    size_of,
    union_sizes,
)
from ..ops.moving import inside
from ..ops.types import Array, ArrayLike
from ..trace import build
from ..trace.tracer import Tracer
from ..transforms.control import scan


@op(joins=True)
def tridiagonal_solve(
    lower: ArrayLike, diagonal: ArrayLike, upper: ArrayLike, b: ArrayLike, /, dim: str | None = None
) -> Array:
    """Returns the x with A x = b, for the tridiagonal matrix with these diagonals.

    All four have `dim`, which may be left out if `diagonal` has one dim. Row i of A is lower[i], diagonal[i],
    upper[i] in the columns i - 1, i, i + 1; lower[0] and the last of `upper` are not read. x has `dim` as well. All
    other dims are batches, paired by name. Rows are exchanged where a pivot is small, as LAPACK does (gtsv).

    Raises:
        DimensionError: an array does not have `dim`.
        SizeError: a dim has two sizes.

    Example:
    >>> x = xt.array([1.0, 2.0, 3.0], "i")
    >>> xt.linalg.tridiagonal_solve(0.0 * x, x, 0.0 * x, 2.0 * x)
    <xtensor.Array (i: 3) float64>
    [2. 2. 2.]
    """
    *bands, y = p.promote_float(lower, diagonal, upper, b)
    dtype = y.dtype
    *bands, y = (p.cast(v, p.accumulator(dtype)) for v in (*bands, y))
    if dim is None and len(bands[1].dims) == 1:
        dim = bands[1].dims[0]
    for v in (*bands, y):
        dim_of("linalg.tridiagonal_solve", v, dim)
    assert dim is not None
    paired_sizes("linalg.tridiagonal_solve", (*bands, y))
    bands = [_moved(v, dim, 0, first=i == 0, last=i == 2) for i, v in enumerate(bands)]
    return p.cast(_solve(bands, y, 1, 1, dim), dtype)


@op(joins=True)
def solve_banded(
    l_and_u: tuple[int, int], ab: ArrayLike, b: ArrayLike, /, dims: tuple[str, str] = ("band", "col")
) -> Array:
    """Returns the x with A x = b, for a matrix with l diagonals below and u above the main one.

    `ab` has the diagonals along dims[0], the uppermost first, as in scipy.linalg.solve_banded: A[i, j] is
    ab[u + i - j, j], j along dims[1]. `b` and x have dims[1]. All other dims are batches, paired by name.

    Raises:
        DimensionError: `ab` or `b` lacks one of `dims`.
        SizeError: a dim has two sizes.

    Example:
    >>> ab = xt.array([[0.0, 1.0], [2.0, 2.0]], ("band", "col"))  # 1 above the diagonal, 2 on it
    >>> xt.linalg.solve_banded((0, 1), ab, xt.array([4.0, 2.0], "col"))
    <xtensor.Array (col: 2) float64>
    [1.5 1. ]
    """
    name = "linalg.solve_banded"
    if not isinstance(l_and_u, tuple) or len(l_and_u) != 2:
        raise fail(ArgumentTypeError, name, f"(l, u) are two numbers, not {l_and_u!r}")
    low, up = (integer(name, n, what, least=0) for n, what in zip(l_and_u, ("l", "u"), strict=True))
    x, y = p.promote_float(ab, b)
    dtype = y.dtype
    x, y = (p.cast(v, p.accumulator(dtype)) for v in (x, y))
    if isinstance(dims, str) or len(dims) != 2:
        raise fail(DimensionError, name, f"dims are those of the bands and of the columns, not {dims!r}", x)
    band, dim = dims_of(name, x, dims)
    dim_of(name, y, dim)
    if band in y.dims:
        raise fail(DimensionError, name, f"the right-hand side has the dim {band!r} of the diagonals", y)
    if x.sizes[band] != low + up + 1:
        raise fail(SizeError, name, f"l = {low} and u = {up} are {low + up + 1} diagonals, not {x.sizes[band]}", x)
    paired_sizes(name, (x, y), besides=(band,))
    rows = []
    for k in range(low + up + 1):
        diagonal = build.squeeze(build.slice(x, {band: (low + up - k, 1, 1)}), (band,))
        rows.append(_moved(diagonal, dim, k - low))
    return p.cast(_solve(rows, y, low, up, dim), dtype)


def _moved(x: Tracer, dim: str, by: int, first: bool = False, last: bool = False) -> Tracer:
    """Of each position the element `by` further along `dim`, 0 outside; the first or the last is 0, too."""
    size = p.cast(size_of(x, dim), p.I8)
    here = build.iota(dim, size_of(x, dim), p.I8)
    at = build.binary("add", here, p.constant(by, p.I8))
    there = inside(at, size)
    if first:
        there = build.compare("gt", here, p.zero(p.I8))
    if last:
        there = build.compare("lt", here, build.binary("sub", size, p.constant(1, p.I8)))
    y = reorder(build.gather("clip", x, {dim: at}), x.dims) if by else x
    return reorder(build.select(there, y, p.zero(x.dtype)), x.dims)


def _solve(rows: list[Tracer], b: Tracer, low: int, up: int, dim: str) -> Tracer:
    """Elimination with exchange of rows, down, and substitution, up. `rows`: of each row the elements of the band."""
    sizes = union_sizes("", (*rows, b))
    if is_static(b, dim) and b.sizes[dim] == 0:
        return extend(b, sizes, tuple(sizes))
    batch = {d: n for d, n in sizes.items() if d != dim and any(d in r.dims for r in rows)}
    whole = {d: n for d, n in sizes.items() if d != dim}
    width = low + up + 1
    rows = [extend(r, sizes, (dim, *batch)) for r in rows]
    b = extend(b, sizes, (dim, *whole))
    nothing = extend(p.zero(b.dtype), batch, tuple(batch))
    none = extend(p.zero(b.dtype), whole, tuple(whole))

    def row_at(i: int) -> Any:
        """Row i from its first column on that a column 0 starts, as the elimination of column 0 finds it."""
        at = p.constant(i, p.I8)
        inside_ = build.compare("lt", at, p.cast(size_of(b, dim), p.I8))
        found = [build.gather("clip", r, {dim: at}) for r in rows[low - i :]]
        found = [build.select(inside_, v, nothing) for v in found]
        rhs = build.select(inside_, build.gather("clip", b, {dim: at}), none)
        return [*found, *[nothing] * (low - i)], rhs

    def down(carry: list[Any], new: Any) -> Any:
        pivot, *others = [*carry, new]
        for i, other in enumerate(others):
            larger = build.compare("gt", build.unary("abs", other[0][0]), build.unary("abs", pivot[0][0]))
            others[i] = _either(larger, pivot, other)
            pivot = _either(larger, other, pivot)
        left = []
        for elements, rhs in others:
            factor = build.binary("div", elements[0], pivot[0][0])
            rest = [_less(e, factor, q) for e, q in zip(elements[1:], pivot[0][1:], strict=True)]
            left.append(([*rest, nothing], _less(rhs, factor, pivot[1])))
        return left, pivot

    entering = [_moved(r, dim, low) for r in rows], _moved(b, dim, low)
    _, (factors, rhs) = scan(down, [row_at(i) for i in range(low)], entering, dim=dim)

    def back(carry: list[Any], row: Any) -> Any:
        elements, y = row
        for e, x in zip(elements[1:], carry, strict=True):
            y = _less(y, e, x)
        y = reorder(build.binary("div", y, elements[0]), none.dims)
        return [y, *carry][: width - 1], y

    x = scan(back, [none] * (width - 1), (factors, rhs), dim=dim, reverse=True)[1]
    return reorder(x, tuple(sizes))


def _either(condition: Tracer, x: Any, y: Any) -> Any:
    pairs = zip(x[0], y[0], strict=True)
    chosen = [reorder(build.select(condition, a, b), a.dims) for a, b in pairs]
    return chosen, reorder(build.select(condition, x[1], y[1]), x[1].dims)


def _less(x: Tracer, factor: Tracer, y: Tracer) -> Tracer:
    return reorder(build.binary("sub", x, build.binary("mul", factor, y)), x.dims)
