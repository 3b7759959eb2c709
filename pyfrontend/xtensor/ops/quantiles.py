"""Order statistics: median and quantile. Derivatives go to the elements that the stable order selects."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.dims import brief
from ..base.errors import ArgumentError, ArgumentTypeError
from ..call.dispatch import op
from ..call.opened import Amount, Within
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from . import promotion as p
from .arguments import dims_of, extend, fail, flat_name, is_static, skips
from .reductions import count, no_empty
from .sorting import valid_count
from .types import Array, ArrayLike, Dims

# Hyndman and Fan (1996): the element of a share q of n is number n q + a + q (1 - a - b), counted from 1.
_CONTINUOUS = {
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
# The method of `median`, which is not one of users: the mean of the two middle ones, for which NumPy rounds otherwise.
MIDDLE = "middle"
# As many elements as the compiler sorts in registers: one more place of them costs little.
_SHORT_ROW = 32
METHODS = (
    "linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf", "averaged_inverted_cdf", "closest_observation",
    *_CONTINUOUS,
)  # fmt: skip


@op
def median(x: ArrayLike, /, dim: Dims = None, *, skipna: bool | None = None) -> Array:
    """Returns the median over `dim`, the middle value or the mean of the two middle ones, with the other dims.

    `dim` is one name or several, or None for all dims. Integers give f8. The result is NaN if an element is NaN, unless
    `skipna=True`.

    Raises:
        DimensionError: `x` does not have `dim`.
        DTypeError: `x` is complex.
        SizeError: there are no elements.

    Example:
    >>> xt.median(xt.array([[1.0, 9.0, 2.0], [4.0, 3.0, 5.0]], ("run", "time")), "time")
    <xtensor.Array (run: 2) float64>
    [2. 4.]
    """
    x = as_tracer(x)
    return _quantiles("median", x, dims_of("median", x, dim), [0.5], skips("median", skipna), MIDDLE)[0]


@op(
    static=lambda x, q, /, dim=None, **rest: ((x, levels_of(q), dim), rest),
    amounts={"q": Within(0.0, 1.0)},
)
def quantile(x: ArrayLike, q: Any, /, dim: Dims = None, *, method: str = "linear", skipna: bool | None = None) -> Array:
    """Returns the quantiles `q` (0 to 1) of the elements over `dim`, with the other dims.

    `dim` is one name or several, or None for all dims. Several `q` give a new first dim "quantile". `method` is one of
    those of numpy.quantile, which say what lies between two elements. Integers give f8. The result is NaN if an element
    is NaN, unless `skipna=True`. Source: Hyndman and Fan, "Sample quantiles in statistical packages" (1996).

    Raises:
        DimensionError: `x` does not have `dim`.
        DTypeError: `x` is complex.
        SizeError: there are no elements.
        ArgumentError: `q` is not in 0 to 1, or `method` is another one.

    Example:
    >>> xt.quantile(xt.array([1.0, 2.0, 3.0, 4.0], "time"), [0.25, 0.5], "time")
    <xtensor.Array (quantile: 2) float64>
    [1.75 2.5 ]
    """
    x = as_tracer(x)
    q = levels_of(q)
    levels = checked_levels("quantile", x, q, method)
    found = _quantiles("quantile", x, dims_of("quantile", x, dim), levels, skips("quantile", skipna), method)
    if not isinstance(q, tuple):
        return found[0]
    if "quantile" in found[0].dims:
        raise fail(ArgumentError, "quantile", "the array has dim 'quantile' already", x, instead="Rename it")
    parts = [extend(y, {"quantile": 1}, ("quantile", *y.dims)) for y in found]
    return parts[0] if len(parts) == 1 else build.concat(parts, "quantile")


def checked_levels(name: str, x: Tracer, q: Any, method: str) -> tuple[float | Amount, ...]:
    """The levels, which are checked, as is the method."""
    levels = q if isinstance(q, tuple) else (q,)
    if not all(isinstance(level, Amount) or 0 <= level <= 1 for level in levels):
        numbers = [level for level in levels if not isinstance(level, Amount)]
        instead = "Of percents write q / 100" if all(0 <= level <= 100 for level in numbers) else ""
        raise fail(ArgumentError, name, f"q must be from 0 to 1, not {q}", x, instead=instead)
    if method not in METHODS:
        raise fail(ArgumentError, name, f"there is no method {method!r}", x, instead=f"There are {METHODS}")
    return levels


def levels_of(q: Any) -> Any:
    """One number, or several."""
    if isinstance(q, Amount) or (isinstance(q, tuple) and any(isinstance(level, Amount) for level in q)):
        return q
    if isinstance(q, Tracer):
        raise fail(
            ArgumentTypeError,
            "quantile",
            "q must be known while tracing",
            q,
            instead="Give numbers, or make the argument that it comes from static: xt.jit(f, static=...)",
        )
    try:
        values = np.asarray(q.values if hasattr(q, "values") else q)
    except ValueError:  # of lists of several lengths
        values = np.empty(0)
    if values.dtype.kind not in "iuf" or values.ndim > 1 or not values.size:
        dim = q if isinstance(q, str) else "time"
        raise fail(
            ArgumentTypeError, "quantile", f"q is a number or numbers from 0 to 1, not {brief(q)}",
            instead=f"Write x.quantile(0.5, {dim!r}), or x.quantile([0.1, 0.9], {dim!r})",
        )  # fmt: skip
    return float(values) if values.ndim == 0 else tuple(float(v) for v in values)


def _quantiles(
    name: str, x: Tracer, dims: tuple[str, ...], levels: Sequence[float | Amount], skipna: bool,
    method: str = "linear",
) -> list[Tracer]:  # fmt: skip
    dtype = p.mean_dtype(x.dtype, x.weak)
    x = p.cast(x, p.accumulator(dtype))
    if not dims:
        return [p.cast(x, dtype) for _ in levels]
    no_empty(name, x, dims)
    dim = dims[0]
    if len(dims) > 1:
        dim = flat_name(dims)
        x = build.merge(x, dims, dim)
    order = build.argsort(x, dim)
    number = valid_count(x, dim) if skipna else count(x, (dim,), p.I8)
    found = []
    for level in levels:
        if not skipna and is_static(x, dim) and not isinstance(level, Amount):
            y = _between(x, dim, order, _position(method, int(x.sizes[dim]), level), method)
        else:
            y = at_level(x, dim, order, number, level, method)
        if not skipna:
            y = build.select(_has_nan(x, dim, order), p.constant(np.nan, x.dtype), y)
        found.append(p.cast(y, dtype))
    return found


def _has_nan(x: Tracer, dim: str, order: Tracer) -> Tracer:
    """Whether a row holds NaN, which comes last in the order. Of a long row, only a few places are sorted."""
    if is_static(x, dim) and x.sizes[dim] <= _SHORT_ROW:
        return build.unary("isnan", _place(x, dim, order, int(x.sizes[dim]) - 1))
    return build.reduce("any", build.unary("isnan", x), (dim,))


def _position(method: str, n: Any, q: Any) -> Any:
    """Where the quantile lies among `n` elements in order, from 0: numbers, or traced ones."""
    share = n * q
    if isinstance(share, Tracer):  # rounded before 1 is subtracted, as the product of numbers is
        share = build.binary("minimum", share, n)
    if method in _CONTINUOUS:
        a, b = _CONTINUOUS[method]
        at = share + (a + q * (1 - a - b)) - 1
    elif method in ("inverted_cdf", "averaged_inverted_cdf"):
        at = share - 1
        low = _floor(at)
        at = _choice(at == low, low if method == "inverted_cdf" else low + 0.5, low + 1)
    elif method == "closest_observation":
        at = share - 1.5
        low = _floor(at)
        at = _choice((at == low) & (low % 2 == 1), low, low + 1)
    else:
        at = (n - 1) * q
        low, high = _floor(at), -_floor(-at)
        found = {"lower": low, "higher": high, "midpoint": (low + high) / 2}
        at = round(at) if method == "nearest" else found.get(method, at)
    if isinstance(at, Tracer):
        top = build.binary("maximum", n - 1, p.zero(p.F8))
        return build.binary("minimum", build.binary("maximum", at, p.zero(p.F8)), top)
    return min(max(at, 0), n - 1)


def _floor(x: Any) -> Any:
    return build.unary("floor", x) if isinstance(x, Tracer) else math.floor(x)


def _choice(condition: Any, x: Any, y: Any) -> Any:
    return build.select(condition, x, y) if isinstance(condition, Tracer) else x if condition else y


def _between(x: Tracer, dim: str, order: Tracer, position: float, method: str) -> Tracer:
    """The value at a position between two that are known."""
    low = math.floor(position)
    y = _place(x, dim, order, low)
    if low == position:
        return y
    return _mix(y, _place(x, dim, order, low + 1), p.constant(position - low, x.dtype), method)


def _place(x: Tracer, dim: str, order: Tracer, position: int) -> Tracer:
    at = build.squeeze(build.slice(order, {dim: (position, 1, 1)}), (dim,))
    return build.gather("clip", x, {dim: at})


def at_level(
    x: Tracer, dim: str, order: Tracer, number: Tracer, level: float | Amount, method: str,
    start: Tracer | None = None,
) -> Tracer:  # fmt: skip
    """The same where how many elements count differs from row to row: `number`, from position `start` of the order."""
    exact = _position(method, p.cast(number, p.F8), p.amount(level, p.F8))
    low = build.unary("floor", exact)

    def value(position: Tracer) -> Tracer:
        at = p.cast(position, p.I8)
        at = at if start is None else build.binary("add", at, start)
        return build.gather("clip", x, {dim: build.gather("clip", order, {dim: at})})

    below, above = value(low), value(build.unary("ceil", exact))
    y = _mix(below, above, p.cast(build.binary("sub", exact, low), x.dtype), method)
    nothing = build.compare("eq", number, p.constant(0, p.I8))
    return build.select(nothing, p.constant(np.nan, x.dtype), y)


def _mix(a: Tracer, b: Tracer, t: Tracer, method: str) -> Tracer:
    """Between `a` and `b`, which are in order, as NumPy rounds it where that is finite: a + (b - a) t, from the nearer
    end, or the mean for the median. Where b - a or a + b is not finite, the sum of both shares, which may be: infinite
    neighbours count, and large ones do not overflow."""
    if method == MIDDLE:
        half = p.constant(0.5, a.dtype)
        both = build.binary("add", a, b)
        halves = build.binary("add", build.binary("mul", a, half), build.binary("mul", b, half))
        # Of small numbers, halves would lose a bit.
        return build.select(build.unary("isinf", both), halves, build.binary("mul", both, half))
    gap = build.binary("sub", b, a)
    near = build.binary("add", a, build.binary("mul", gap, t))
    rest = build.binary("sub", p.constant(1, a.dtype), t)
    far = build.binary("sub", b, build.binary("mul", gap, rest))
    y = build.select(build.compare("ge", t, p.constant(0.5, a.dtype)), far, near)
    shares = build.binary("add", build.binary("mul", a, rest), build.binary("mul", b, t))
    y = build.select(build.unary("isinf", gap), shares, y)
    endless = build.binary("and", build.compare("eq", a, b), build.unary("isinf", a))
    return build.select(endless, a, y)
