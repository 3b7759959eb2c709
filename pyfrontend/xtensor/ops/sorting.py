"""Functions of order: sort, argsort, top_k, rank, median, quantile and searchsorted.

Sorting is stable. NaN comes last, ascending and descending. -0.0 equals 0.0. Derivatives go to the elements that
the stable order selects.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _native
from ..base.errors import ArgumentError, ArgumentTypeError, SizeError
from ..call.dispatch import op
from ..call.opened import Amount, apart, renamed, room
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from . import promotion as p
from .arguments import (
    dim_of,
    dims_of,
    extend,
    fail,
    integer,
    is_scalar,
    is_static,
    reorder,
    size_of,
    skips,
    static_size,
)
from .moving import elsewhere, places
from .operators import compared
from .reductions import count, no_empty
from .types import Array, ArrayLike, Dims

# A dynamic dim is searched as if it had at most 2**40 elements.
DYNAMIC_BITS = 40


def _only_dim(name: str, x: Tracer, dim: Any) -> str:
    """`dim`, or the one dim there is."""
    if dim is None and len(x.dims) == 1:
        return x.dims[0]
    if dim is None:
        raise fail(ArgumentError, name, f"dim is needed, because the array does not have just one: {x.dims}", x)
    return dim_of(name, x, dim)


def _permuted(x: Tracer, dim: str, order: Tracer) -> Tracer:
    """The elements along `dim` at positions that are known to lie inside."""
    return reorder(build.gather("clip", x, {dim: order}), x.dims)


@op
def sort(x: ArrayLike, /, dim: str | None = None, *, descending: bool = False) -> Array:
    """Returns `x` sorted along `dim`, with its dims and dtype.

    The order is stable, and NaN comes last, with `descending=True` too. `dim` may be left out for an array with one
    dim.
    """
    x = as_tracer(x)
    dim = _only_dim("sort", x, dim)
    return _permuted(x, dim, build.argsort(x, dim, bool(descending)))


@op
def argsort(x: ArrayLike, /, dim: str | None = None, *, descending: bool = False) -> Array:
    """Returns the positions that sort `x` along `dim`: i8 with its dims.

    The order is stable, and NaN comes last, with `descending=True` too. `dim` may be left out for an array with one
    dim.
    """
    x = as_tracer(x)
    return build.argsort(x, _only_dim("argsort", x, dim), bool(descending))


def _top_k_plan(x: Any, k: Any, /, dim: Any = None) -> Any:
    if not isinstance(x, _native.Array) or type(k) is not int:
        return None
    dim = x.dims[0] if dim is None and len(x.dims) == 1 else dim
    if type(dim) is not str or not 0 <= k <= x.sizes.get(dim, -1):
        return None
    return renamed(x, {dim: apart(dim)}), room(dim, k, x), dim


def _top_k_wide(x: ArrayLike, space: ArrayLike, dim: str, /) -> tuple[Array, Array]:
    x = as_tracer(x)
    order = elsewhere(build.argsort(x, apart(dim), descending=True), dim, places(space, dim))
    return elsewhere(x, dim, order), order


@op(wide=(_top_k_plan, _top_k_wide))
def top_k(x: ArrayLike, k: int, /, dim: str | None = None) -> tuple[Array, Array]:
    """Returns the pair of the `k` largest elements along `dim`, largest first, and their positions (i8).

    In both, `dim` has size `k`. Of equal elements the first come first; NaN comes last.
    Raises SizeError if `k` is not in 0 to the size of `dim`.
    """
    x = as_tracer(x)
    dim = _only_dim("top_k", x, dim)
    k = integer("top_k", k, "k")
    size = static_size("top_k", x, dim)
    if not 0 <= k <= size:
        raise fail(SizeError, "top_k", f"k is {k}, dim {dim!r} has size {size}", x, instead=f"Give 0 to {size}")
    order = build.slice(build.argsort(x, dim, descending=True), {dim: (0, k, 1)})
    return _permuted(x, dim, order), order


@op(each_size=True)  # searches by halves, as often as the size asks for
def rank(x: ArrayLike, /, dim: str | None = None, *, pct: bool = False) -> Array:
    """Returns the ranks along `dim`, which start at 1: f8 with the dims of `x`.

    Equal elements share the average of their ranks. The rank of NaN is NaN. With `pct=True` ranks are divided by
    the number of elements that are not NaN.
    """
    x = as_tracer(x)
    dim = _only_dim("rank", x, dim)
    ordered = _permuted(x, dim, build.argsort(x, dim))
    before, upto = (_search(ordered, dim, x, side) for side in ("left", "right"))
    one = p.constant(1, p.I8)
    twice = build.binary("add", build.binary("add", before, upto), one)
    y = build.binary("mul", p.cast(twice, p.F8), p.constant(0.5, p.F8))
    if p.is_float(x.dtype):
        missing = build.unary("isnan", x)
        y = build.select(missing, p.constant(np.nan, p.F8), y)
    if pct:
        y = build.binary("div", y, p.cast(_valid(x, dim), p.F8))
    return reorder(y, x.dims)


def _valid(x: Tracer, dim: str) -> Tracer:
    """Counts the elements along `dim` that are not NaN, as i8."""
    if not p.is_float(x.dtype):
        return count(x, (dim,), p.I8)
    there = build.unary("not", build.unary("isnan", x))
    return build.reduce("sum", p.cast(there, p.I8), (dim,))


# ---- searching ----------------------------------------------------------------


@op(each_size=True)  # searches by halves, as often as the size asks for
def searchsorted(sorted: ArrayLike, values: ArrayLike, /, side: str = "left", *, dim: str | None = None) -> Array:
    """Returns the positions at which `values` would be inserted into `sorted` to keep it sorted: i8.

    `sorted` ascends along `dim`. side="left" goes before equal elements, "right" after them; NaN is the largest.
    The result has the dims of `values`, then the dims of `sorted` other than `dim`. Dims with equal names are
    paired.
    """
    x, v = _comparable(sorted, values)
    dim = _only_dim("searchsorted", x, dim)
    if side not in ("left", "right"):
        raise fail(ArgumentError, "searchsorted", f"side is 'left' or 'right', not {side!r}", x)
    y = _search(x, dim, v, side)
    return reorder(y, (*v.dims, *(d for d in y.dims if d not in v.dims)))


def _comparable(sorted: ArrayLike, values: ArrayLike) -> tuple[Tracer, Tracer]:
    """Both in their common dtype; integers that only a float holds together as they are, for `_less` is exact."""
    x, v = p.promote(sorted, values)
    own = [as_tracer(y) for y in (sorted, values) if not is_scalar(y)]
    if len(own) == 2 and p.is_float(x.dtype) and not any(p.is_float(y.dtype) for y in own):
        return own[0], own[1]
    return x, v


def _search(x: Tracer, dim: str, v: Tracer, side: str) -> Tracer:
    """By halves, for all values at once."""
    bits = int(x.sizes[dim]).bit_length() if is_static(x, dim) else DYNAMIC_BITS
    size = p.cast(size_of(x, dim), p.I8)
    one, found = p.constant(1, p.I8), p.constant(0, p.I8)
    sizes = {d: size_of(v, d) for d in v.dims} | {d: size_of(x, d) for d in x.dims if d != dim}
    found = extend(found, sizes, tuple(sizes))
    for bit in reversed(range(bits)):
        ahead = build.binary("add", found, p.constant(1 << bit, p.I8))
        probe = build.gather("clip", x, {dim: build.binary("sub", ahead, one)})
        passed = _less(probe, v) if side == "left" else build.unary("not", _less(v, probe))
        passed = build.binary("and", passed, build.compare("le", ahead, size))
        found = build.select(passed, ahead, found)
    return reorder(found, tuple(sizes))


def _less(x: Tracer, y: Tracer) -> Tracer:
    """x < y, NaN being the largest."""
    less = compared("lt", x, y)
    if not p.is_float(x.dtype):
        return less
    only_y = build.binary("and", build.unary("isnan", y), build.unary("not", build.unary("isnan", x)))
    return build.binary("or", less, only_y)


# ---- order statistics ---------------------------------------------------------


@op
def median(x: ArrayLike, /, dim: Dims = None, *, skipna: bool | None = None) -> Array:
    """Returns the median over `dim`, the middle value or the mean of the two middle ones, with the other dims.

    `dim` is one name or several, or None for all dims. Integers give f8. The result is NaN if an element is NaN,
    unless `skipna=True`. Raises SizeError if there are no elements.
    """
    x = as_tracer(x)
    return _quantiles("median", x, dims_of("median", x, dim), [0.5], skips("median", skipna))[0]


@op(
    static=lambda x, q, /, dim=None, **rest: ((x, _levels(q), dim), rest),
    amounts={"q": lambda level: 0 <= level <= 1},
)
def quantile(x: ArrayLike, q: Any, /, dim: Dims = None, *, skipna: bool | None = None) -> Array:
    """Returns the quantiles `q` (0 to 1) of the elements over `dim`, interpolated linearly, with the other dims.

    `dim` is one name or several, or None for all dims. Several `q` give a new first dim "quantile". Integers give
    f8. The result is NaN if an element is NaN, unless `skipna=True`. Raises ArgumentError if `q` is not in 0 to 1,
    SizeError if there are no elements.
    """
    x = as_tracer(x)
    q = _levels(q)
    levels = q if isinstance(q, tuple) else (q,)
    if not all(isinstance(level, Amount) or 0 <= level <= 1 for level in levels):
        numbers = [level for level in levels if not isinstance(level, Amount)]
        instead = "Of percents write q / 100" if all(0 <= level <= 100 for level in numbers) else ""
        raise fail(ArgumentError, "quantile", f"q must be from 0 to 1, not {q}", x, instead=instead)
    found = _quantiles("quantile", x, dims_of("quantile", x, dim), levels, skips("quantile", skipna))
    if not isinstance(q, tuple):
        return found[0]
    if "quantile" in found[0].dims:
        raise fail(ArgumentError, "quantile", "the array has dim 'quantile' already", x, instead="Rename it")
    parts = [extend(y, {"quantile": 1}, ("quantile", *y.dims)) for y in found]
    return parts[0] if len(parts) == 1 else build.concat(parts, "quantile")


def _levels(q: Any) -> Any:
    """One number, or several."""
    if isinstance(q, Amount) or (isinstance(q, tuple) and any(isinstance(level, Amount) for level in q)):
        return q
    if isinstance(q, Tracer):
        raise fail(ArgumentTypeError, "quantile", "q must be known while tracing", q, instead="Give numbers")
    values = np.asarray(q.values if hasattr(q, "values") else q)
    if values.dtype.kind not in "iuf" or values.ndim > 1 or not values.size:
        raise fail(ArgumentTypeError, "quantile", f"q is a number or numbers, not {q!r}")
    return float(values) if values.ndim == 0 else tuple(float(v) for v in values)


def _quantiles(
    name: str, x: Tracer, dims: tuple[str, ...], levels: Sequence[float | Amount], skipna: bool
) -> list[Tracer]:
    dtype = p.mean_dtype(x.dtype, x.weak)
    x = p.cast(x, p.accumulator(dtype))
    if not dims:
        return [p.cast(x, dtype) for _ in levels]
    no_empty(name, x, dims)
    dim = dims[0]
    if len(dims) > 1:
        dim = "flat~"
        x = build.merge(x, dims, dim)
    order = build.argsort(x, dim)
    number = _valid(x, dim) if skipna else count(x, (dim,), p.I8)
    last = build.binary("sub", number, p.constant(1, p.I8))
    found = []
    for level in levels:
        if not skipna and is_static(x, dim) and not isinstance(level, Amount):
            y = _between(x, dim, order, level * (int(x.sizes[dim]) - 1))
        else:
            y = _at_level(x, dim, order, last, level)
        if not skipna:
            y = build.select(build.reduce("any", build.unary("isnan", x), (dim,)), p.constant(np.nan, x.dtype), y)
        found.append(p.cast(y, dtype))
    return found


def _between(x: Tracer, dim: str, order: Tracer, position: float) -> Tracer:
    """The value at a position between two that are known."""
    low = math.floor(position)
    y = _place(x, dim, order, low)
    return y if low == position else _mix(y, _place(x, dim, order, low + 1), p.constant(position - low, x.dtype))


def _place(x: Tracer, dim: str, order: Tracer, position: int) -> Tracer:
    at = build.squeeze(build.slice(order, {dim: (position, 1, 1)}), (dim,))
    return build.gather("clip", x, {dim: at})


def _at_level(x: Tracer, dim: str, order: Tracer, last: Tracer, level: float | Amount) -> Tracer:
    """The same where how many elements count differs from row to row."""
    exact = build.binary("mul", p.cast(last, p.F8), p.amount(level, p.F8))
    low = build.unary("floor", exact)
    below = build.gather("clip", x, {dim: build.gather("clip", order, {dim: p.cast(low, p.I8)})})
    high = p.cast(build.unary("ceil", exact), p.I8)
    above = build.gather("clip", x, {dim: build.gather("clip", order, {dim: high})})
    y = _mix(below, above, p.cast(build.binary("sub", exact, low), x.dtype))
    nothing = build.compare("lt", last, p.constant(0, p.I8))
    return build.select(nothing, p.constant(np.nan, x.dtype), y)


def _mix(a: Tracer, b: Tracer, t: Tracer) -> Tracer:
    """a + (b - a) t as NumPy rounds it: from the nearer end; between equal infinities, those."""
    gap = build.binary("sub", b, a)
    near = build.binary("add", a, build.binary("mul", gap, t))
    rest = build.binary("sub", p.constant(1, a.dtype), t)
    far = build.binary("sub", b, build.binary("mul", gap, rest))
    y = build.select(build.compare("ge", t, p.constant(0.5, a.dtype)), far, near)
    endless = build.binary("and", build.compare("eq", a, b), build.unary("isinf", a))
    return build.select(endless, a, y)
