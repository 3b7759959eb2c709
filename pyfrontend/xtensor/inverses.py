"""Inverses of the incomplete gamma and beta functions: numbers at which a distribution function has a given value.

Let U be the logarithm of a gamma number, or log(x / (1 - x)) of a beta number x. The density of U is log-concave, so
the logarithms of its distribution function and of 1 less that are concave. Halley's method finds the u at which one of
them has its value. An interval around u guards its steps.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .base.dtypes import finfo
from .call.dispatch import op
from .ops import promotion as p
from .ops.operators import aligned
from .ops.special import betaln
from .ops.types import Array, ArrayLike
from .trace import build
from .trace.control import while_loop
from .trace.lift import as_tracer
from .trace.tracer import Tracer
from .transforms.custom import custom_derivative

_MOST_STEPS = 100
# A step triples the digits: after one of this size, in units of the cube root of epsilon, all are there.
_LAST_STEP = 1 / 16


@op(joins=True)
def gammaincinv(a: ArrayLike, p: ArrayLike, /) -> Array:
    """Returns the number x at which gammainc(a, x) is `p`, with the union of the dims; NaN if `p` is not in [0, 1].

    That is a quantile of the gamma distribution of shape `a`. Derivatives are of both, of every order: by `a` up to the
    eighth.

    Raises:
        DTypeError: an array is complex.
        SizeError: a dim has two sizes.

    Example:
    >>> xt.gammaincinv(2.0, xt.array([0.0, 0.5], "i"))
    <xtensor.Array (i: 2) float64>
    [0.         1.67834699]
    """
    return _of_floats("gammaincinv", _gamma_lower, a, p)


@op(joins=True)
def gammainccinv(a: ArrayLike, q: ArrayLike, /) -> Array:
    """Returns the number x at which gammaincc(a, x) is `q`, accurate also for small `q`, with the union of the dims.

    It is gammaincinv(a, 1 - q), and NaN if `q` is not in [0, 1].

    Raises:
        DTypeError: an array is complex.
        SizeError: a dim has two sizes.

    Example:
    >>> xt.gammainccinv(2.0, xt.array([1.0, 1e-20], "i"))
    <xtensor.Array (i: 2) float64>
    [ 0.         49.98319799]
    """
    return _of_floats("gammainccinv", _gamma_upper, a, q)


@op(joins=True)
def betaincinv(a: ArrayLike, b: ArrayLike, p: ArrayLike, /) -> Array:
    """Returns the number x at which betainc(a, b, x) is `p`, with the union of the dims; NaN if `p` is not in [0, 1].

    That is a quantile of the beta distribution. Derivatives are of all three, of every order: by `a` and `b` up to the
    eighth.

    Raises:
        DTypeError: an array is complex.
        SizeError: a dim has two sizes.

    Example:
    >>> xt.betaincinv(2.0, 3.0, xt.array([0.6875, 1.0], "i"))
    <xtensor.Array (i: 2) float64>
    [0.5 1. ]
    """
    return _of_floats("betaincinv", _beta, a, b, p)


def _of_floats(name: str, inverse: Callable[..., Any], *xs: ArrayLike) -> Tracer:
    def whole(*xs: Tracer) -> Tracer:
        # Each operand with all dims: the loop carries them.
        everything = functools.reduce(lambda x, y: build.binary("add", x, y), xs)
        zero = build.select(build.compare("eq", everything, everything), *(p.constant(0, xs[0].dtype),) * 2)
        found: Tracer = inverse(*(build.binary("add", x, zero) for x in xs))
        return found

    return p.rounded_once(whole, *aligned(name, *p.promote_float(*xs)))


# -- derivatives ------------------------------------------------------------------------------------------------------


def _moved(x: Tracer, rises: Any, density: Tracer, *by: tuple[Tracer, Any]) -> Tracer:
    """The tangent of `x` at which a distribution function has a value with the tangent `rises`. by: its derivatives
    with respect to parameters, and the tangents of these. At the ends, `x` does not move with the parameters."""
    inside = build.binary("and", build.compare("gt", density, p.zero(x.dtype)), _is_finite(x))
    inverse = 1.0 / density
    steady = build.select(inside, inverse, p.zero(x.dtype))
    moved = build.binary("scale", inverse, as_tracer(rises))
    for slope, tangent in by:
        slope = build.select(inside, slope, p.zero(x.dtype))
        moved = moved - slope * steady * as_tracer(tangent)
    return moved


@custom_derivative
def _gamma_lower(a: Tracer, q: Tracer) -> Tracer:
    return _gamma_quantile(a, q, 1.0 - q)


@_gamma_lower.defpushforward
def _gamma_lower_moved(primals: tuple[Tracer, Tracer], tangents: tuple[Any, Any]) -> tuple[Tracer, Tracer]:
    x = _gamma_lower(*primals)
    return x, _gamma_moved(x, primals[0], tangents[1], tangents[0])


@custom_derivative
def _gamma_upper(a: Tracer, q: Tracer) -> Tracer:
    return _gamma_quantile(a, 1.0 - q, q)


@_gamma_upper.defpushforward
def _gamma_upper_moved(primals: tuple[Tracer, Tracer], tangents: tuple[Any, Any]) -> tuple[Tracer, Tracer]:
    x = _gamma_upper(*primals)
    return x, _gamma_moved(x, primals[0], -as_tracer(tangents[1]), tangents[0])


def _gamma_moved(x: Tracer, a: Tracer, rises: Any, da: Any) -> Tracer:
    density = build.function("gamma_density_by_a", _order(0, x), a, x)
    return _moved(x, rises, density, (build.function("gammainc_by_a", _order(1, x), a, x), da))


@custom_derivative
def _beta(a: Tracer, b: Tracer, q: Tracer) -> Tracer:
    return _beta_quantile(a, b, q)


@_beta.defpushforward
def _beta_moved(primals: tuple[Tracer, ...], tangents: tuple[Any, ...]) -> tuple[Tracer, Tracer]:
    x = _beta(*primals)
    a, b, _ = primals
    none, one = _order(0, x), _order(1, x)
    by_a, by_b = (build.function("betainc_by", m, n, a, b, x) for m, n in ((one, none), (none, one)))
    density = build.function("beta_density_by", none, none, a, b, x)
    return x, _moved(x, tangents[2], density, (by_a, tangents[0]), (by_b, tangents[1]))


def _order(n: int, x: Tracer) -> Tracer:
    return p.constant(n, x.dtype)


# -- values -----------------------------------------------------------------------------------------------------------


def _log(x: Tracer) -> Tracer:
    return build.unary("log", x)


def _both(*conditions: Tracer) -> Tracer:
    return functools.reduce(lambda x, y: build.binary("and", x, y), conditions)


def _is_finite(x: Tracer) -> Tracer:
    return p.less(build.unary("abs", x), math.inf)


def _between(x: Tracer, end: float) -> Tracer:
    """Whether 0 < x < end."""
    return _both(p.less(p.zero(x.dtype), x), p.less(x, end))


def _normal_quantile(share: Tracer) -> Tracer:
    return build.unary("erfcinv", share * 2.0) * -math.sqrt(2)


def _solved(
    start: Tracer,
    moves: Tracer,
    low: Tracer,
    high: Tracer,
    last: Tracer,
    excess: Callable[[Tracer], tuple[Tracer, ...]],
) -> Tracer:
    """The u from `low` to `high` at which `excess` rises through 0. It gives the excess, its slope, and the second
    derivative over the slope. Only elements in `moves` are moved. last: one that has moved by less does not move
    again."""
    dtype, eps = start.dtype, float(finfo(start.dtype).eps)

    def goes_on(carry: Any) -> Tracer:
        return build.reduce("any", carry[3], carry[3].dims)

    def step(carry: Any) -> Any:
        u, low, high, moves = carry
        over, slope, bend = excess(u)
        rises = p.less(over, 0.0)
        low, high = p.where(rises, u, low, dtype), p.where(rises, high, u, dtype)
        newton = over / slope
        halley = build.binary("maximum", 1.0 - newton * bend * 0.5, p.constant(0.5, dtype))
        new = u - newton / build.binary("minimum", halley, p.constant(2.0, dtype))
        inside = _both(build.compare("le", low, new), build.compare("le", new, high))
        new = build.select(inside, new, (low + high) * 0.5)
        # What rounding of the probability and of u makes of a step.
        noise = p.where(inside, 16 * eps / slope, 0.0, dtype) + build.unary("abs", u) * (4 * eps)
        far = p.less(last + noise, build.unary("abs", new - u))
        return p.where(moves, new, u, dtype), low, high, _both(moves, far)

    start = build.binary("maximum", build.binary("minimum", start, high), low)
    carry = start, low + start * 0.0, high + start * 0.0, moves
    found: Tracer = while_loop(goes_on, step, carry, _MOST_STEPS)[0]
    return found


def _least_log(dtype: np.dtype) -> float:
    """The logarithm of the smallest number."""
    return (finfo(dtype).minexp - finfo(dtype).nmant) * math.log(2)


def _last_step(largest: Tracer) -> Tracer:
    """For a density whose largest parameter is this: its width is about 1 / sqrt(largest)."""
    return build.unary("rsqrt", largest + 1.0) * (_LAST_STEP * math.cbrt(float(finfo(largest.dtype).eps)))


def _gamma_quantile(a: Tracer, below: Tracer, above: Tracer) -> Tracer:
    """Where the gamma distribution of shape `a` has the probabilities `below` and `above`, which are 1 together."""
    dtype = a.dtype
    known = _both(_between(a, math.inf), _between(below, math.inf), _between(above, math.inf))
    # Elements that have other results are 1, whose loop is short.
    shape, lower = p.where(known, a, 1.0, dtype), p.where(known, below, 0.5, dtype)
    upper = p.where(known, above, 0.5, dtype)
    is_low = build.compare("le", lower, upper)
    smaller = build.binary("minimum", lower, upper)
    logarithm = _log(smaller)

    # P < x^a / gamma(a + 1). Above: P(X > a + sqrt(2 a t) + t) < exp(-t), of Boucheron, Lugosi and Massart (2013).
    of_power = p.where(is_low, logarithm, build.unary("log1p", -upper), dtype) + build.unary("lgamma", shape + 1.0)
    of_power = of_power / shape
    tail = p.where(is_low, math.log(2), -logarithm, dtype)
    high = _log(shape + build.unary("sqrt", 2.0 * shape * tail) + tail) + 0.01
    low = p.constant(_least_log(dtype), dtype)
    # Wilson and Hilferty (1931): the cube root of a gamma number is almost normal.
    normal = _normal_quantile(smaller)
    root = build.unary("rsqrt", shape) * (1 / 3)
    cube = 1.0 - root * root + root * p.where(is_low, normal, -normal, dtype)
    is_normal = p.less(p.constant(0.1, dtype), cube)
    start = p.where(is_normal, _log(shape) + 3.0 * _log(p.where(is_normal, cube, 1.0, dtype)), of_power, dtype)

    def excess(u: Tracer) -> tuple[Tracer, ...]:
        x = build.unary("exp", u)
        ratio = build.select(is_low, build.binary("gammainc", shape, x), build.binary("gammaincc", shape, x))
        density = build.function("gamma_density_by_a", _order(0, x), shape, x)
        over, slope = _log(ratio) - logarithm, x * density / ratio
        return p.where(is_low, over, -over, dtype), slope, shape - x + p.where(is_low, -slope, slope, dtype)

    tiny = p.less(of_power, math.log(finfo(dtype).eps) - 4.0)  # there, P is that power
    u = _solved(start, _both(known, build.unary("not", tiny)), low, high, _last_step(shape), excess)
    x = build.unary("exp", p.where(tiny, of_power, u, dtype))
    valid = _both(
        build.compare("ge", a, p.zero(dtype)), *(build.compare("ge", v, p.zero(dtype)) for v in (below, above))
    )
    none, all_ = (build.compare("eq", v, p.zero(dtype)) for v in (below, above))
    edge = p.where(_both(valid, none), 0.0, p.where(_both(valid, all_), math.inf, math.nan, dtype), dtype)
    return build.select(known, x, edge)


def _beta_quantile(a: Tracer, b: Tracer, below: Tracer) -> Tracer:
    """Where the beta distribution has the probability `below`."""
    dtype = a.dtype
    above = 1.0 - below
    known = _both(_between(a, math.inf), _between(b, math.inf), _between(below, 1.0))
    a_, b_, lower = p.where(known, a, 1.0, dtype), p.where(known, b, 1.0, dtype), p.where(known, below, 0.5, dtype)
    # Of 1 - x, the parameters are the other way around: where x is above 1/2, and 1 - p has the digits of p.
    middle = build.function("betainc", a_, b_, p.constant(0.5, dtype))
    is_low = build.compare("le", lower, build.binary("maximum", middle, p.constant(0.05, dtype)))
    first, second = build.select(is_low, a_, b_), build.select(is_low, b_, a_)
    share = build.select(is_low, lower, 1.0 - lower)
    logarithm = _log(share)
    of_power = (logarithm + _log(first) + betaln(first, second)) / first  # I = x^a / (a B(a, b)) (1 + ..)
    low = p.constant(_least_log(dtype), dtype)
    high = p.constant(-math.log(finfo(dtype).eps) + 2.0, dtype)
    start = _beta_start(first, second, share, of_power)

    def excess(u: Tracer) -> tuple[Tracer, ...]:
        x, rest = _share(u), _share(-u)
        ratio = build.function("betainc", first, second, x)
        density = build.function("beta_density_by", _order(0, x), _order(0, x), first, second, x)
        slope = x * rest * density / ratio
        return _log(ratio) - logarithm, slope, first * rest - second * x - slope

    tiny = p.less(of_power + _log(second + 1.0), math.log(finfo(dtype).eps) - 4.0)
    moves = _both(known, build.unary("not", tiny))
    last = _last_step(build.binary("maximum", first, second))
    u = build.select(tiny, of_power, _solved(start, moves, low, high, last, excess))
    x = _share(p.where(is_low, u, -u, dtype))
    valid = _both(*(p.less(p.zero(dtype), v) for v in (a, b)))
    none, all_ = (build.compare("eq", v, p.zero(dtype)) for v in (below, above))
    # Where one parameter is infinite, x has one value.
    inside = _both(valid, _between(below, 1.0))
    at_0, at_1 = (_both(inside, _is_finite(v), build.unary("isinf", w)) for v, w in ((a, b), (b, a)))
    none, all_ = (build.binary("or", _both(valid, u), v) for u, v in ((none, at_0), (all_, at_1)))
    return build.select(known, x, p.where(none, 0.0, p.where(all_, 1.0, math.nan, dtype), dtype))


def _share(u: Tracer) -> Tracer:
    """The x whose log(x / (1 - x)) is `u`."""
    small = build.unary("exp", -build.unary("abs", u))
    return p.where(p.less(u, 0.0), small, 1.0, u.dtype) / (1.0 + small)


def _beta_start(a: Tracer, b: Tracer, share: Tracer, of_power: Tracer) -> Tracer:
    """An approximation of log(x / (1 - x)): by a normal number if both parameters are above 1 (Abramowitz and Stegun
    26.5.22), else by the power of x near 0."""
    dtype = a.dtype
    regular = _both(*(p.less(p.constant(1.0, dtype), v) for v in (a, b)))
    y = -_normal_quantile(share)
    r, s = (1.0 / (2.0 * p.where(regular, v, 2.0, dtype) - 1.0) for v in (a, b))
    mean = 2.0 / (r + s)
    bend = (y * y - 3.0) * (1 / 6)
    w = y * build.unary("sqrt", build.binary("maximum", mean + bend, p.zero(dtype))) / mean
    w = w - (s - r) * (bend + 5 / 6 - 2.0 / (3.0 * mean))
    logarithm = build.binary("minimum", of_power, p.constant(-1e-3, dtype))  # of x
    near = logarithm - _log(-build.unary("expm1", logarithm))
    return build.select(regular, _log(a / b) - 2.0 * w, near)
