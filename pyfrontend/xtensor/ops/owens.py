"""Owen's T function: a probability of two normal variables, as an integral of known length."""

from __future__ import annotations

import math

import numpy as np

from ..call.dispatch import op
from ..trace import build
from ..trace.tracer import Tracer
from . import promotion as p
from .operators import aligned
from .types import Array, ArrayLike

# The rule of Gauss and Legendre on [0, 1]. What it integrates is a Gaussian up to 9.5 standard deviations, at most.
_POINTS, _WEIGHTS = ((v + shift) / 2 for v, shift in zip(np.polynomial.legendre.leggauss(32), (1, 0), strict=True))
_FAR = 9.5
_NOTHING = 60.0  # from this h on, the function is 0
_NODE = "node~"  # the dim of the points


@op(joins=True)
def owens_t(h: ArrayLike, a: ArrayLike, /) -> Array:
    """Returns Owen's T function of `h` and `a`, with the union of the dims.

    That is the probability that X > h and 0 < Y < a X for independent standard normal X and Y, where `a` is not
    negative. It is odd in `a`, and even in `h`. Definition: Owen (1956), equation 2.1. For abs(a) > 1, it follows from
    the value at 1 / a (equation 2.3).

    Raises:
        DTypeError: an array is complex.
        SizeError: a dim has two sizes.

    Example:
    >>> xt.owens_t(xt.array([0.0, 1.0], "i"), 0.5)
    <xtensor.Array (i: 2) float64>
    [0.07379181 0.04306469]
    """
    return p.rounded_once(_owens_t, *aligned("owens_t", *p.promote_float(h, a)))


def _owens_t(h: Tracer, a: Tracer) -> Tracer:
    one, half, nought, most = (p.constant(v, h.dtype) for v in (1.0, 0.5, 0.0, 1e30))
    h = build.binary("minimum", build.unary("abs", h), p.constant(_NOTHING, h.dtype))
    is_steep = build.compare("gt", build.unary("abs", a), one)
    steep = build.select(is_steep, a, one)
    # An infinite slope would give derivatives that are not numbers.
    scaled = build.binary("mul", h, build.binary("minimum", build.unary("abs", steep), most))
    flat = build.select(is_steep, nought, a)
    integral = _integral(
        build.select(is_steep, scaled, h), build.select(is_steep, build.binary("div", one, steep), flat)
    )
    # With Q = 1 - ndtr: Q(h) / 2 + Q(a h) (1 - 2 Q(h)) / 2, whose last factor is an erf.
    near, far = (build.unary("ndtr", build.unary("neg", z)) for z in (h, scaled))
    between = build.unary("erf", build.binary("mul", h, p.constant(math.sqrt(0.5), h.dtype)))
    both = build.binary("mul", build.binary("add", near, build.binary("mul", far, between)), half)
    both = build.binary("mul", both, build.unary("sign", steep))
    return build.select(is_steep, build.binary("sub", both, integral), integral)


def _integral(h: Tracer, a: Tracer) -> Tracer:
    """The function itself for a from -1 to 1: an integral from 0 to `a`, or to where there is nothing more."""
    dtype = h.dtype

    def times(x: Tracer, y: Tracer | float) -> Tracer:
        return build.binary("mul", x, p.cast(y, dtype))

    h = build.binary("minimum", h, p.constant(_NOTHING, dtype))
    # For small h, it is above 1: at a tie, a derivative would be halved.
    end = build.binary("div", p.constant(_FAR, dtype), build.binary("maximum", h, p.constant(9.0, dtype)))
    b = build.binary("maximum", build.binary("minimum", a, end), build.unary("neg", end))
    x = build.binary("mul", b, build.constant(_POINTS, (_NODE,), dtype))
    square, along = times(x, x), times(h, x)
    top = times(build.unary("exp", times(times(along, along), -0.5)), build.constant(_WEIGHTS, (_NODE,), dtype))
    bottom = build.binary("add", square, p.constant(1.0, dtype))
    total = build.reduce("sum", build.binary("div", top, bottom), [_NODE])
    return times(times(times(total, b), build.unary("exp", times(times(h, h), -0.5))), 0.5 / math.pi)
