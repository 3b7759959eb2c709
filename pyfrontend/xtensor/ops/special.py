"""Special functions, element by element: of probabilities, entropies, and what else SciPy's `special` has.

Each is a composition of ops in a form that keeps its digits. A branch that is not taken gets an argument at which its
derivatives are finite: zero times an infinite one would be NaN.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from ..base.dtypes import finfo
from ..base.errors import ArgumentError
from ..call.dispatch import op
from ..trace import build
from ..trace.tracer import Tracer
from . import promotion as p
from .arguments import fail, integer
from .elementwise import float_function
from .operators import aligned
from .types import Array, ArrayLike

digamma = float_function(
    "digamma",
    "the derivative of lgamma at each element, NaN at negative integers",
    "[1.0, 2.0]",
    "[-0.57721566 0.42278434]",
    real=True,
)
erfcinv = float_function(
    "erfcinv", "the number whose erfc is x, for each element x from 0 to 2", "[1.0, 0.5]", "[0. 0.47693628]", real=True
)
erfcx = float_function(
    "erfcx", "`exp(x**2)` times erfc(x) of each element, without underflow", "[0.0, 30.0]", "[1. 0.01879589]", real=True
)
erfinv = float_function(
    "erfinv", "the number whose erf is x, for each element x from -1 to 1", "[0.0, 0.5]", "[0. 0.47693628]", real=True
)
i0 = float_function(
    "i0", "the modified Bessel function of order 0 of each element", "[0.0, 1.0]", "[1. 1.26606588]", real=True
)
i0e = float_function("i0e", "exp(-abs(x)) times i0(x) of each element", "[0.0, 1.0]", "[1. 0.46575961]", real=True)
i1 = float_function(
    "i1", "the modified Bessel function of order 1 of each element", "[0.0, 1.0]", "[0. 0.5651591]", real=True
)
i1e = float_function("i1e", "exp(-abs(x)) times i1(x) of each element", "[0.0, 1.0]", "[0. 0.20791042]", real=True)
j0 = float_function(
    "j0", "the Bessel function of the first kind of order 0 of each element", "[0.0, 1.0]", "[1. 0.76519769]", real=True
)
j1 = float_function(
    "j1", "the Bessel function of the first kind of order 1 of each element", "[0.0, 1.0]", "[0. 0.44005059]", real=True
)
lgamma = float_function(
    "lgamma",
    "the logarithm of the magnitude of the gamma function of each element",
    "[1.0, 5.0]",
    "[0. 3.17805383]",
    real=True,
)
ndtr = float_function(
    "ndtr",
    "the standard normal distribution function at each element, accurate in both tails",
    "[0.0, 1.96]",
    "[0.5       0.9750021]",
    real=True,
)
y0 = float_function(
    "y0",
    "the Bessel function of the second kind of order 0 of each element, NaN below 0",
    "[1.0, 2.0]",
    "[0.08825696 0.51037567]",
    real=True,
)
y1 = float_function(
    "y1",
    "the Bessel function of the second kind of order 1 of each element, NaN below 0",
    "[1.0, 2.0]",
    "[-0.78121282 -0.10703243]",
    real=True,
)


@op
def polygamma(n: int, x: ArrayLike, /) -> Array:
    """Returns the derivative of order `n` of digamma, with the dims of `x`; `n` is an int from 0 to 20.

    Raises:
        ArgumentError: `n` is not in 0 to 20.
        DTypeError: `x` is complex.

    Example:
    >>> xt.polygamma(1, xt.array([1.0, 2.0], "i"))
    <xtensor.Array (i: 2) float64>
    [1.64493407 0.64493407]
    """
    order = integer("polygamma", n, "n")
    x = p.as_float(x)
    if not 0 <= order <= 20:
        raise fail(ArgumentError, "polygamma", f"the order is an int from 0 to 20, not {order}", x)
    return build.binary("polygamma", p.constant(order, x.dtype), x) if order else build.unary("digamma", x)


def _add(x: Tracer, y: Tracer | float) -> Tracer:
    return build.binary("add", x, p.cast(y, x.dtype))


def _mul(x: Tracer, y: Tracer | float) -> Tracer:
    return build.binary("mul", x, p.cast(y, x.dtype))


def _odd(whole: Tracer) -> Tracer:
    """1 where an integer is odd, and 0 where it is even."""
    return build.binary("sub", whole, _mul(build.unary("floor", _mul(whole, 0.5)), 2.0))


@op
def logit(x: ArrayLike, /) -> Array:
    """Returns log(x / (1 - x)), accurate near 1/2 and at both ends, NaN outside of [0, 1], with the dims of `x`.

    Raises:
        DTypeError: `x` is complex.

    Example:
    >>> xt.logit(xt.array([0.5, 0.75], "i"))
    <xtensor.Array (i: 2) float64>
    [0.         1.09861229]
    """
    return p.rounded_once(_logit, p.as_float(x))


def _logit(x: Tracer) -> Tracer:
    center = p.less(build.unary("abs", _add(x, -0.5)), 0.2)
    middle = p.where(center, x, 0.5, x.dtype)
    rest = _add(build.unary("neg", middle), 1.0)
    near = build.unary("log1p", build.binary("div", _add(_mul(middle, 2.0), -1.0), rest))
    x = p.where(center, 0.25, x, x.dtype)
    far = build.binary("sub", build.unary("log", x), build.unary("log1p", build.unary("neg", x)))
    return build.select(center, near, far)


@op
def sinc(x: ArrayLike, /) -> Array:
    """Returns sin(pi x) / (pi x), which is 1 at 0, as in NumPy, with the dims of `x`.

    Derivatives of every order are exact at 0.

    Raises:
        DTypeError: `x` is complex.

    Example:
    >>> xt.sinc(xt.array([0.0, 0.5], "i"))
    <xtensor.Array (i: 2) float64>
    [1.         0.63661977]
    """
    return p.rounded_once(_sinc, p.as_float(x))


def _sinc(x: Tracer) -> Tracer:
    small = p.less(build.unary("abs", x), 0.25)
    square = p.where(small, x, 0.0, x.dtype)
    square = _mul(_mul(square, square), math.pi**2)
    series = p.constant(1.0, x.dtype)
    for k in range(18, 0, -2):
        series = _add(_mul(build.binary("mul", square, series), -1.0 / (k * (k + 1))), 1.0)
    x = p.where(small, 0.5, x, x.dtype)
    # x less the nearest integer: its sine has all digits.
    turns = build.unary("round", x)
    sine = build.unary("sin", _mul(build.binary("sub", x, turns), math.pi))
    wave = build.binary("div", build.binary("mul", sine, _add(_mul(_odd(turns), -2.0), 1.0)), _mul(x, math.pi))
    infinite = build.unary("isinf", x)
    return build.select(small, series, p.where(infinite, 0.0, wave, x.dtype))


@op
def entr(x: ArrayLike, /) -> Array:
    """Returns -x log(x), which is 0 at 0 and -inf below 0, with the dims of `x`.

    Raises:
        DTypeError: `x` is complex.

    Example:
    >>> xt.entr(xt.array([0.25, 0.5], "i"))
    <xtensor.Array (i: 2) float64>
    [0.34657359 0.34657359]
    """
    return p.rounded_once(_entr, p.as_float(x))


def _entr(x: Tracer) -> Tracer:
    below = p.less(x, 0.0)
    logarithm = build.unary("log", p.where(below, 1.0, x, x.dtype))
    return p.where(below, -np.inf, build.unary("neg", build.binary("scale", logarithm, x)), x.dtype)


def _times_log(name: str, x: Tracer, y: Tracer) -> Tracer:
    """x name(y), 0 where x is 0 and y is a number. Where x is 0, the derivative with respect to it is name(y), or 0
    where that is infinite or NaN, as in PyTorch."""
    number = build.compare("eq", y, y)
    least = p.constant(0.0 if name == "log" else -1.0, y.dtype)
    # Beside the greatest number, not infinity: LLVM would make one test of classes of both, of fifteen instructions.
    infinite = build.compare("gt", y, p.constant(np.finfo(y.dtype).max, y.dtype))
    dead = build.binary("or", build.compare("le", y, least), infinite)
    dead = build.binary("and", build.compare("eq", x, p.zero(x.dtype)), dead)
    product = build.binary("scale", build.unary(name, p.where(dead, 1.0 if name == "log" else 0.0, y, x.dtype)), x)
    # NaN in `x` is in the product; its dims come first.
    return build.select(build.binary("or", build.compare("ne", x, x), number), product, y)


@op(joins=True)
def xlogy(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Returns x log(y), which is 0 where x is 0 and y is not NaN. The result has the union of the dims.

    Raises:
        DTypeError: an array is complex.
        SizeError: a dim has two sizes.

    Example:
    >>> xt.xlogy(xt.array([0.0, 2.0], "i"), xt.array([0.0, 3.0], "i"))
    <xtensor.Array (i: 2) float64>
    [0.         2.19722458]
    """
    return p.rounded_once(lambda x, y: _times_log("log", x, y), *aligned("xlogy", *p.promote_float(x, y)))


@op(joins=True)
def xlog1py(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Returns x log(1 + y), which is 0 where x is 0 and y is not NaN. The result has the union of the dims.

    Raises:
        DTypeError: an array is complex.
        SizeError: a dim has two sizes.

    Example:
    >>> xt.xlog1py(xt.array([0.0, 2.0], "i"), xt.array([-1.0, 1.0], "i"))
    <xtensor.Array (i: 2) float64>
    [0.         1.38629436]
    """
    return p.rounded_once(lambda x, y: _times_log("log1p", x, y), *aligned("xlog1py", *p.promote_float(x, y)))


@op(joins=True)
def kl_div(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Returns x log(x / y) - x + y; y where x is 0, inf where one is negative or only y is 0.

    The result has the union of the dims. Its sum is the divergence of Kullback and Leibler.

    Raises:
        DTypeError: an array is complex.
        SizeError: a dim has two sizes.

    Example:
    >>> xt.kl_div(xt.array([0.5, 0.0], "i"), 0.25)
    <xtensor.Array (i: 2) float64>
    [0.09657359 0.25      ]
    """
    return p.rounded_once(_kl_div, *aligned("kl_div", *p.promote_float(x, y)))


def _kl_div(x: Tracer, y: Tracer) -> Tracer:
    nought, dtype = p.zero(x.dtype), x.dtype
    alive = build.binary("and", build.compare("gt", x, nought), build.compare("gt", y, nought))
    number = build.binary("and", build.compare("eq", x, x), build.compare("eq", y, y))
    at_zero = build.binary("and", build.compare("eq", x, nought), build.compare("ge", y, nought))
    above, below = p.where(alive, x, 1.0, dtype), p.where(alive, y, 1.0, dtype)
    size = build.unary("abs", build.binary("sub", *(build.unary("log2", v) for v in (above, below))))
    far = build.compare("gt", size, p.constant(-finfo(dtype).minexp - 1, dtype))  # the quotient would overflow
    quotient = build.unary("log", build.binary("div", *(p.where(far, 1.0, v, dtype) for v in (above, below))))
    apart = build.binary("sub", *(build.unary("log", p.where(far, v, 1.0, dtype)) for v in (above, below)))
    logarithm = build.select(far, apart, quotient)
    regular = build.binary("add", build.binary("sub", build.binary("mul", logarithm, x), x), y)
    edge = p.where(at_zero, y, np.inf, dtype)
    return build.select(alive, regular, p.where(number, edge, build.binary("add", x, y), dtype))


@op
def ndtri(x: ArrayLike, /) -> Array:
    """Returns the number whose ndtr is x, accurate in the left tail, NaN outside of [0, 1], with the dims of `x`.

    Raises:
        DTypeError: `x` is complex.

    Example:
    >>> xt.ndtri(xt.array([0.025, 0.975], "i"))
    <xtensor.Array (i: 2) float64>
    [-1.95996398  1.95996398]
    """
    return p.rounded_once(lambda x: _mul(build.unary("erfcinv", _mul(x, 2.0)), -math.sqrt(2)), p.as_float(x))


@op
def log_ndtr(x: ArrayLike, /) -> Array:
    """Returns log(ndtr(x)), accurate in both tails, with the dims of `x`.

    Raises:
        DTypeError: `x` is complex.

    Example:
    >>> xt.log_ndtr(xt.array([0.0, -40.0], "i"))
    <xtensor.Array (i: 2) float64>
    [-6.93147181e-01 -8.04608442e+02]
    """
    return p.rounded_once(_log_ndtr, p.as_float(x))


def _log_ndtr(x: Tracer) -> Tracer:
    left, far = p.less(x, 0.0), p.less(x, -1.5)
    near = p.where(far, -1.0, x, x.dtype)
    tail = build.unary("ndtr", build.select(left, near, build.unary("neg", near)))
    below = p.where(far, x, -2.0, x.dtype)
    scaled = _mul(build.unary("erfcx", _mul(below, -math.sqrt(0.5))), 0.5)
    logarithm = build.unary("log", build.select(far, scaled, p.where(left, tail, 0.5, x.dtype)))
    exponent = p.where(far, _mul(_mul(below, 0.5), below), 0.0, x.dtype)
    right = build.unary("log1p", build.unary("neg", tail))
    return build.select(left, build.binary("sub", logarithm, exponent), right)


@op(joins=True)
def betainc(a: ArrayLike, b: ArrayLike, x: ArrayLike, /) -> Array:
    """Returns the regularised incomplete beta function of `a` and `b` at `x`, with the union of the dims.

    That is the share of the beta distribution that lies below `x`, NaN where a parameter is negative or `x` is not in
    [0, 1]. Derivatives are of all three, of every order: by `a` and `b` up to the eighth. Definition: DLMF 8.17.2.

    Raises:
        DTypeError: an array is complex.
        SizeError: a dim has two sizes.

    Example:
    >>> xt.betainc(2.0, 3.0, xt.array([0.5, 1.0], "i"))
    <xtensor.Array (i: 2) float64>
    [0.6875 1.    ]
    """
    operands = aligned("betainc", *p.promote_float(a, b, x))
    return p.rounded_once(lambda a, b, x: build.function("betainc", a, b, x), *operands)


@op(joins=True)
def gammainc(a: ArrayLike, x: ArrayLike, /) -> Array:
    """Returns the regularised lower incomplete gamma function of order `a` at `x`, with the union of the dims.

    That is the share of the gamma distribution of shape `a` that lies below `x`, NaN where one is negative. Derivatives
    are of both, of every order: by `a` up to the eighth. Definition: DLMF 8.2.4.

    Raises:
        DTypeError: an array is complex.
        SizeError: a dim has two sizes.

    Example:
    >>> xt.gammainc(2.0, xt.array([0.0, 1.0], "i"))
    <xtensor.Array (i: 2) float64>
    [0.         0.26424112]
    """
    return p.rounded_once(lambda a, x: build.binary("gammainc", a, x), *aligned("gammainc", *p.promote_float(a, x)))


@op(joins=True)
def gammaincc(a: ArrayLike, x: ArrayLike, /) -> Array:
    """Returns 1 - gammainc(a, x), accurate also where that is small, with the union of the dims.

    Definition: DLMF 8.2.4.

    Raises:
        DTypeError: an array is complex.
        SizeError: a dim has two sizes.

    Example:
    >>> xt.gammaincc(2.0, xt.array([0.0, 1.0], "i"))
    <xtensor.Array (i: 2) float64>
    [1.         0.73575888]
    """
    return p.rounded_once(lambda a, x: build.binary("gammaincc", a, x), *aligned("gammaincc", *p.promote_float(a, x)))


@op(joins=True)
def betaln(a: ArrayLike, b: ArrayLike, /) -> Array:
    """Returns the logarithm of beta(a, b), of positive numbers, with the union of the dims.

    Large arguments are taken apart as in SLATEC's ALBETA (Fullerton, 1977): the logarithms of gamma would cancel.

    Raises:
        DTypeError: an array is complex.
        SizeError: a dim has two sizes.

    Example:
    >>> xt.betaln(xt.array([1.0, 1e20], "i"), 2.0)
    <xtensor.Array (i: 2) float64>
    [ -0.69314718 -92.10340372]
    """
    return p.rounded_once(_betaln, *aligned("betaln", *p.promote_float(a, b)))


# lgamma(x) - (x - 1/2) log x + x - log(2 pi)/2, times x, in powers of 1/x^2, of x from 10 on.
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)


def _beyond_stirling(x: Tracer) -> Tracer:
    inverse = build.binary("div", p.constant(1, x.dtype), x)
    square = build.binary("mul", inverse, inverse)
    series = p.constant(_STIRLING[-1], x.dtype)
    for coefficient in reversed(_STIRLING[:-1]):
        series = _add(build.binary("mul", square, series), coefficient)
    return build.binary("mul", series, inverse)


def _betaln(a: Tracer, b: Tracer) -> Tracer:
    dtype = a.dtype
    ordered = build.compare("le", a, b)
    small, large = build.select(ordered, a, b), build.select(ordered, b, a)
    total = build.binary("add", small, large)
    far, both = (build.compare("ge", x, p.constant(10, dtype)) for x in (large, small))

    def lgamma_of(x: Tracer, chosen: Tracer) -> Tracer:
        return build.unary("lgamma", p.where(chosen, 1.0, x, dtype))

    near = build.binary("add", lgamma_of(small, both), lgamma_of(large, far))
    near = build.binary("sub", near, lgamma_of(total, far))
    big, sum_ = p.where(far, large, 10.0, dtype), p.where(far, total, 20.0, dtype)
    share = build.binary("div", p.where(far, small, 10.0, dtype), sum_)
    rest = build.unary("log1p", build.unary("neg", share))
    corrected = build.binary("sub", _beyond_stirling(big), _beyond_stirling(sum_))
    # One large number: lgamma(small) + small - small log(total) + (large - 1/2) log(large / total).
    one = build.binary("mul", small, _add(build.unary("neg", build.unary("log", sum_)), 1.0))
    one = build.binary("add", one, build.binary("mul", _add(big, -0.5), rest))
    one = build.binary("add", build.binary("add", one, corrected), lgamma_of(small, both))
    # Two.
    low = p.where(both, small, 10.0, dtype)
    two = build.binary("mul", _add(low, -0.5), build.unary("log", share))
    two = build.binary("add", two, build.binary("mul", big, rest))
    two = build.binary("sub", two, _add(_mul(build.unary("log", big), 0.5), -0.5 * math.log(2 * math.pi)))
    two = build.binary("add", two, build.binary("add", corrected, _beyond_stirling(low)))
    regular = build.select(both, two, build.select(far, one, near))
    zero, endless = p.zero(dtype), p.constant(np.inf, dtype)
    # beta(small, large) is 1 / small near 0, and so is its derivative.
    near_zero = build.unary("neg", build.unary("log", small))
    at_zero = build.binary("and", build.compare("eq", small, zero), build.compare("ge", large, zero))
    at_end = build.binary("and", build.compare("gt", small, zero), build.compare("eq", large, endless))
    return build.select(at_zero, near_zero, p.where(at_end, -np.inf, regular, dtype))


@op(joins=True)
def beta(a: ArrayLike, b: ArrayLike, /) -> Array:
    """Returns gamma(a) gamma(b) / gamma(a + b), with the union of the dims.

    Definition: DLMF 5.12.1.

    Raises:
        DTypeError: an array is complex.
        SizeError: a dim has two sizes.

    Example:
    >>> xt.beta(xt.array([1.0, 2.0], "i"), 3.0)
    <xtensor.Array (i: 2) float64>
    [0.33333333 0.08333333]
    """
    return p.rounded_once(_beta, *aligned("beta", *p.promote_float(a, b)))


def _beta(a: Tracer, b: Tracer) -> Tracer:
    signs = [_sign_of_gamma(x) for x in (a, b, build.binary("add", a, b))]
    size = build.unary("exp", _betaln(a, b))
    return functools.reduce(functools.partial(build.binary, "mul"), signs, size)


def _sign_of_gamma(x: Tracer) -> Tracer:
    """Negative in every second interval between integers below 0."""
    whole = build.unary("floor", x)
    return p.where(p.less(x, 0.0), _add(_mul(_odd(whole), -2.0), 1.0), 1.0, x.dtype)


# Bernoulli's number 2j over (2j)!, for j from 1 on.
_BERNOULLI = (
    1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000, 1 / 74724249600,
    -3617 / 10670622842880000, 43867 / 5109094217170944000, -174611 / 802857662698291200000,
    77683 / 14101100039391805440000, -236364091 / 1693824136731743669452800000,
)  # fmt: skip


@op(joins=True)
def zeta(x: ArrayLike, q: ArrayLike | None = None, /) -> Array:
    """Returns the sum of `(q + k)**-x` for all k from 0 on (Hurwitz), with the union of the dims.

    Without `q` it is Riemann's function, whose `q` is 1, and which goes on below 1. With `q`, the result is NaN where
    `x` is below 1 or `q` is negative. It is inf where `x` is 1 or `q` is 0. Derivatives are of both arguments, of every
    order. The first terms are added up, and the rest is the formula of Euler and Maclaurin (DLMF 25.2.9); below 0 it is
    reflected (DLMF 25.4.1).

    Raises:
        DTypeError: an array is complex.
        SizeError: a dim has two sizes.

    Example:
    >>> xt.zeta(xt.array([2.0, 4.0], "i"))
    <xtensor.Array (i: 2) float64>
    [1.64493407 1.08232323]
    """
    if q is None:
        return p.rounded_once(_riemann, p.as_float(x))
    return p.rounded_once(_zeta, *aligned("zeta", *p.promote_float(x, q)))


def _zeta(x: Tracer, q: Tracer) -> Tracer:
    dtype = x.dtype
    known = build.binary("and", build.compare("ge", x, p.constant(1, dtype)), build.compare("ge", q, p.zero(dtype)))
    near = build.compare("lt", q, p.constant(np.inf, dtype))
    x, q = p.where(known, x, 2.0, dtype), p.where(build.binary("and", known, near), q, 1.0, dtype)
    return p.where(known, p.where(near, _euler_maclaurin(x, q), 0.0, dtype), np.nan, dtype)


def _euler_maclaurin(x: Tracer, q: Tracer) -> Tracer:
    """Zeta of x from 0 on and positive q."""
    dtype = x.dtype
    terms, corrections = (10, 12) if dtype.itemsize == 8 else (5, 6)
    last = _add(q, float(terms))
    inverse = build.binary("div", p.constant(1, dtype), last)
    # Where x is so large, the rest is far below the last place of the first term.
    small = build.binary("minimum", x, _mul(last, 10.0))
    rising, rest = build.binary("mul", small, inverse), p.constant(0.5, dtype)
    for j, coefficient in enumerate(_BERNOULLI[:corrections]):
        rest = build.binary("add", rest, _mul(rising, coefficient))
        for step in (2 * j + 1, 2 * j + 2):
            rising = build.binary("mul", rising, build.binary("mul", _add(small, float(step)), inverse))
    rest = build.binary("mul", rest, inverse)
    rest = build.binary("add", rest, build.binary("div", p.constant(1, dtype), _add(x, -1.0)))
    # A power of half of the exponent, lest it underflow before the product with q does not.
    half = build.binary("pow", last, _mul(x, -0.5))
    sum_ = build.binary("mul", build.binary("mul", rest, build.binary("mul", half, last)), half)
    for k in reversed(range(terms)):
        sum_ = build.binary("add", sum_, build.binary("pow", _add(q, float(k)), build.unary("neg", x)))
    return sum_


def _riemann(x: Tracer) -> Tracer:
    """zeta(x) = 2 (2 pi)^(x-1) sin(pi x / 2) gamma(1 - x) zeta(1 - x) below 0.

    The power times gamma may overflow before the sine is 0, and so is taken to the half.
    """
    dtype = x.dtype
    below = p.less(x, -0.5)  # up to 0, the sum below has all digits, and 1 - x has not
    above = p.where(below, _add(build.unary("neg", x), 1.0), x, dtype)
    value = _euler_maclaurin(above, p.constant(1, dtype))
    x = p.where(below, x, -1.0, dtype)
    # x / 2 less the nearest integer: its sine has all digits.
    turns = build.unary("round", _mul(x, 0.5))
    sine = build.unary("sin", _mul(build.binary("sub", _mul(x, 0.5), turns), math.pi))
    sine = build.binary("mul", sine, _add(_mul(_odd(turns), -4.0), 2.0))
    size = build.unary("lgamma", _add(build.unary("neg", x), 1.0))
    size = build.binary("add", size, _mul(_add(x, -1.0), math.log(2 * math.pi)))
    half = build.unary("exp", _mul(size, 0.5))
    reflected = build.binary("mul", build.binary("mul", build.binary("mul", half, sine), half), value)
    # A zero, where gamma may be infinite. Elsewhere the product has the right derivative, too.
    even = build.binary(
        "and", build.compare("eq", sine, p.zero(dtype)), build.compare("eq", half, p.constant(np.inf, dtype))
    )
    reflected = p.where(even, 0.0, reflected, dtype)
    infinite = build.compare("eq", x, p.constant(-np.inf, dtype))
    return build.select(below, p.where(infinite, np.nan, reflected, dtype), value)
