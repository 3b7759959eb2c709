"""Dropout: `xt.nn.dropout`, whose mask is drawn again on the way back."""

from __future__ import annotations

import functools

from ..base.dtypes import real_of
from ..base.errors import ArgumentError
from ..call.dispatch import op, plain
from ..ops import promotion as p
from ..ops.arguments import fail, number
from ..ops.types import Array, ArrayLike
from ..random import threefry
from ..random.keys import Key, words_of
from ..random.plan import Plan
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from ..transforms.checkpoint import checkpoint

__all__ = ["dropout"]


@functools.partial(plain, name="nn.dropout")
def dropout(key: Key, x: ArrayLike, rate: float, /) -> Array:
    """Returns `x` with each element set to 0 with probability `rate`, or else divided by 1 - rate.

    rate: a number from 0 to below 1. The mask is not stored: the gradient draws it again from `key`. Without training,
    use `x` itself. Each key of an array of keys has its own mask. Source: Srivastava et al., "Dropout" (2014). The
    result has the dims of `x`.

    Raises:
        ArgumentError: `rate` is not in 0 to below 1.
        ArgumentTypeError: `key` is not a key.

    Example:
    >>> xt.nn.dropout(xt.random.key(0), xt.ones(feature=6), 0.5)
    <xtensor.Array (feature: 6) float64>
    [0. 0. 2. 2. 2. 0.]
    """
    part = number("nn.dropout", rate, "the rate")
    if not 0 <= part < 1:
        raise fail(ArgumentError, "nn.dropout", f"the rate is a number from 0 to below 1, not {rate}")
    return _dropout(words_of("nn.dropout", key), x, float(part), 1 / (1 - part))


@op(name="nn.dropout", decide=("x",))
def _dropout(words: ArrayLike, x: ArrayLike, rate: ArrayLike, scale: ArrayLike, /) -> Array:
    found: Array = checkpoint(_masked)(as_tracer(words), p.as_float(x), as_tracer(rate), as_tracer(scale))
    return found


def _masked(words: Tracer, x: Tracer, rate: Tracer, scale: Tracer) -> Tracer:
    plan = Plan("nn.dropout", words, {}, (x,), real_of(x.dtype))
    keep = build.compare("ge", threefry.unit(plan.draw(), plan.wide), p.cast(rate, plan.wide))
    kept = build.binary("mul", x, p.cast(scale, x.dtype))
    return plan.spread(build.select(keep, kept, p.zero(x.dtype)))
