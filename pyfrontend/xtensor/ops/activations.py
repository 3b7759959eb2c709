"""Functions of machine learning, element by element: sigmoid, softplus, relu, gelu and the like.

The smooth ones are written over exp of a value that is never positive, chosen by `select` and not by abs: the branch
taken at 0 is smooth, so derivatives of every order are exact there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..base.errors import ArgumentError
from ..call.dispatch import op
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from . import promotion as p
from .arguments import fail, number
from .elementwise import as_number
from .types import Array, ArrayLike


def _toward_zero(x: Tracer) -> tuple[Tracer, Tracer]:
    """Whether x > 0, and exp(-|x|)."""
    positive_ = build.compare("gt", x, p.zero(x.dtype))
    return positive_, build.unary("exp", build.select(positive_, build.unary("neg", x), x))


@op
def sigmoid(x: ArrayLike, /) -> Array:
    """Returns the logistic function 1 / (1 + exp(-x)), accurate in both tails, with the dims of `x`.

    Raises:
        DTypeError: `x` is complex.

    Example:
    >>> xt.sigmoid(xt.array([0.0, 1.0], "i"))
    <xtensor.Array (i: 2) float64>
    [0.5        0.73105858]
    """

    def ratio(x: Tracer) -> Tracer:
        positive_, e = _toward_zero(x)
        one = p.constant(1, x.dtype)
        return build.binary("div", build.select(positive_, one, e), build.binary("add", one, e))

    return p.rounded_once(ratio, p.as_float(x))


@op
def softplus(x: ArrayLike, /) -> Array:
    """Returns log(1 + exp(x)) without overflow, accurate in both tails, with the dims of `x`.

    Raises:
        DTypeError: `x` is complex.

    Example:
    >>> xt.softplus(xt.array([0.0, 800.0], "i"))
    <xtensor.Array (i: 2) float64>
    [6.93147181e-01 8.00000000e+02]
    """

    def smooth(x: Tracer) -> Tracer:
        positive_, e = _toward_zero(x)
        return build.binary("add", build.select(positive_, x, p.zero(x.dtype)), build.unary("log1p", e))

    return p.rounded_once(smooth, p.as_float(x))


@op
def log_sigmoid(x: ArrayLike, /) -> Array:
    """Returns log(sigmoid(x)), accurate in both tails, with the dims of `x`.

    Raises:
        DTypeError: `x` is complex.

    Example:
    >>> xt.log_sigmoid(xt.array([-800.0, 0.0], "i"))
    <xtensor.Array (i: 2) float64>
    [-8.00000000e+02 -6.93147181e-01]
    """
    x = p.as_float(x)
    return build.unary("neg", as_tracer(softplus(build.unary("neg", x))))


@op
def relu(x: ArrayLike, /) -> Array:
    """Returns x where it is positive, else 0, with the dims and dtype of `x`.

    NaN stays NaN. The derivative at 0 is 0. Bools give i1.

    Raises:
        DTypeError: `x` is complex.

    Example:
    >>> xt.relu(xt.array([-1.0, 2.0], "i"))
    <xtensor.Array (i: 2) float64>
    [0. 2.]
    """
    x = as_number(x)
    nought = p.zero(x.dtype)
    return build.select(build.compare("le", x, nought), nought, x)


def _slope(name: str, value: Any, what: str) -> float:
    found = number(name, value, what)
    if not math.isfinite(found):
        raise fail(ArgumentError, name, f"{what} is a finite number, not {found}")
    return found


@op
def leaky_relu(x: ArrayLike, /, slope: float = 0.01) -> Array:
    """Returns x where it is positive, else slope * x, with the dims of `x`. The derivative at 0 is `slope`.

    slope: a number. If it is an array, write xt.where(x > 0, x, slope * x).

    Source: Maas, Hannun and Ng, "Rectifier nonlinearities improve neural network acoustic models" (2013).

    Raises:
        DTypeError: `x` is complex.
        ArgumentError: `slope` is not finite.

    Example:
    >>> xt.leaky_relu(xt.array([-1.0, 2.0], "i"))
    <xtensor.Array (i: 2) float64>
    [-0.01  2.  ]
    """
    slope = _slope("leaky_relu", slope, "slope")

    def bent(x: Tracer) -> Tracer:
        positive_ = build.compare("gt", x, p.zero(x.dtype))
        return build.select(positive_, x, build.binary("mul", x, p.constant(slope, x.dtype)))

    return p.rounded_once(bent, p.as_float(x))


@op
def elu(x: ArrayLike, /, alpha: float = 1.0) -> Array:
    """Returns x where it is positive, else alpha * (exp(x) - 1), with the dims of `x`, accurate near 0.

    alpha: a number, and the derivative at 0.

    Source: Clevert, Unterthiner and Hochreiter, "Fast and accurate deep network learning by exponential linear units"
    (2015).

    Raises:
        DTypeError: `x` is complex.
        ArgumentError: `alpha` is not finite.

    Example:
    >>> xt.elu(xt.array([-1.0, 2.0], "i"))
    <xtensor.Array (i: 2) float64>
    [-0.63212056  2.        ]
    """
    alpha = _slope("elu", alpha, "alpha")
    return p.rounded_once(lambda x: _elu(x, alpha, 1.0), p.as_float(x))


@op
def selu(x: ArrayLike, /) -> Array:
    """Returns 1.0507 times elu(x, 1.6733), with the dims of `x`: layers of it keep the mean 0 and the variance 1.

    Source: Klambauer, Unterthiner, Mayr and Hochreiter, "Self-normalizing neural networks" (2017).

    Raises:
        DTypeError: `x` is complex.

    Example:
    >>> xt.selu(xt.array([-1.0, 2.0], "i"))
    <xtensor.Array (i: 2) float64>
    [-1.11133074  2.10140197]
    """
    return p.rounded_once(lambda x: _elu(x, 1.6732632423543772, 1.0507009873554805), p.as_float(x))


def _elu(x: Tracer, alpha: float, scale: float) -> Tracer:
    positive_ = build.compare("gt", x, p.zero(x.dtype))
    # Bounded by 1 and not 0: LLVM may take the larger of two zeros for their minimum, and so lose the sign of -0.0.
    one = p.constant(1, x.dtype)
    below = build.unary("expm1", build.select(build.compare("gt", x, one), one, x))
    return build.select(
        positive_,
        build.binary("mul", x, p.constant(scale, x.dtype)) if scale != 1.0 else x,
        build.binary("mul", below, p.constant(alpha * scale, x.dtype)),
    )


def _beside_relu(x: Tracer, least: float, bump: Callable[[Tracer], Tracer]) -> Tracer:
    """relu(x) + bump(-|x|). The bump, smooth at 0, is 0 at `least` and below, where infinity times 0 would be NaN."""
    positive_ = build.compare("gt", x, p.zero(x.dtype))
    t = build.select(positive_, build.unary("neg", x), x)
    last = p.constant(least, x.dtype)
    t = build.select(build.compare("lt", t, last), last, t)
    # -0.0 keeps the sign of the bump.
    return build.binary("add", build.select(positive_, x, p.constant(-0.0, x.dtype)), bump(t))


@op
def silu(x: ArrayLike, /) -> Array:
    """Returns x * sigmoid(x), with the dims of `x`. It is 0 at -inf.

    Source: Elfwing, Uchibe and Doya, "Sigmoid-weighted linear units" (2018).

    Raises:
        DTypeError: `x` is complex.

    Example:
    >>> xt.silu(xt.array([0.0, 1.0], "i"))
    <xtensor.Array (i: 2) float64>
    [0.         0.73105858]
    """

    def bump(t: Tracer) -> Tracer:
        if t.dtype == p.F8:
            e = build.unary("exp", t)
            top = build.binary("mul", t, e)
        else:
            # exp of f4 is 0 below the normal numbers, where t exp(t) may be normal: multiply by its root twice.
            root = build.unary("exp", build.binary("mul", t, p.constant(0.5, t.dtype)))
            e = build.binary("mul", root, root)
            top = build.binary("mul", build.binary("mul", t, root), root)
        return build.binary("div", top, build.binary("add", p.constant(1, t.dtype), e))

    return p.rounded_once(lambda x: _beside_relu(x, -800 if x.dtype == p.F8 else -120, bump), p.as_float(x))


@op
def gelu(x: ArrayLike, /) -> Array:
    """Returns x times the normal distribution function at x, with the dims of `x`.

    This is the exact form, x * ndtr(x), and not its approximation by tanh. Source: Hendrycks and Gimpel,
    "Gaussian error linear units" (2016).

    Raises:
        DTypeError: `x` is complex.

    Example:
    >>> xt.gelu(xt.array([-1.0, 0.0, 1.0], "i"))
    <xtensor.Array (i: 3) float64>
    [-0.15865525  0.          0.84134475]
    """

    def product(x: Tracer) -> Tracer:
        # Beyond `last`, the tail is 0. Infinity times 0 would be NaN, there or in a derivative.
        last = p.constant(39 if x.dtype == p.F8 else 15, x.dtype)
        least, is_large = build.unary("neg", last), build.compare("gt", x, last)
        inside = build.select(is_large, last, x)
        inside = build.select(build.compare("lt", inside, least), least, inside)
        return build.select(is_large, x, build.binary("mul", inside, build.unary("ndtr", inside)))

    return p.rounded_once(product, p.as_float(x))
