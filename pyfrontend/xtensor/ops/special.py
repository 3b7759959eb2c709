"""Special functions, element by element: of probabilities, entropies, and what else SciPy's `special` has.

Each is a composition of ops in a form that keeps its digits. A branch that is not taken gets an argument at which its
derivatives are finite: zero times an infinite one would be NaN.
"""

from __future__ import annotations

import math

import numpy as np

from ..call.dispatch import op
from ..trace import build
from ..trace.tracer import Tracer
from . import promotion as p
from .elementwise import half_corrected
from .operators import aligned
from .types import Array, ArrayLike


def _add(x: Tracer, y: Tracer | float) -> Tracer:
    return build.binary("add", x, p.cast(y, x.dtype))


def _mul(x: Tracer, y: Tracer | float) -> Tracer:
    return build.binary("mul", x, p.cast(y, x.dtype))


def _where(condition: Tracer, x: Tracer | float, y: Tracer | float, dtype: np.dtype) -> Tracer:
    return build.select(condition, p.cast(x, dtype), p.cast(y, dtype))


def _less(x: Tracer, bound: float) -> Tracer:
    return build.compare("lt", x, p.constant(bound, x.dtype))


@op
def logit(x: ArrayLike, /) -> Array:
    """log(x / (1 - x)), exact near 1/2 and at both ends, NaN outside of [0, 1]: the dims of `x`."""
    return p.rounded_once(_logit, p.as_float(x))


def _logit(x: Tracer) -> Tracer:
    center = _less(build.unary("abs", _add(x, -0.5)), 0.2)
    middle = _where(center, x, 0.5, x.dtype)
    rest = _add(build.unary("neg", middle), 1.0)
    near = build.unary("log1p", build.binary("div", _add(_mul(middle, 2.0), -1.0), rest))
    x = _where(center, 0.25, x, x.dtype)
    far = build.binary("sub", build.unary("log", x), build.unary("log1p", build.unary("neg", x)))
    return build.select(center, near, far)


@op
def sinc(x: ArrayLike, /) -> Array:
    """sin(pi x) / (pi x), 1 at 0, as NumPy's: the dims of `x`. Derivatives of every order are exact at 0."""
    return p.rounded_once(_sinc, p.as_float(x))


def _sinc(x: Tracer) -> Tracer:
    small = _less(build.unary("abs", x), 0.25)
    square = _where(small, x, 0.0, x.dtype)
    square = _mul(_mul(square, square), math.pi**2)
    series = p.constant(1.0, x.dtype)
    for k in range(18, 0, -2):
        series = _add(_mul(build.binary("mul", square, series), -1.0 / (k * (k + 1))), 1.0)
    x = _where(small, 0.5, x, x.dtype)
    # x less the nearest integer: its sine has all digits.
    turns = build.unary("round", x)
    odd = build.binary("sub", turns, _mul(build.unary("floor", _mul(turns, 0.5)), 2.0))
    sine = build.unary("sin", _mul(build.binary("sub", x, turns), math.pi))
    wave = build.binary("div", build.binary("mul", sine, _add(_mul(odd, -2.0), 1.0)), _mul(x, math.pi))
    infinite = build.unary("isinf", x)
    return build.select(small, series, _where(infinite, 0.0, wave, x.dtype))


@op
def entr(x: ArrayLike, /) -> Array:
    """-x log(x), 0 at 0 and -inf below: the dims of `x`."""
    return p.rounded_once(_entr, p.as_float(x))


def _entr(x: Tracer) -> Tracer:
    below = _less(x, 0.0)
    logarithm = build.unary("log", _where(below, 1.0, x, x.dtype))
    return _where(below, -np.inf, build.unary("neg", build.binary("scale", logarithm, x)), x.dtype)


def _times_log(name: str, x: Tracer, y: Tracer) -> Tracer:
    """x name(y), 0 where x is 0 and y is a number."""
    number = build.compare("eq", y, y)
    dead = build.binary("and", build.compare("eq", x, p.zero(x.dtype)), number)
    product = build.binary("scale", build.unary(name, _where(dead, 1.0, y, x.dtype)), x)
    # NaN in `x` is in the product; its dims come first.
    return build.select(build.binary("or", build.compare("ne", x, x), number), product, y)


@op(joins=True)
def xlogy(x: ArrayLike, y: ArrayLike, /) -> Array:
    """x log(y), 0 where x is 0 and y is not NaN. The result has the union of the dims."""
    return p.rounded_once(lambda x, y: _times_log("log", x, y), *aligned("xlogy", *p.promote_float(x, y)))


@op(joins=True)
def xlog1py(x: ArrayLike, y: ArrayLike, /) -> Array:
    """x log(1 + y), 0 where x is 0 and y is not NaN. The result has the union of the dims."""
    return p.rounded_once(lambda x, y: _times_log("log1p", x, y), *aligned("xlog1py", *p.promote_float(x, y)))


@op(joins=True)
def kl_div(x: ArrayLike, y: ArrayLike, /) -> Array:
    """x log(x / y) - x + y, y where x is 0, and inf where one is negative or y alone is 0. The result has the union of
    the dims. Summed, it is the divergence of Kullback and Leibler."""
    return p.rounded_once(_kl_div, *aligned("kl_div", *p.promote_float(x, y)))


def _kl_div(x: Tracer, y: Tracer) -> Tracer:
    nought, dtype = p.zero(x.dtype), x.dtype
    alive = build.binary("and", build.compare("gt", x, nought), build.compare("gt", y, nought))
    number = build.binary("and", build.compare("eq", x, x), build.compare("eq", y, y))
    at_zero = build.binary("and", build.compare("eq", x, nought), build.compare("ge", y, nought))
    ratio = build.binary("div", _where(alive, x, 1.0, dtype), _where(alive, y, 1.0, dtype))
    regular = build.binary("add", build.binary("sub", _mul(build.unary("log", ratio), x), x), y)
    edge = _where(at_zero, y, np.inf, dtype)
    return build.select(alive, regular, _where(number, edge, build.binary("add", x, y), dtype))


@op
def ndtr(x: ArrayLike, /) -> Array:
    """The standard normal distribution function, exact in both tails: the dims of `x`."""
    x = p.as_float(x)
    is_exact = x.dtype.itemsize > 2

    def area(x: Tracer) -> Tracer:
        z = _mul(x, -math.sqrt(0.5))
        left = _where(_less(x, 0.0), build.binary("maximum", x, p.constant(-50, x.dtype)), 0.0, x.dtype)
        half = half_corrected(left, _mul(left, -math.sqrt(0.5))) if is_exact else p.constant(0.5, x.dtype)
        return build.binary("mul", build.unary("erfc", z), half)

    return p.rounded_once(area, x)
