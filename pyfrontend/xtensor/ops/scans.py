"""Running sums, products, extrema and log-sums along dims.

`dim` is None or `...` (all dims), one name, or several, which are scanned one after another. `reverse` walks from
the last element to the first. `exclusive` leaves out an element's own value and starts with the identity (0, 1,
-inf, inf, -inf; for integers the lowest and the highest number). After a NaN, all later results are NaN.

All have derivatives of every order, in both modes, in time linear in the size. At a tie of cummax or cummin, the
latest element in scan order gets the whole derivative.
"""

from __future__ import annotations

import numpy as np

from ..call.dispatch import op
from ..trace import build
from ..trace.emit import as_size
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from . import promotion as p
from .arguments import dims_of, extend, size_of, skips
from .reductions import complex_products, constant_at_ends, without_nan
from .types import Array, ArrayLike, Dims


@op
def cumsum(
    x: ArrayLike, /, dim: Dims = None, *, reverse: bool = False, exclusive: bool = False, skipna: bool | None = None
) -> Array:
    """Returns the running sum along `dim`, with the dims of `x`.

    `dim` is one name, or several that are scanned in turn; None is all dims.
    `reverse` starts at the last element. `exclusive` leaves out the element's own value and starts with 0.
    Integers and bools widen to 64 bits. `skipna=True` counts NaN as 0.

    Raises:
        DimensionError: `x` does not have `dim`.

    Example:
    >>> xt.cumsum(xt.array([1, 2, 3, 4], "time"), "time", exclusive=True)
    <xtensor.Array (time: 4) int64>
    [0 1 3 6]
    """
    x = as_tracer(x)
    dims, skipna = dims_of("cumsum", x, dim), skips("cumsum", skipna)
    y = without_nan(p.cast(x, p.sum_dtype(x.dtype)), 0, skipna)
    for d in dims:
        y = build.cumulative("sum", y, d, reverse=reverse, exclusive=exclusive)
    return y


@op
def cumprod(
    x: ArrayLike, /, dim: Dims = None, *, reverse: bool = False, exclusive: bool = False, skipna: bool | None = None
) -> Array:
    """Returns the running product along `dim`, with the dims of `x`.

    `dim` is one name, or several that are scanned in turn; None is all dims.
    `reverse` starts at the last element. `exclusive` leaves out the element's own value and starts with 1.
    Integers and bools widen to 64 bits. `skipna=True` counts NaN as 1. Derivatives are exact at 0.

    Raises:
        DimensionError: `x` does not have `dim`.

    Example:
    >>> xt.cumprod(xt.array([1, 2, 3, 4], "time"), "time")
    <xtensor.Array (time: 4) int64>
    [ 1  2  6 24]
    """
    x = as_tracer(x)
    dims, skipna = dims_of("cumprod", x, dim), skips("cumprod", skipna)
    y = without_nan(p.cast(x, p.sum_dtype(x.dtype)), 1, skipna)
    for d in dims:
        if p.is_complex(y.dtype):
            y = complex_products(y, d, reverse, exclusive)[1]
        else:
            y = build.cumulative("prod", y, d, reverse=reverse, exclusive=exclusive)
    return y


def _extremum(name: str, kind: str, x: Tracer, dim: Dims, reverse: bool, exclusive: bool) -> Tracer:
    dims = dims_of(name, x, dim)
    p.only_real(name, x)
    y = p.cast(x, np.dtype("u1")) if x.dtype == p.BOOL else x
    for d in dims:
        y = build.cumulative(kind, y, d, reverse=reverse, exclusive=exclusive)
    return p.as_bool(y) if x.dtype == p.BOOL else y


@op
def cummax(x: ArrayLike, /, dim: Dims = None, *, reverse: bool = False, exclusive: bool = False) -> Array:
    """Returns the running maximum along `dim`, with the dims and dtype of `x`.

    `dim` is one name, or several that are scanned in turn; None is all dims. `reverse` starts at the last element.
    `exclusive` leaves out the element's own value and starts with -inf, or the lowest integer. NaN, once met,
    stays. At a tie, the latest element in scan order gets the whole gradient.

    Raises:
        DimensionError: `x` does not have `dim`.
        DTypeError: `x` is complex.

    Example:
    >>> xt.cummax(xt.array([1, 3, 2, 4], "time"), "time")
    <xtensor.Array (time: 4) int64>
    [1 3 3 4]
    """
    return _extremum("cummax", "max", as_tracer(x), dim, reverse, exclusive)


@op
def cummin(x: ArrayLike, /, dim: Dims = None, *, reverse: bool = False, exclusive: bool = False) -> Array:
    """Returns the running minimum along `dim`, with the dims and dtype of `x`.

    `dim` is one name, or several that are scanned in turn; None is all dims.
    `reverse` starts at the last element. `exclusive` leaves out the element's own value and starts with inf, or the
    highest integer. NaN, once met, stays. At a tie, the latest element in scan order gets the whole gradient.

    Raises:
        DimensionError: `x` does not have `dim`.
        DTypeError: `x` is complex.

    Example:
    >>> xt.cummin(xt.array([3, 4, 1, 2], "time"), "time")
    <xtensor.Array (time: 4) int64>
    [3 3 1 1]
    """
    return _extremum("cummin", "min", as_tracer(x), dim, reverse, exclusive)


@op
def cumlogsumexp(x: ArrayLike, /, dim: Dims = None, *, reverse: bool = False, exclusive: bool = False) -> Array:
    """Returns log(cumsum(exp(x))) along `dim` without overflow, with the dims of `x`.

    `dim` is one name, or several that are scanned in turn; None is all dims.
    `reverse` starts at the last element. `exclusive` leaves out the element's own value and starts with -inf.
    The result is -inf as long as all elements are -inf.

    Raises:
        DimensionError: `x` does not have `dim`.
        DTypeError: `x` is complex.

    Example:
    >>> xt.cumlogsumexp(xt.array([800.0, 800.0], "time"), "time")
    <xtensor.Array (time: 2) float64>
    [800.         800.69314718]
    """
    x = p.as_float(x)
    p.only_real("cumlogsumexp", x)
    y = p.cast(x, p.accumulator(x.dtype))
    for d in dims_of("cumlogsumexp", x, dim):
        y = _running_log_sum(y, d, reverse, exclusive)
    return p.cast(y, x.dtype)


def _running_log_sum(x: Tracer, dim: str, reverse: bool, exclusive: bool) -> Tracer:
    """The sum is kept relative to the running maximum: s[t] = exp(m[t - 1] - m[t]) s[t - 1] + exp(x[t] - m[t]).

    No weight is above 1, and the maximum needs no derivative: the result does not depend on it.
    """
    zero = p.zero(x.dtype)

    def finite(m: Tracer) -> Tracer:
        return build.select(build.unary("isfinite", m), m, zero)

    m = finite(build.cumulative("max", build.stop_gradient(x), dim, reverse=reverse, exclusive=False))
    past = build.cumulative("max", x, dim, reverse=reverse, exclusive=True)
    before = build.stop_gradient(past)
    decay = build.unary("exp", build.binary("minimum", build.binary("sub", before, m), zero))
    weight = build.unary("exp", build.binary("sub", x, m))
    total = build.recurrence(decay, weight, dim, reverse=reverse, exclusive=exclusive)
    log = constant_at_ends(total, lambda total: build.unary("log", total))
    y = build.binary("add", log, finite(before) if exclusive else m)
    # The log of one exponential is that element itself, so the derivative is 1 at infinities, too.
    size, skipped = size_of(x, dim), int(exclusive)
    at = p.constant(skipped, p.I8)
    if reverse:
        at = build.binary("sub", as_size(size, dim), p.constant(1 + skipped, p.I8))
    of_one = build.compare("eq", build.iota(dim, size), at)
    of_one = extend(of_one, {d: size_of(x, d) for d in x.dims}, x.dims)
    return build.select(of_one, past if exclusive else x, y)
