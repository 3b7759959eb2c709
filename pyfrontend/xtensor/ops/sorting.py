"""Functions of order: sort, argsort, argpartition, top_k, rank and searchsorted.

Sorting is stable. NaN comes last, ascending and descending. -0.0 equals 0.0. Derivatives go to the elements that
the stable order selects.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _native
from ..base.errors import ArgumentError, SizeError
from ..call.dispatch import op
from ..call.opened import apart, renamed, room
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from . import promotion as p
from .arguments import (
    dim_of,
    extend,
    fail,
    integer,
    is_scalar,
    is_static,
    reorder,
    size_of,
    static_size,
)
from .comparisons import compared
from .moving import elsewhere, places
from .reductions import count
from .types import Array, ArrayLike

# A dynamic dim is searched as if it had at most 2**40 elements.
DYNAMIC_BITS = 40
# In a program for all sizes, arrays have no more elements than this says (`call/dispatch.py`).
WIDE_BITS = 17


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

    Raises:
        DimensionError: `x` does not have `dim`.
        DTypeError: `x` is complex.
        ArgumentError: `dim` is left out, and `x` has several dims.

    Example:
    >>> xt.sort(xt.array([[3, 1, 2], [6, 5, 4]], ("a", "b")), "b")
    <xtensor.Array (a: 2, b: 3) int64>
    [[1 2 3]
     [4 5 6]]
    """
    x = as_tracer(x)
    dim = _only_dim("sort", x, dim)
    return _permuted(x, dim, build.argsort(x, dim, bool(descending)))


@op
def argsort(x: ArrayLike, /, dim: str | None = None, *, descending: bool = False) -> Array:
    """Returns the positions that sort `x` along `dim`: i8 with its dims.

    The order is stable, and NaN comes last, with `descending=True` too. `dim` may be left out for an array with one
    dim.

    Raises:
        DimensionError: `x` does not have `dim`.
        DTypeError: `x` is complex.
        ArgumentError: `dim` is left out, and `x` has several dims.

    Example:
    >>> xt.argsort(xt.array([5, 1, 4], "i"))
    <xtensor.Array (i: 3) int64>
    [1 2 0]
    """
    x = as_tracer(x)
    return build.argsort(x, _only_dim("argsort", x, dim), bool(descending))


@op
def argpartition(x: ArrayLike, kth: int, /, dim: str | None = None) -> Array:
    """Returns positions that order `x` along `dim` so that smaller elements come before the `kth`: i8 with its dims.

    The `kth` element, from 0, is where it would be if `x` were sorted; negative ones count from the end. As with NumPy,
    the order on both sides is not specified.

    Raises:
        DimensionError: `x` does not have `dim`.
        DTypeError: `x` is complex.
        SizeError: `dim` does not have that many elements.
        ArgumentError: `dim` is left out, and `x` has several dims.

    Example:
    >>> x = xt.array([5, 1, 4, 2], "i")
    >>> xt.take(x, xt.argpartition(x, 1), "i")[1].item()
    2
    """
    x = as_tracer(x)
    dim = _only_dim("argpartition", x, dim)
    k = integer("argpartition", kth, "kth")
    if is_static(x, dim) and not -x.sizes[dim] <= k < x.sizes[dim]:
        raise fail(SizeError, "argpartition", f"kth is {k}, but dim {dim!r} has size {x.sizes[dim]}", x)
    return build.argsort(x, dim)


def _top_k_plan(x: Any, k: Any, /, dim: Any = None) -> Any:
    if not isinstance(x, _native.Array) or type(k) is not int:
        return None
    dim = x.dims[0] if dim is None and len(x.dims) == 1 else dim
    if type(dim) is not str or not 0 <= k <= x.sizes.get(dim, -1):
        return None
    return renamed(x, {dim: apart(dim)}), room(dim, k, x._device), dim


def _top_k_wide(x: ArrayLike, space: ArrayLike, dim: str, /) -> tuple[Array, Array]:
    x = as_tracer(x)
    order = elsewhere(build.argsort(x, apart(dim), descending=True), dim, places(space, dim))
    return elsewhere(x, dim, order), order


@op(wide=(_top_k_plan, _top_k_wide))
def top_k(x: ArrayLike, k: int, /, dim: str | None = None) -> tuple[Array, Array]:
    """Returns the pair of the `k` largest elements along `dim`, largest first, and their positions (i8).

    In both, `dim` has size `k`. Of equal elements the first come first; NaN comes last.

    Raises:
        DimensionError: `x` does not have `dim`.
        DTypeError: `x` is complex.
        SizeError: `k` is not in 0 to the size of `dim`.
        ArgumentError: `dim` is left out, and `x` has several dims.

    Example:
    >>> values, positions = xt.top_k(xt.array([5, 1, 7, 2], "i"), 2, "i")
    >>> values.values, positions.values
    (array([7, 5]), array([2, 0]))
    """
    x = as_tracer(x)
    dim = _only_dim("top_k", x, dim)
    k = integer("top_k", k, "k")
    size = static_size("top_k", x, dim)
    if not 0 <= k <= size:
        raise fail(SizeError, "top_k", f"k is {k}, but dim {dim!r} has size {size}", x, instead=f"Give 0 to {size}")
    order = build.slice(build.argsort(x, dim, descending=True), {dim: (0, k, 1)})
    return _permuted(x, dim, order), order


def _rank_plan(x: Any, /, dim: Any = None, *, pct: Any = False) -> Any:
    return (x, dim, pct) if isinstance(x, _native.Array) else None


def _rank_wide(x: ArrayLike, dim: str | None, pct: bool, /) -> Array:
    return _rank(x, dim, pct, WIDE_BITS)


@op(wide=(_rank_plan, _rank_wide), each_size=True)  # searches by halves, as often as the size asks for
def rank(x: ArrayLike, /, dim: str | None = None, *, pct: bool = False) -> Array:
    """Returns the ranks along `dim`, which start at 1: f8 with the dims of `x`.

    Equal elements share the average of their ranks. The rank of NaN is NaN. With `pct=True` ranks are divided by
    the number of elements that are not NaN.

    Raises:
        DimensionError: `x` does not have `dim`.
        DTypeError: `x` is complex.
        ArgumentError: `dim` is left out, and `x` has several dims.

    Example:
    >>> xt.rank(xt.array([30.0, 10.0, 10.0], "i"), "i")
    <xtensor.Array (i: 3) float64>
    [3.  1.5 1.5]
    """
    return _rank(x, dim, pct)


def _rank(x: ArrayLike, dim: str | None, pct: bool, bits: int | None = None) -> Array:
    x = as_tracer(x)
    dim = _only_dim("rank", x, dim)
    ordered = _permuted(x, dim, build.argsort(x, dim))
    before, upto = (search(ordered, dim, x, side, bits) for side in ("left", "right"))
    one = p.constant(1, p.I8)
    twice = build.binary("add", build.binary("add", before, upto), one)
    y = build.binary("mul", p.cast(twice, p.F8), p.constant(0.5, p.F8))
    if p.is_float(x.dtype):
        missing = build.unary("isnan", x)
        y = build.select(missing, p.constant(np.nan, p.F8), y)
    if pct:
        y = build.binary("div", y, p.cast(valid_count(x, dim), p.F8))
    return reorder(y, x.dims)


def valid_count(x: Tracer, dim: str) -> Tracer:
    """Counts the elements along `dim` that are not NaN, as i8."""
    if not p.is_float(x.dtype):
        return count(x, (dim,), p.I8)
    there = build.unary("not", build.unary("isnan", x))
    return build.reduce("sum", p.cast(there, p.I8), (dim,))


# ---- searching ----------------------------------------------------------------


def _searchsorted_plan(sorted: Any, values: Any, /, side: Any = "left", *, dim: Any = None) -> Any:
    if not isinstance(sorted, _native.Array):
        return None
    dim = sorted.dims[0] if dim is None and len(sorted.dims) == 1 else dim
    return (renamed(sorted, {dim: apart(dim)}), values, side, apart(dim)) if sorted.sizes.get(dim) else None


def _searchsorted_wide(sorted: ArrayLike, values: ArrayLike, side: str, dim: str, /) -> Array:
    return _searchsorted(sorted, values, side, dim, WIDE_BITS)


@op(wide=(_searchsorted_plan, _searchsorted_wide), each_size=True)  # by halves, as often as the size asks for
def searchsorted(sorted: ArrayLike, values: ArrayLike, /, side: str = "left", *, dim: str | None = None) -> Array:
    """Returns the positions at which `values` would be inserted into `sorted` to keep it sorted: i8.

    `sorted` ascends along `dim`. side="left" goes before equal elements, "right" after them; NaN is the largest.
    The result has the dims of `values`, then the dims of `sorted` other than `dim`. Dims with equal names are
    paired.

    Raises:
        DimensionError: `sorted` does not have `dim`.
        DTypeError: an array is complex.
        ArgumentError: `side` is neither "left" nor "right".

    Example:
    >>> xt.searchsorted(xt.array([1.0, 2.0, 3.0], "edge"), xt.array([0.5, 2.0, 9.0], "sample"))
    <xtensor.Array (sample: 3) int64>
    [0 1 3]
    """
    return _searchsorted(sorted, values, side, dim)


def _searchsorted(sorted: ArrayLike, values: ArrayLike, side: str, dim: str | None, bits: int | None = None) -> Array:
    x, v = _comparable(sorted, values)
    dim = _only_dim("searchsorted", x, dim)
    if side not in ("left", "right"):
        raise fail(ArgumentError, "searchsorted", f"side is 'left' or 'right', not {side!r}", x)
    y = search(x, dim, v, side, bits)
    return reorder(y, (*v.dims, *(d for d in y.dims if d not in v.dims)))


def _comparable(sorted: ArrayLike, values: ArrayLike) -> tuple[Tracer, Tracer]:
    """Both in their common dtype; integers that only a float holds together as they are, for `_less` is exact."""
    x, v = p.promote(sorted, values)
    own = [as_tracer(y) for y in (sorted, values) if not is_scalar(y)]
    if len(own) == 2 and p.is_float(x.dtype) and not any(p.is_float(y.dtype) for y in own):
        return own[0], own[1]
    return x, v


def search(x: Tracer, dim: str, v: Tracer, side: str, bits: int | None = None) -> Tracer:
    """By halves, for all values at once. bits: of the largest size that a dynamic dim has."""
    bits = int(x.sizes[dim]).bit_length() if is_static(x, dim) else bits or DYNAMIC_BITS
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
