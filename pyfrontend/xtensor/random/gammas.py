"""The gamma distribution and those made of it: beta, dirichlet, student_t.

Their derivatives by the parameters are implicit: the distribution function at the drawn number stays as it is while the
parameter moves (Figurnov, Mohamed and Mnih, "Implicit reparameterization gradients", NeurIPS 2018).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base.errors import DimensionError
from ..call.dispatch import op
from ..ops import promotion as p
from ..ops.arguments import dim_of, fail
from ..ops.creation import sizes_of
from ..ops.reductions import log_of_sum
from ..ops.types import Array, ArrayLike
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from ..transforms.custom import custom_derivative
from . import threefry as t
from .continuous import standard_normal
from .keys import Key, public, words_of
from .plan import (
    Plan,
    Sizes,
    add,
    both,
    compare,
    div,
    exp,
    log,
    log1p,
    mul,
    neg,
    root,
    square,
    sub,
    where,
)  # fmt: skip


@public
def gamma(key: Key, a: ArrayLike, sizes: Sizes = None, /, *, dtype: Any = None, **keywords: int) -> Array:
    """Returns floats with the gamma distribution of shape `a` and scale 1; NaN where `a` is not above 0.

    gamma(key, a, time=3) has the dims of an array of keys, time, and those of `a`. Multiply by the scale for others.
    Very small shapes give numbers that underflow to 0. The derivative by `a` is implicit. Source of the numbers:
    Marsaglia and Tsang, "A simple method for generating gamma variables" (2000).

    Raises:
        SizeError: a size is negative.
        DTypeError: `dtype` is not a float, or `a` is complex.

    Example:
    >>> xt.random.gamma(xt.random.key(0), 2.0, time=3)
    <xtensor.Array (time: 3) float64>
    [2.92129108 3.51899837 1.80053752]
    """
    return _gamma(words_of("gamma", key), a, sizes_of("random.gamma", sizes, keywords), dtype)


@op(name="random.gamma", decide=(), sizes=("sizes",))
def _gamma(words: ArrayLike, a: ArrayLike, sizes: dict[str, Any], dtype: Any, /) -> Array:
    plan = Plan.of_floats("gamma", words, sizes, (a,), dtype)
    return plan.result(exp(_log_gamma(plan, plan.read()[0], 0)))


@public
def beta(key: Key, a: ArrayLike, b: ArrayLike, sizes: Sizes = None, /, *, dtype: Any = None, **keywords: int) -> Array:
    """Returns floats with the beta distribution of shapes `a` and `b`, which are above 0.

    It is x / (x + y) of two gamma numbers x and y, whose logarithms are computed: small shapes do not divide 0 by 0.
    Differentiable with respect to both shapes. The result has the dims of an array of keys, those with sizes, and those
    of the shapes.

    Raises:
        SizeError: a size is negative.
        DTypeError: `dtype` is not a float, or a shape is complex.

    Example:
    >>> xt.random.beta(xt.random.key(0), 2.0, 5.0, time=3)
    <xtensor.Array (time: 3) float64>
    [0.38649795 0.32303418 0.42643095]
    """
    return _beta(words_of("beta", key), a, b, sizes_of("random.beta", sizes, keywords), dtype)


@op(name="random.beta", decide=(), joins=True, sizes=("sizes",))
def _beta(words: ArrayLike, a: ArrayLike, b: ArrayLike, sizes: dict[str, Any], dtype: Any, /) -> Array:
    plan = Plan.of_floats("beta", words, sizes, (a, b), dtype)
    first, second = plan.read()
    difference = sub(_log_gamma(plan, second, 1), _log_gamma(plan, first, 0))
    # 1 / (1 + exp(difference)), whose derivative would be infinity over infinity where the power overflows.
    falls = compare("gt", difference, 0.0)
    e = exp(where(falls, neg(difference), difference))
    return plan.result(div(where(falls, e, 1.0), add(e, 1.0)))


@public
def dirichlet(
    key: Key, alpha: ArrayLike, sizes: Sizes = None, /, *, dim: str, dtype: Any = None, **keywords: int
) -> Array:
    """Returns floats along `dim` that sum to 1, with the Dirichlet distribution of the concentrations `alpha`.

    `alpha` has `dim`, and each of its elements is above 0. Its other dims are batches. Differentiable with respect to
    `alpha`. The result has the dims of an array of keys, those with sizes, and those of `alpha`.

    Raises:
        DimensionError: `alpha` does not have `dim`.
        SizeError: a size is negative.
        DTypeError: `dtype` is not a float, or `alpha` is complex.

    Example:
    >>> p = xt.random.dirichlet(xt.random.key(0), xt.ones({"class": 3}), dim="class", draw=2)
    >>> p.sizes, xt.sum(p, "class").values.round(6)
    ({'draw': 2, 'class': 3}, array([1., 1.]))
    """
    return _dirichlet(words_of("dirichlet", key), alpha, sizes_of("random.dirichlet", sizes, keywords), dim, dtype)


@op(name="random.dirichlet", decide=(), sizes=("sizes",))
def _dirichlet(words: ArrayLike, alpha: ArrayLike, sizes: dict[str, Any], dim: str, dtype: Any, /) -> Array:
    along = dim_of("random.dirichlet", as_tracer(alpha), dim)
    if along in as_tracer(words).dims:
        raise fail(
            DimensionError, "random.dirichlet", f"the keys have the dim {dim!r}, along which the numbers sum to 1",
            as_tracer(words), instead=f"Rename it: key.rename({dim}=...)",
        )  # fmt: skip
    plan = Plan.of_floats("dirichlet", words, sizes, (alpha,), dtype)
    x = _log_gamma(plan, plan.read()[0], 0)
    return plan.result(exp(sub(x, log_of_sum(x, (along,)))))


@public
def student_t(key: Key, df: ArrayLike, sizes: Sizes = None, /, *, dtype: Any = None, **keywords: int) -> Array:
    """Returns floats with Student's t distribution of `df` degrees of freedom, NaN where `df` is not above 0.

    It is a normal number divided by the root of a gamma number. Differentiable with respect to `df`. The result has the
    dims of an array of keys, those with sizes, and those of `df`.

    Raises:
        SizeError: a size is negative.
        DTypeError: `dtype` is not a float, or `df` is complex.

    Example:
    >>> xt.random.student_t(xt.random.key(0), 5.0, time=3)
    <xtensor.Array (time: 3) float64>
    [-0.67767761 -0.95250203 -0.04514339]
    """
    return _student_t(words_of("student_t", key), df, sizes_of("random.student_t", sizes, keywords), dtype)


@op(name="random.student_t", decide=(), sizes=("sizes",))
def _student_t(words: ArrayLike, df: ArrayLike, sizes: dict[str, Any], dtype: Any, /) -> Array:
    plan = Plan.of_floats("student_t", words, sizes, (df,), dtype)
    half = mul(plan.read()[0], 0.5)
    endless = compare("eq", half, math.inf)  # which is the normal distribution
    half = where(endless, 1.0, half)
    scale = where(endless, 1.0, exp(mul(sub(log(half), _log_gamma(plan, half, 0)), 0.5)))
    return plan.result(mul(standard_normal(plan.draw(), plan.wide), scale))


# -- the logarithm of a gamma number -----------------------------------------------------------------------------------


def _log_gamma(plan: Plan, a: Tracer, number: int) -> Tracer:
    """The logarithm of the gamma number `number` of each element, with all dims of the plan. Its derivative by `a` is
    that of the quantile."""
    still = build.stop_gradient(a)
    return _moving(plan.spread(_drawn(plan, still, number)), plan.spread(a))


def _drawn(plan: Plan, a: Tracer, number: int) -> Tracer:
    valid = both(compare("gt", a, 0.0), compare("lt", a, math.inf))
    shape = where(valid, a, 1.0)
    small = compare("lt", shape, 1.0)
    d = sub(where(small, add(shape, 1.0), shape), 1.0 / 3.0)
    c = div(1.0 / 3.0, root(d))

    def attempt(key: t.Stream) -> tuple[Tracer, Tracer]:
        for_normal, for_level = t.draws(key, plan.counted, 2, plan.wide)
        z = standard_normal(for_normal, plan.wide)
        w = mul(c, z)
        inside = compare("gt", w, -1.0)
        w = where(inside, w, 0.0)
        logarithm = log1p(w)
        # z**2 / 2 + d - d v + d log(v) of v = (1 + w)**3, without its large terms: d is 1 / (9 c**2).
        rest = sub(logarithm, mul(w, add(mul(w, add(div(w, 3.0), 1.0)), 1.0)))
        bound = add(mul(square(z), 0.5), mul(mul(d, 3.0), rest))
        level = log(t.positive(for_level, plan.wide))
        return mul(logarithm, 3.0), both(inside, compare("lt", level, bound))

    start = where(valid, p.constant(0.0, plan.wide), math.nan)
    found = plan.repeat(2 * number, attempt, build.unary("not", valid), start)
    # Of a shape below 1: a number of the shape above, times a power of a uniform number.
    boost = t.positive(plan.part(2 * number + 1), plan.wide)
    found = add(found, log(d))
    return where(small, add(found, div(log(boost), shape)), found)


@custom_derivative
def _moving(x: Tracer, a: Tracer) -> Tracer:
    """The logarithm `x` of a gamma number, which moves with its shape `a`."""
    return x


@_moving.defpushforward
def _moved(primals: tuple[Tracer, Tracer], tangents: tuple[Tracer, Tracer]) -> tuple[Tracer, Tracer]:
    x, a = _moving(*primals), primals[1]
    return x, add(as_tracer(tangents[0]), mul(slope(x, a), as_tracer(tangents[1])))


def slope(logarithm: Tracer, a: Tracer) -> Tracer:
    """d log(x) / d a of a gamma number x = exp(logarithm) of shape `a`, where the distribution function stays.

    With the density f and psi = digamma it is 1 / (x f(x)) times the integral over t from 0 to x of
    (psi(a) - log t) f(t), or that from x on, negated. Below 1, x has a power series. Above, the side of x on which f
    falls is integrated, with t = x exp(-v) for v > 0 or v < 0: v is smooth there, and the integrand has no large terms.
    """
    wide = logarithm.dtype == p.F8
    x = exp(logarithm)
    low = compare("lt", x, 1.0)
    series = _below(where(low, logarithm, 0.0), where(low, x, 1.0), a, 18 if wide else 11)
    return where(low, series, _above(where(low, 1.0, x), a, wide))


def _below(logarithm: Tracer, x: Tracer, a: Tracer, terms: int) -> Tracer:
    """For x up to 1: m is the sum of x**n / ((a + 1) .. (a + n)), dm its derivative by a, by Horner's scheme."""
    m, dm = p.constant(1.0, a.dtype), p.constant(0.0, a.dtype)
    for n in range(terms, 0, -1):
        r = div(1.0, add(a, float(n)))
        q = mul(x, r)
        m, dm = add(mul(q, m), 1.0), mul(q, sub(dm, mul(r, m)))
    return neg(div(add(mul(sub(logarithm, build.unary("digamma", add(a, 1.0))), m), dm), a))


def _above(x: Tracer, a: Tracer, wide: bool) -> Tracer:
    """For x from 1 on: the integral by Gauss and Legendre's rule, up to where the integrand is exp(-enough)."""
    nodes, enough = (32, 40.0) if wide else (16, 18.0)
    places, weights = np.polynomial.legendre.leggauss(nodes)
    dim = "node~"
    place = build.constant(((places + 1) / 2).astype(a.dtype), (dim,))
    weight = build.constant((weights / 2).astype(a.dtype), (dim,))
    offset = sub(x, a)
    right = compare("gt", offset, 0.0)
    sign, distance = where(right, p.constant(-1.0, a.dtype), 1.0), build.unary("abs", offset)
    # The exponent is at least distance v + x v**2 / (2 + v) on the left, and distance v + x v**2 / 2 on the right.
    q = sub(mul(distance, 2.0), enough)
    r = root(add(square(q), mul(a, 8.0 * enough)))
    far = compare("gt", q, 0.0)
    left_end = where(far, div(4.0 * enough, add(build.unary("abs", q), r)), div(sub(r, q), mul(a, 2.0)))
    right_end = div(2.0 * enough, add(distance, root(add(square(distance), mul(x, 2.0 * enough)))))
    end = where(right, right_end, left_end)
    v = mul(end, place)
    y = mul(sign, v)
    exponent = add(mul(distance, v), mul(x, add(build.unary("expm1", neg(y)), y)))
    near = compare("lt", distance, mul(a, 0.5))
    ratio = where(near, log1p(div(where(near, offset, 0.0), a)), sub(log(x), log(a)))
    constant = mul(sign, sub(_digamma_less_log(a), ratio))
    return mul(end, build.reduce("sum", mul(mul(add(v, constant), weight), exp(neg(exponent))), (dim,)))


def _digamma_less_log(a: Tracer) -> Tracer:
    """digamma(a) - log(a), whose terms are close to each other for large a."""
    large = compare("gt", a, 20.0)
    r = div(1.0, where(large, a, 20.0))
    s = square(r)
    series = mul(s, add(mul(s, sub(1.0 / 120.0, mul(s, 1.0 / 252.0))), -1.0 / 12.0))
    few = where(large, 1.0, a)
    return where(large, sub(series, mul(r, 0.5)), sub(build.unary("digamma", few), log(few)))
