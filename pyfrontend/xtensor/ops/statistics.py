"""Statistics of samples: average, cov and corr, and counts by value: histogram and bincount."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _native
from ..base.calls import in_words
from ..base.dims import check_name
from ..base.errors import ArgumentError, ArgumentTypeError, DimensionError, DTypeError, IndexError_
from ..call.dispatch import op, tracing
from ..call.opened import room
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from ..values.array import Array as Concrete
from ..values.array import from_values
from ..values.devices import like
from . import promotion as p
from .arguments import (
    Size,
    dims_of,
    extend,
    fail,
    integer,
    number,
    resolve,
    size_of,
    skips,
    static_size,
    union_sizes,
)  # fmt: skip
from .contraction import contract, forbid_outer
from .reductions import any_empty, count
from .sets import size_from
from .sorting import search
from .types import Array, ArrayLike, Dims

# -- means ------------------------------------------------------------------------------------------------------------


@op(joins=True)
def average(
    x: ArrayLike, /, dim: Dims = None, weights: ArrayLike | None = None, *, skipna: bool | None = None
) -> Array:
    """Returns the mean over `dim` weighted by `weights`, with the other dims of `x`, then those of the weights.

    The mean is sum(weights * x) / sum(weights), so the scale of the weights does not matter. Weights align by name and
    may lack dims. Without weights, the result is the mean. `skipna=True` skips NaN and their weights. Integers give f8.

    Raises:
        DimensionError: `x` does not have `dim`.
        SizeError: a dim of `weights` has another size in `x`.

    Example:
    >>> xt.average(xt.array([[1.0, 4.0], [2.0, 6.0]], ("run", "lat")), "lat", xt.array([3.0, 1.0], "lat"))
    <xtensor.Array (run: 2) float64>
    [1.75 3.  ]
    """
    x = as_tracer(x)
    given = [x] if weights is None else [x, as_tracer(weights)]
    values = p.promote_mean(*given)
    forbid_outer("average", values)
    dtype = values[0].dtype
    dims = resolve("average", tuple(union_sizes("average", values)), dim)
    x, *rest = (p.cast(v, p.accumulator(dtype)) for v in values)
    valid = _valid(x) if skips("average", skipna) and p.is_float(given[0].dtype) else None
    if valid is not None:
        x = build.select(valid, x, p.zero(x.dtype))
        rest = [*rest, p.cast(valid, x.dtype)]
    y = _weighted(x, rest, dims)
    if valid is not None:  # of nothing: a NaN that depends on no element
        none = build.unary("not", build.reduce("any", valid, [d for d in dims if d in valid.dims]))
        y = build.select(none, p.constant(np.nan, y.dtype), y)
    return p.cast(y, dtype)


def _valid(*xs: Tracer) -> Tracer:
    """Where none of the arrays is NaN."""
    valid = build.compare("eq", xs[0], xs[0])
    for x in xs[1:]:
        valid = build.binary("and", valid, build.compare("eq", x, x))
    return valid


def _total(factors: list[Tracer], dims: tuple[str, ...], besides: list[Tracer]) -> Tracer:
    """The sum of the weights over `dims`, of which some are those of `besides` alone."""
    there = tuple(d for d in dims if any(d in w.dims for w in factors))
    total = p.constant(1, besides[0].dtype)
    if factors:
        total = contract(factors, there, tuple(union_sizes("", factors)))
    for d in dims:
        owner = next((x for x in besides if d in x.dims), None)
        if d not in there and owner is not None:
            total = build.binary("mul", total, count(owner, (d,), total.dtype))
    return total


def _weighted(x: Tracer, factors: list[Tracer], dims: tuple[str, ...]) -> Tracer:
    """The mean of `x` under weights that are a product."""
    over = tuple(d for d in dims if any(d in y.dims for y in (x, *factors)))
    together = [x, *factors]
    total = contract(together, over, tuple(union_sizes("", together)))
    return build.binary("div", total, _total(factors, over, [x]))


class _Pair:
    """Two arrays of which moments are taken over `dims`, NaN and weights out of the way."""

    def __init__(
        self, name: str, x: ArrayLike, y: ArrayLike, dim: Dims, weights: ArrayLike | None, skipna: bool | None
    ) -> None:
        given = [as_tracer(v) for v in (x, y)] + ([] if weights is None else [as_tracer(weights)])
        values = p.promote_mean(*given)
        self.dtype = values[0].dtype
        forbid_outer(name, values)
        self.sizes = union_sizes(name, values[:2])
        self.dims = resolve(name, tuple(self.sizes), dim)
        union_sizes(name, values)
        a, b, *self.factors = (p.cast(v, p.accumulator(self.dtype)) for v in values)
        self.counted: Tracer | None = None
        if skips(name, skipna) and any(p.is_float(v.dtype) for v in given[:2]):
            valid = _valid(a, b)
            zero = p.zero(a.dtype)
            a, b = build.select(valid, a, zero), build.select(valid, b, zero)
            self.counted = p.cast(valid, a.dtype)
            self.factors.append(self.counted)
        self.a, self.b = self.centred(a), self.centred(b)

    def centred(self, x: Tracer) -> Tracer:
        return build.binary("sub", x, _weighted(x, self.factors, self.dims))

    def number(self) -> Tracer:
        """How many pairs there are."""
        if self.counted is None:
            return _total([], self.dims, [self.a, self.b])
        return build.reduce("sum", self.counted, self.dims) if self.dims else self.counted

    def moment(self, x: Tracer, y: Tracer) -> Tracer:
        """The mean product of two centred arrays, of complex ones that of `x` and the conjugate of `y`."""
        together = [x, build.conj(y), *self.factors]
        order = tuple(union_sizes("", together))
        dims = tuple(d for d in self.dims if d in order)
        return build.binary("div", contract(together, dims, order), _total(self.factors, dims, [x, y]))


@op(joins=True)
def cov(
    x: ArrayLike,
    y: ArrayLike,
    /,
    dim: Dims = None,
    ddof: float = 1,
    weights: ArrayLike | None = None,
    *,
    skipna: bool | None = None,
) -> Array:
    """Returns the covariance of `x` and `y` over `dim`, divided by n - ddof, with the other dims of both.

    `dim` is one name or several, or None for all dims. The matrix of the covariances of all pairs of channels is
    cov(x, x.rename(channel="channel2"), "time"). `weights` align by name. `skipna=True` leaves out pairs of which
    one is NaN, as xarray does. Integers give f8.

    Raises:
        DimensionError: neither array has `dim`.
        SizeError: a dim has two sizes.

    Example:
    >>> xt.cov(xt.array([1.0, 2.0, 3.0], "time"), xt.array([3.0, 5.0, 7.0], "time"), "time")
    <xtensor.Array () float64 2.>
    """
    pair = _Pair("cov", x, y, dim, weights, skipna)
    moment, n = pair.moment(pair.a, pair.b), pair.number()
    n = build.real(n)
    left = build.binary("sub", n, p.constant(number("cov", ddof, "ddof"), n.dtype))
    left = build.binary("maximum", left, p.zero(n.dtype))
    return p.cast(build.binary("mul", moment, p.cast(build.binary("div", n, left), moment.dtype)), pair.dtype)


@op(joins=True)
def corr(
    x: ArrayLike, y: ArrayLike, /, dim: Dims = None, weights: ArrayLike | None = None, *, skipna: bool | None = None
) -> Array:
    """Returns Pearson's correlation of `x` and `y` over `dim`, from -1 to 1, with the other dims of both.

    Arguments are as for `cov`. The correlation with an array that does not vary is NaN.

    Raises:
        DimensionError: neither array has `dim`.
        SizeError: a dim has two sizes.

    Example:
    >>> xt.corr(xt.array([1.0, 2.0, 3.0], "time"), xt.array([3.0, 5.0, 7.0], "time"), "time")
    <xtensor.Array () float64 1.>
    """
    pair = _Pair("corr", x, y, dim, weights, skipna)
    a, b = (build.unary("sqrt", build.real(pair.moment(z, z))) for z in (pair.a, pair.b))
    moment = pair.moment(pair.a, pair.b)
    return p.cast(build.binary("div", moment, p.cast(build.binary("mul", a, b), moment.dtype)), pair.dtype)


# -- counts -----------------------------------------------------------------------------------------------------------


def _new_dim(name: str, dim: str, *xs: Tracer) -> str:
    check_name(dim)
    if any(dim in x.dims for x in xs):
        raise fail(DimensionError, name, f"the new dim {dim!r} is a dim of the array already", *xs,
                   instead='Name it otherwise: bin="level"')  # fmt: skip
    return dim


def _counts(
    name: str, index: Tracer, n: Size, dims: tuple[str, ...], weights: ArrayLike | None, bin: str, mode: str
) -> Tracer:
    """How often each of `n` positions comes along `dims`, or the sum of the weights."""
    w = p.constant(1, p.I8) if weights is None else as_tracer(weights)
    if w.dtype == p.BOOL:
        w = p.cast(w, p.I8)
    w = p.cast(w, p.sum_dtype(w.dtype))
    dtype = w.dtype
    w = p.cast(w, p.accumulator(dtype))
    forbid_outer(name, (index, w))
    sizes = union_sizes(name, (index, w))
    index = extend(index, sizes, tuple(d for d in sizes if d in index.dims or d in dims))
    kept = {d: n for d, n in sizes.items() if d not in dims}
    target = extend(p.zero(w.dtype), {**kept, bin: n}, (*kept, bin))
    over = tuple(d for d in index.dims if d in dims)
    if any_empty(index, over):
        return p.cast(target, dtype)
    # What is left of the coordinates, which the zeros do not have.
    left = build.reduce("max", index, over) if over else index
    counted = build.scatter("add", mode, target, {bin: index}, extend(w, sizes, tuple(sizes)))
    return p.cast(build.labelled(counted, left), dtype)


@op(sizes=("length",))
def _bincount(x: ArrayLike, weights: ArrayLike | None, length: int, dim: Dims, bin: str, mode: str, /) -> Array:
    x = as_tracer(x)
    if not p.is_integer(x.dtype):
        raise fail(DTypeError, "bincount", f"counts integers, not {x.dtype}", x, instead='Write x.astype("i8")')
    if mode not in ("raise", "clip", "drop"):
        raise fail(ArgumentError, "bincount", f"mode is 'raise', 'clip' or 'drop', not {mode!r}", x)
    dims = dims_of("bincount", x, dim)
    _new_dim("bincount", bin, x)
    index = p.cast(x, p.I8)
    if x.dtype == np.dtype("u8"):  # the largest are no int64
        index = p.cast(build.binary("minimum", x, p.constant(2**62, x.dtype)), p.I8)
    elif np.issubdtype(x.dtype, np.signedinteger):  # a negative number does not count from the end
        below = build.compare("lt", index, p.zero(p.I8))
        # With "raise" it lies `length` lower, outside, and what tells of it adds `length` again.
        outside = p.constant(0 if mode == "clip" else 2**62, p.I8)
        if mode == "raise":
            outside = build.binary("sub", index, p.cast(length, p.I8))
        index = build.select(below, outside, index)
    return _counts("bincount", index, length, dims, weights, bin, mode)


def bincount(
    x: ArrayLike, /, weights: ArrayLike | None = None, *, length: int | None = None, dim: Dims = None,
    bin: str = "bin", mode: str = "raise",
) -> Array:  # fmt: skip
    """Returns how often each integer from 0 to length - 1 occurs in `x` over `dim`, along the new last dim `bin`: i8.

    With `weights`, which align by name, the result is the sum of the weights. Without `length`, the largest number
    decides; a traced function needs `length`. `mode` decides what happens to a number out of range: "raise" raises
    IndexError, "clip" counts it as the nearest one, "drop" ignores it. Differentiable with respect to `weights`.

    Raises:
        DimensionError: `x` does not have `dim`.
        DTypeError: `x` does not hold integers.
        IndexError: a number is out of range, with mode="raise".
        ArgumentError: `length` is negative, or `mode` is another one.

    Example:
    >>> xt.bincount(xt.array([0, 2, 2], "sample"), length=4)
    <xtensor.Array (bin: 4) int64>
    [1 0 2 0]
    """

    def longest(values: np.ndarray) -> int:
        if mode == "raise" and values.dtype.kind == "i" and values.min(initial=0) < 0:
            raise fail(IndexError_, "bincount", f"{values.min()} is negative, and has no bin", x)
        return int(values.max(initial=-1)) + 1

    n = size_from("bincount", x, length, "length", longest)
    return _bincount(x, weights, n, dim, bin, mode)


def _edges_between(x: ArrayLike, bins: int, low: float, high: float, edge: str) -> Array:
    """The edges of bins of one width from `low` to `high`."""
    if low == high:
        low, high = low - 0.5, high + 0.5
    made = np.linspace(low, high, bins + 1)
    if type(x) is Concrete and x.meta is None and not tracing():
        return from_values(made.astype(p.mean_dtype(x.dtype, x.type.weak)), dims=(edge,), device=like(x))
    return _given_edges(x, made, edge)


@op(name="histogram")
def _given_edges(x: ArrayLike, made: np.ndarray, edge: str, /) -> Array:
    x = as_tracer(x)
    return build.constant(made, (edge,), p.mean_dtype(x.dtype, x.weak))


@op(name="histogram", sizes=("count",))
def _edges(x: ArrayLike, count: int, edge: str, /) -> Array:
    """The `count` edges of bins of one width, from the least to the largest element."""
    x = as_tracer(x)
    dtype = p.mean_dtype(x.dtype, x.weak)
    at = build.iota(edge, count, p.I8)
    bins = build.binary("sub", p.cast(count, p.I8), p.constant(1, p.I8))
    build.ordered(x)
    least, most = _ends(p.cast(x, dtype))
    half = build.select(build.compare("eq", least, most), p.constant(0.5, dtype), p.zero(dtype))
    least, most = build.binary("sub", least, half), build.binary("add", most, half)
    step = build.binary("div", build.binary("sub", most, least), p.cast(bins, dtype))
    # A product that is rounded before it is added to, as NumPy's is.
    moved = build.binary("minimum", build.binary("mul", p.cast(at, dtype), step), build.binary("sub", most, least))
    inner = build.binary("add", moved, least)
    return build.select(build.compare("eq", at, bins), most, inner)


def _ends(x: Tracer) -> tuple[Tracer, Tracer]:
    """The least and the largest finite element; 0 and 1 if there are none."""
    zero, one = p.zero(x.dtype), p.constant(1, x.dtype)
    if any_empty(x, x.dims):
        return zero, one
    finite = build.unary("isfinite", x)
    least, most = (
        build.reduce(kind, build.select(finite, x, p.constant(other, x.dtype)), x.dims) if x.dims else x
        for kind, other in (("min", np.inf), ("max", -np.inf))
    )
    none = build.compare("gt", least, most)
    return build.select(none, zero, least), build.select(none, one, most)


def _histogram_plan(x: Any, edges: Any, weights: Any, density: bool, dim: Any, bin: str, is_even: bool, /) -> Any:
    if not isinstance(x, _native.Array) or not isinstance(edges, _native.Array) or bin in x.dims:
        return None
    if len(edges.dims) != 1 or edges.size < 2 or edges.dims[0] in x.dims:
        return None
    return x, edges, weights, room(bin, edges.size - 1, x._device), density, dim, is_even


def _histogram_wide(
    x: ArrayLike, edges: ArrayLike, weights: ArrayLike | None, space: ArrayLike, density: bool, dim: Dims,
    is_even: bool, /,
) -> Array:  # fmt: skip
    (bin,) = as_tracer(space).dims
    return _counted(x, edges, weights, density, dim, bin, is_even, size_of(as_tracer(space), bin))


@op(wide=(_histogram_plan, _histogram_wide))
def _histogram(
    x: ArrayLike, edges: ArrayLike, weights: ArrayLike | None, density: bool, dim: Dims, bin: str, is_even: bool, /
) -> Array:
    e = as_tracer(edges)
    n = static_size("histogram", e, e.dims[0]) - 1
    return _counted(x, e, weights, density, dim, bin, is_even, n)


def _counted(
    x: ArrayLike, edges: ArrayLike, weights: ArrayLike | None, density: bool, dim: Dims, bin: str, is_even: bool,
    n: Size,
) -> Tracer:  # fmt: skip
    """`n`: the number of bins, one less than that of the edges."""
    x, e = p.promote_mean(x, edges)
    (edge,) = e.dims
    dims = dims_of("histogram", x, dim)
    many = p.cast(n, p.I8)
    most = build.binary("sub", many, p.constant(1, p.I8))
    if is_even:
        index = _even(x, e, edge, many, most)
    else:
        index = build.binary("sub", search(e, edge, x, "right"), p.constant(1, p.I8))
        index = build.select(build.compare("lt", index, p.zero(p.I8)), many, index)
        at_last = build.compare("eq", x, build.gather("clip", e, {edge: many}))
        index = build.select(at_last, most, index)
    _new_dim("histogram", bin, x)
    counted = _counts("histogram", index, n, dims, weights, bin, "drop")
    if not density:
        return counted
    counted = p.cast(counted, p.accumulator(p.mean_dtype(counted.dtype)))
    e = p.cast(e, counted.dtype)
    low = build.iota(bin, n, p.I8)
    ends = [build.gather("clip", e, {edge: at}) for at in (low, build.binary("add", low, p.constant(1, p.I8)))]
    total = build.reduce("sum", counted, (bin,))
    return build.binary("div", build.binary("div", counted, build.binary("sub", ends[1], ends[0])), total)


def _even(x: Tracer, e: Tracer, edge: str, many: Tracer, most: Tracer) -> Tracer:
    """The bin of each element by division, corrected by the edges themselves; outside of all, the number of bins.
    `most`: the last bin."""
    zero, one = p.zero(p.I8), p.constant(1, p.I8)
    first, last = (build.gather("clip", e, {edge: i}) for i in (zero, many))
    scale = build.binary("div", p.cast(many, x.dtype), build.binary("sub", last, first))
    there = build.binary("and", build.compare("ge", x, first), build.compare("le", x, last))
    at = build.binary("mul", build.binary("sub", x, first), scale)
    at = p.cast(build.select(there, at, p.zero(x.dtype)), p.I8)
    at = build.binary("minimum", at, most)
    below = build.compare("lt", x, build.gather("clip", e, {edge: at}))
    at = build.select(below, build.binary("sub", at, one), at)
    above = build.compare("ge", x, build.gather("clip", e, {edge: build.binary("add", at, one)}))
    above = build.binary("and", above, build.compare("lt", at, most))
    at = build.select(above, build.binary("add", at, one), at)
    return build.select(there, at, many)


def histogram(
    x: ArrayLike, /, bins: Any = 10, *, range: tuple[float, float] | None = None, weights: ArrayLike | None = None,
    density: bool = False, dim: Dims = None, bin: str = "bin",
) -> tuple[Array, Array]:  # fmt: skip
    """Returns how many elements over `dim` lie in each bin, along the new last dim `bin`, and the edges of the bins.

    `bins` is a number of bins of equal width over `range` (by default from the least to the largest finite element), or
    the ascending edges: an array with one dim. The edges have the dim `bin` + "_edge". The last bin includes its upper
    edge. Elements outside of all bins, and NaN, are not counted. With `weights`, which align by name, the result is the
    sums of the weights. With `density=True`, the sum of the result times the widths is 1. Differentiable with respect
    to `weights`.

    Raises:
        DimensionError: `x` does not have `dim`.
        DTypeError: `x` is complex.
        ArgumentError: `bins` is below 1, or edges do not ascend.

    Example:
    >>> counts, edges = xt.histogram(xt.array([0.1, 0.2, 0.9], "sample"), 2, range=(0.0, 1.0))
    >>> counts, edges
    (<xtensor.Array (bin: 2) int64>
    [2 1], <xtensor.Array (bin_edge: 3) float64>
    [0.  0.5 1. ])
    """
    edge = f"{check_name(bin)}_edge"
    is_even = not hasattr(bins, "dims") and np.ndim(bins) == 0
    if is_even:
        n = integer("histogram", bins, "bins", least=1)
        if range is not None:
            if not isinstance(range, (tuple, list)) or len(range) != 2:
                raise fail(ArgumentTypeError, "histogram", f"range is a pair (low, high), not {in_words(range)}", x)
            low, high = (float(number("histogram", r, "an end of the range")) for r in range)
            if not low <= high or not np.isfinite([low, high]).all():
                raise fail(ArgumentError, "histogram", f"range is (low, high), two finite numbers, not {range}")
            bins = _edges_between(x, n, low, high, edge)
        else:
            bins = _edges(x, n + 1, edge)
    else:
        values = None if isinstance(bins, Tracer) else np.asarray(getattr(bins, "values", bins))
        if not hasattr(bins, "dims"):
            made = np.asarray(bins)
            if not isinstance(bins, np.ndarray) and made.dtype == p.F8:  # Python's numbers
                made = made.astype(p.default_float())
            bins = build.constant(made, (edge,)) if tracing() else from_values(made, dims=(edge,), device=like(x))
        if len(bins.dims) != 1:
            raise fail(DimensionError, "histogram", "the array of edges must have one dim", bins)
        bins = bins.rename({bins.dims[0]: edge})
        if len(bins) < 2:
            raise fail(ArgumentError, "histogram", "at least two edges are needed", bins)
        if values is not None and not (values[1:] >= values[:-1]).all():
            raise fail(ArgumentError, "histogram", "the edges do not ascend", bins, instead="Sort them")
    return _histogram(x, bins, weights, bool(density), dim, bin, is_even), bins
