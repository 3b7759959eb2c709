"""Continuous distributions that are functions of one uniform number: each draw is a formula, and has derivatives by its
parameters. (gammas.py has those that reject.)"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..base.errors import DimensionError
from ..call.dispatch import op
from ..linalg import cholesky
from ..ops import promotion as p
from ..ops.arguments import fail, forbid_pairs, is_static, names_of, size_of
from ..ops.contraction import contract
from ..ops.creation import sizes_of
from ..ops.types import Array, ArrayLike
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from . import threefry as t
from .keys import Key, public, words_of
from .plan import (
    SQRT2,
    Plan,
    Sizes,
    add,
    both,
    compare,
    div,
    either_sign,
    log,
    log1p,
    maximum,
    minimum,
    mul,
    neg,
    sizes_last,
    sub,
    where,
)  # fmt: skip


@public
def uniform(
    key: Key,
    low: ArrayLike | Mapping[str, int] = 0.0,
    high: ArrayLike | Mapping[str, int] = 1.0,
    sizes: Sizes = None,
    /,
    *,
    dtype: Any = None,
    **keywords: int,
) -> Array:
    """Returns floats that are uniform in [low, high): uniform(key, time=3) or uniform(key, -1.0, 1.0, time=3).

    From 0 to 1, each multiple of the spacing of floats below 1 has the same probability, and 1 does not occur. Other
    bounds round: `high` itself may occur. The result has the dims of an array of keys, those with sizes, and those of
    low and high. Differentiable with respect to low and high.

    Raises:
        SizeError: a size is negative.
        DTypeError: `dtype` is not a float, or a bound is complex.
        ArgumentError: sizes are given twice, or before the bounds.

    Example:
    >>> xt.random.uniform(xt.random.key(0), -1.0, 1.0, time=3)
    <xtensor.Array (time: 3) float64>
    [-0.16308578 -0.56740909  0.93064293]
    """
    found, (first, last) = sizes_last("uniform", sizes, keywords, (low, 0.0), (high, 1.0))
    words = words_of("uniform", key)
    if type(first) is type(last) is float and (first, last) == (0.0, 1.0):
        return _unit(words, found, dtype)
    return _uniform(words, first, last, found, dtype)


@op(name="random.uniform", decide=(), sizes=("sizes",))
def _unit(words: ArrayLike, sizes: dict[str, Any], dtype: Any, /) -> Array:
    plan = Plan.of_floats("uniform", words, sizes, (), dtype)
    return plan.result(t.unit(plan.draw(), plan.dtype))


@op(name="random.uniform", decide=(), joins=True, sizes=("sizes",))
def _uniform(words: ArrayLike, low: ArrayLike, high: ArrayLike, sizes: dict[str, Any], dtype: Any, /) -> Array:
    plan = Plan.of_floats("uniform", words, sizes, (low, high), dtype)
    lower, upper = plan.read()
    x = p.cast(add(lower, mul(sub(upper, lower), t.unit(plan.draw(), plan.wide))), plan.dtype)
    # A number that rounds to `high` is not below it.
    low, high = p.cast(lower, plan.dtype), p.cast(upper, plan.dtype)
    return plan.result(where(both(compare("ge", x, high), compare("lt", low, high)), low, x))


@public
def normal(key: Key, sizes: Sizes = None, /, *, dtype: Any = None, **keywords: int) -> Array:
    """Returns floats with the standard normal distribution: normal(key, time=3, space=4, dtype="f4").

    Write mean + sigma * normal(key, ..) for others. The dtype is f8 by default, or `xt.option(default_float=)`. float32
    reaches 6.3 standard deviations, float64 9.1. A number is the inverse of the distribution function at a uniform one.
    The result has the dims of an array of keys, then those with sizes.

    Raises:
        SizeError: a size is negative.
        DTypeError: `dtype` is not a float.

    Example:
    >>> xt.random.normal(xt.random.key(0), time=3)
    <xtensor.Array (time: 3) float64>
    [-0.8091009  -1.23643893 -0.0434768 ]
    """
    return _normal(words_of("normal", key), sizes_of("random.normal", sizes, keywords), dtype)


@op(name="random.normal", decide=(), sizes=("sizes",))
def _normal(words: ArrayLike, sizes: dict[str, Any], dtype: Any, /) -> Array:
    plan = Plan.of_floats("normal", words, sizes, (), dtype)
    return plan.result(standard_normal(plan.draw(), plan.wide))


def standard_normal(draw: t.Draw, dtype: np.dtype) -> Tracer:
    """The normal number of a draw."""
    half, lower = t.tail(draw, dtype)
    return either_sign(mul(build.unary("erfcinv", mul(half, 2.0)), SQRT2), lower)


@public
def truncated_normal(
    key: Key, lower: ArrayLike, upper: ArrayLike, sizes: Sizes = None, /, *, dtype: Any = None, **keywords: int
) -> Array:
    """Returns floats with the standard normal distribution between `lower` and `upper`, which may be infinite.

    If both bounds lie beyond 13 (float32) or 37 (float64), the probabilities between them underflow, and the result is
    the bound nearer to 0. NaN where lower > upper. Differentiable with respect to both bounds. The result has the dims
    of an array of keys, those with sizes, and those of the bounds.

    Raises:
        SizeError: a size is negative.
        DTypeError: `dtype` is not a float, or a bound is complex.

    Example:
    >>> xt.random.truncated_normal(xt.random.key(0), 0.0, 1.0, time=3)
    <xtensor.Array (time: 3) float64>
    [0.52011018 0.73068244 0.02967616]
    """
    found = sizes_of("random.truncated_normal", sizes, keywords)
    return _truncated_normal(words_of("truncated_normal", key), lower, upper, found, dtype)


@op(name="random.truncated_normal", decide=(), joins=True, sizes=("sizes",))
def _truncated_normal(
    words: ArrayLike, lower: ArrayLike, upper: ArrayLike, sizes: dict[str, Any], dtype: Any, /
) -> Array:
    plan = Plan.of_floats("truncated_normal", words, sizes, (lower, upper), dtype)
    a, b = plan.read()
    # Mirrored, so that the interval lies in the upper tail, whose probabilities have all their digits.
    mirrored = compare("lt", add(a, b), 0.0)
    low, high = where(mirrored, neg(b), a), where(mirrored, neg(a), b)
    most, least = (build.unary("erfc", mul(x, 1 / SQRT2)) for x in (low, high))
    u = t.positive(plan.draw(), plan.wide)
    q = add(least, mul(sub(most, least), u))
    vanished = compare("eq", most, 0.0)
    z = mul(build.unary("erfcinv", where(vanished, 1.0, q)), SQRT2)
    z = minimum(maximum(where(vanished, low, z), low), high)
    z = where(compare("le", low, high), z, math.nan)
    return plan.result(either_sign(z, mirrored))


@public
def multivariate_normal(
    key: Key,
    mean: ArrayLike,
    cov: ArrayLike,
    sizes: Sizes = None,
    /,
    *,
    dims: tuple[str, str] = ("row", "col"),
    dtype: Any = None,
    **keywords: int,
) -> Array:
    """Returns vectors along row with the given mean(row) and covariance cov(row, col); dims=(row, col) names both.

    It is mean + L z, where L is the Cholesky factor of `cov` and z is normal: NaN if `cov` is not positive definite.
    Other dims of `cov` and `mean` are batches with a draw each. The dims of the result are those of an array of keys,
    those with sizes, the batches, and row. Differentiable with respect to both.

    Raises:
        DimensionError: `cov` does not have the dims `dims`, or `mean` lacks row and has a dim that nothing else has.
        SizeError: `cov` is not square, a dim has two sizes, or a size is negative.
        DTypeError: `dtype` is not a float.

    Example:
    >>> xt.random.multivariate_normal(xt.random.key(0), xt.zeros(row=2), xt.eye(2), draw=3).sizes
    {'draw': 3, 'row': 2}
    """
    found = sizes_of("random.multivariate_normal", sizes, keywords)
    return _multivariate_normal(words_of("multivariate_normal", key), mean, cov, found, dims, dtype)


@op(name="random.multivariate_normal", decide=(), joins=True, sizes=("sizes",))
def _multivariate_normal(
    words: ArrayLike, mean: ArrayLike, cov: ArrayLike, sizes: dict[str, Any], dims: tuple[str, str], dtype: Any, /
) -> Array:
    name = "random.multivariate_normal"
    pair = names_of(name, dims)
    matrix, center = as_tracer(cov), as_tracer(mean)
    if len(pair) != 2 or isinstance(dims, str) or not {*pair} <= {*matrix.dims}:
        there = matrix.dims[-2:]
        named = f"Name those that it has: dims={there}"
        raise fail(
            DimensionError, name, f"the covariance needs the two dims of dims={dims!r}", matrix,
            instead=named if len(there) == 2 else "Of variances along row, write variance * xt.eye(row=3, col=3)",
        )  # fmt: skip
    row, col = pair
    for d in pair:
        if d in sizes:
            raise fail(DimensionError, name, f"dim {d!r} is one of the covariance", matrix, instead=f"Leave {d}= out")
    if col in center.dims:
        raise fail(DimensionError, name, f"the mean has dim {col!r}", center, instead=f"Its dim is {row!r}: rename it")
    forbid_pairs(name, (center, matrix), besides=(col,))
    _check_mean(name, center, matrix, row, {*sizes, *as_tracer(words).dims})
    factor = as_tracer(cholesky(matrix, dims=pair))
    # z lies along row, and L along (row, col): the numbers do not depend on how the second dim is called.
    inner = build.rename(factor, {row: col, col: row})
    keys = as_tracer(words)
    others = {d: size_of(x, d) for x in (matrix, center) for d in x.dims if d not in (row, col, *keys.dims)}
    counted = {**sizes, **{d: n for d, n in others.items() if d not in sizes}, row: size_of(matrix, row)}
    plan = Plan.of_floats("multivariate_normal", words, counted, (), dtype or p.float_of(matrix, mean))
    z = plan.spread(standard_normal(plan.draw(), plan.wide))
    moved = contract([p.cast(inner, plan.wide), z], (row,), tuple(col if d == row else d for d in plan.order))
    moved = build.rename(moved, {col: row})
    return plan.result(add(moved, p.cast(mean, plan.wide)))


def _check_mean(name: str, center: Tracer, matrix: Tracer, row: str, draws: set[str]) -> None:
    """The mean runs along row, is one number, or is one number for each draw. Another dim is most likely a name that
    was mistaken: each of its elements would be the mean of a whole vector."""
    other = [d for d in center.dims if d not in matrix.dims and d not in draws]
    if row in center.dims or not other:
        return
    size = size_of(matrix, row)
    fits = [d for d in other if is_static(center, d) and isinstance(size, int) and center.sizes[d] == size]
    rename = f"rename({{{(fits or other)[0]!r}: {row!r}}})"
    raise fail(
        DimensionError, name, f"the mean lacks dim {row!r} of the covariance, and has {', '.join(map(repr, other))}",
        center, matrix, instead=f"Write mean.{rename}; for one number along all of {row!r}, "
        f"mean.expand_dims({{{row!r}: {size}}})",
    )  # fmt: skip


# -- of one uniform number, without parameters -------------------------------------------------------------------------


@public
def exponential(key: Key, sizes: Sizes = None, /, *, dtype: Any = None, **keywords: int) -> Array:
    """Returns floats with the exponential distribution of mean 1. Divide by the rate for others.

    Dims and dtype are as for `normal`.

    Raises:
        SizeError: a size is negative.
        DTypeError: `dtype` is not a float.

    Example:
    >>> xt.random.exponential(xt.random.key(0), time=3)
    <xtensor.Array (time: 3) float64>
    [0.87118088 1.53110996 0.03529411]
    """
    return _one("exponential", key, sizes, keywords, dtype)


@public
def cauchy(key: Key, sizes: Sizes = None, /, *, dtype: Any = None, **keywords: int) -> Array:
    """Returns floats with the standard Cauchy distribution, student_t with 1 degree of freedom.

    Dims and dtype are as for `normal`.

    Raises:
        SizeError: a size is negative.
        DTypeError: `dtype` is not a float.

    Example:
    >>> xt.random.cauchy(xt.random.key(0), time=3)
    <xtensor.Array (time: 3) float64>
    [-1.29566403 -2.82915453 -0.05452686]
    """
    return _one("cauchy", key, sizes, keywords, dtype)


@public
def laplace(key: Key, sizes: Sizes = None, /, *, dtype: Any = None, **keywords: int) -> Array:
    """Returns floats with the Laplace distribution, whose density is exp(-abs(x)) / 2.

    Dims and dtype are as for `normal`.

    Raises:
        SizeError: a size is negative.
        DTypeError: `dtype` is not a float.

    Example:
    >>> xt.random.laplace(xt.random.key(0), time=3)
    <xtensor.Array (time: 3) float64>
    [-0.87118088 -1.53110996 -0.03529411]
    """
    return _one("laplace", key, sizes, keywords, dtype)


@public
def logistic(key: Key, sizes: Sizes = None, /, *, dtype: Any = None, **keywords: int) -> Array:
    """Returns floats with the standard logistic distribution, whose distribution function is the sigmoid.

    Dims and dtype are as for `normal`.

    Raises:
        SizeError: a size is negative.
        DTypeError: `dtype` is not a float.

    Example:
    >>> xt.random.logistic(xt.random.key(0), time=3)
    <xtensor.Array (time: 3) float64>
    [-1.32958176 -2.10980237 -0.0693849 ]
    """
    return _one("logistic", key, sizes, keywords, dtype)


@public
def gumbel(key: Key, sizes: Sizes = None, /, *, dtype: Any = None, **keywords: int) -> Array:
    """Returns floats with the standard Gumbel distribution, whose distribution function is exp(-exp(-x)).

    Dims and dtype are as for `normal`.

    Raises:
        SizeError: a size is negative.
        DTypeError: `dtype` is not a float.

    Example:
    >>> xt.random.gumbel(xt.random.key(0), time=3)
    <xtensor.Array (time: 3) float64>
    [ 0.61235911  1.41172219 -1.21242724]
    """
    return _one("gumbel", key, sizes, keywords, dtype)


def _exponential(draw: t.Draw, dtype: np.dtype) -> Tracer:
    return neg(log(t.positive(draw, dtype)))


def _cauchy(draw: t.Draw, dtype: np.dtype) -> Tracer:
    half, lower = t.tail(draw, dtype)
    return either_sign(div(1.0, build.unary("tan", mul(half, math.pi))), lower)


def _laplace(draw: t.Draw, dtype: np.dtype) -> Tracer:
    half, lower = t.tail(draw, dtype)
    return either_sign(neg(log(mul(half, 2.0))), lower)


def _logistic(draw: t.Draw, dtype: np.dtype) -> Tracer:
    half, lower = t.tail(draw, dtype)
    return either_sign(sub(log1p(neg(half)), log(half)), lower)


def standard_gumbel(draw: t.Draw, dtype: np.dtype) -> Tracer:
    """The Gumbel number of a draw; its upper tail has all its digits."""
    below = 1.0 - float(np.finfo(dtype).epsneg)
    return neg(log(neg(log1p(neg(minimum(t.positive(draw, dtype), below))))))


_FORMULAS = {
    "cauchy": _cauchy, "exponential": _exponential, "gumbel": standard_gumbel, "laplace": _laplace,
    "logistic": _logistic,
}  # fmt: skip


def _one(name: str, key: Key, sizes: Sizes, keywords: Mapping[str, int], dtype: Any) -> Array:
    return _OPS[name](words_of(name, key), sizes_of(f"random.{name}", sizes, keywords), dtype)


def _made(name: str) -> Any:
    def draw(words: ArrayLike, sizes: dict[str, Any], dtype: Any, /) -> Array:
        plan = Plan.of_floats(name, words, sizes, (), dtype)
        return plan.result(_FORMULAS[name](plan.draw(), plan.wide))

    return op(name=f"random.{name}", decide=(), sizes=("sizes",))(draw)


_OPS = {name: _made(name) for name in _FORMULAS}
