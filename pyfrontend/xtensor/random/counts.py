"""Numbers of events: `poisson` and `binomial`. Few are counted along the distribution function; many are drawn by
rejection."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..base.dtypes import as_dtype
from ..base.errors import DTypeError
from ..call.dispatch import op
from ..ops import promotion as p
from ..ops.arguments import fail
from ..ops.creation import sizes_of
from ..ops.types import Array, ArrayLike
from ..trace import build, control
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from . import threefry as t
from .keys import Key, public, words_of
from .plan import (
    Plan,
    Sizes,
    add,
    both,
    compare,
    div,
    either,
    exp,
    float_dtype,
    log,
    log1p,
    mul,
    neg,
    root,
    square,
    sub,
    where,
)  # fmt: skip

FEW = 10.0  # the mean up to which events are counted
MOST_STEPS = 110  # of which fewer have 1 - 2e-64 of the probability


@public
def poisson(key: Key, rate: ArrayLike, sizes: Sizes = None, /, *, dtype: Any = "i8", **keywords: int) -> Array:
    """Returns integers with the Poisson distribution of mean `rate`: poisson(key, rate, time=3).

    The result has the dims of an array of keys, those with sizes, and those of `rate`; -1 where `rate` is negative or
    NaN. float32 rates are computed in float32, whose integers are exact up to `2**24`. There is no derivative by
    `rate`. Source: Hörmann, "The transformed rejection method for generating Poisson random variables" (1993), from a
    rate of 10 on.

    Raises:
        SizeError: a size is negative.
        DTypeError: `dtype` is not a signed integer, or `rate` is complex.

    Example:
    >>> xt.random.poisson(xt.random.key(0), 3.0, time=5)
    <xtensor.Array (time: 5) int64>
    [4 7 3 2 4]
    """
    found = sizes_of("random.poisson", sizes, keywords)
    return _poisson(words_of("poisson", key), rate, found, _integers("poisson", dtype))


@op(name="random.poisson", decide=(), sizes=("sizes",))
def _poisson(words: ArrayLike, rate: ArrayLike, sizes: dict[str, Any], dtype: np.dtype, /) -> Array:
    plan = _plan("poisson", words, sizes, rate)
    mean = build.stop_gradient(plan.read()[0])
    valid = both(compare("ge", mean, 0.0), compare("lt", mean, np.inf))
    few = compare("lt", mean, FEW)
    low = where(both(valid, few), mean, 0.0)
    counted = _counted(plan, exp(neg(low)), lambda k: div(low, k), None)
    drawn = _rejected_poisson(plan, where(few, FEW, where(valid, mean, FEW)), either(few, build.unary("not", valid)))
    return plan.result(where(valid, where(few, counted, drawn), -1.0), dtype)


def _rejected_poisson(plan: Plan, mean: Tracer, done: Tracer) -> Tracer:
    b = add(mul(root(mean), 2.53), 0.931)
    a = add(mul(b, 0.02483), -0.059)
    inverse = add(div(1.1328, sub(b, 3.4)), 1.1239)
    squeeze = sub(0.9277, div(3.6224, sub(b, 2.0)))
    accepts = _Hat(a, b, add(mean, 0.43), squeeze, inverse)
    return plan.repeat(0, lambda key: accepts(plan, key, lambda k: _log_poisson(k, mean), None), done, mul(mean, 0.0))


@public
def binomial(
    key: Key, n: ArrayLike, p: ArrayLike, sizes: Sizes = None, /, *, dtype: Any = "i8", **keywords: int
) -> Array:
    """Returns the number of successes among `n` trials of probability `p`: binomial(key, 10, 0.3, time=3).

    n and p are numbers or arrays, aligned by name; -1 where n is negative, or p does not lie between 0 and 1. float32
    probabilities are computed in float32, whose integers are exact up to `2**24`. There is no derivative by `p`.
    Source: Hörmann, "The generation of binomial random variates" (1993), from n min(p, 1 - p) = 10 on. The result has
    the dims of an array of keys, those with sizes, and those of n and p.

    Raises:
        SizeError: a size is negative.
        DTypeError: `dtype` is not a signed integer, or `n` or `p` is complex.

    Example:
    >>> xt.random.binomial(xt.random.key(0), 10, 0.3, time=5)
    <xtensor.Array (time: 5) int64>
    [4 6 3 3 4]
    """
    found = sizes_of("random.binomial", sizes, keywords)
    return _binomial(words_of("binomial", key), n, p, found, _integers("binomial", dtype))


@op(name="random.binomial", decide=(), joins=True, sizes=("sizes",))
def _binomial(words: ArrayLike, n: ArrayLike, chance: ArrayLike, sizes: dict[str, Any], dtype: np.dtype, /) -> Array:
    plan = _plan("binomial", words, sizes, chance, n)
    trials, q = (build.stop_gradient(x) for x in plan.read())
    trials = build.unary("floor", trials)
    valid = both(both(compare("ge", trials, 0.0), compare("lt", trials, np.inf)),
                 both(compare("ge", q, 0.0), compare("le", q, 1.0)))  # fmt: skip
    trials, q = where(valid, trials, 0.0), where(valid, q, 0.0)
    flipped = compare("gt", q, 0.5)
    q = where(flipped, sub(1.0, q), q)
    few = compare("lt", mul(trials, q), FEW)
    # Counted: the probability of k is that of k - 1 times (n - k + 1) / k times the odds.
    n_low, q_low = where(few, trials, 0.0), where(few, q, 0.0)
    odds = div(q_low, sub(1.0, q_low))
    none = exp(mul(n_low, log1p(neg(q_low))))
    counted = _counted(plan, none, lambda k: mul(div(add(sub(n_low, k), 1.0), k), odds), n_low)
    drawn = _rejected_binomial(plan, where(few, 4 * FEW, trials), where(few, 0.5, q), few)
    found = where(few, counted, drawn)
    found = where(flipped, sub(trials, found), found)
    return plan.result(where(valid, found, -1.0), dtype)


def _rejected_binomial(plan: Plan, n: Tracer, q: Tracer, done: Tracer) -> Tracer:
    rest = sub(1.0, q)
    mean, other = mul(n, q), mul(n, rest)
    spread = root(mul(mean, rest))
    b = add(mul(spread, 2.53), 1.15)
    a = add(add(mul(b, 0.0248), mul(q, 0.01)), -0.0873)
    squeeze = sub(0.92, div(4.2, b))
    scale = mul(add(div(5.1, b), 2.83), spread)

    def likelihood(k: Tracer) -> Tracer:
        return add(_log_poisson(k, mean), _log_poisson(sub(n, k), other))

    mode = likelihood(build.unary("floor", mul(add(n, 1.0), q)))
    accepts = _Hat(a, b, add(mean, 0.5), squeeze, scale)
    attempt = lambda key: accepts(plan, key, lambda k: sub(likelihood(k), mode), n)  # noqa: E731
    return plan.repeat(1, attempt, done, mul(mean, 0.0))


# -- what both need ----------------------------------------------------------------------------------------------------


def _integers(name: str, dtype: Any) -> np.dtype:
    found = as_dtype(dtype)
    if not p.is_integer(found) or found.kind == "u":
        raise fail(DTypeError, f"random.{name}", f"gives signed integers, not {found}", instead='Write dtype="i8"')
    return found


def _plan(name: str, words: Any, sizes: Mapping[str, Any], chance: Any, *before: Any) -> Plan:
    """A plan that computes in the float of `chance`."""
    return Plan(name, words, sizes, (*before, chance), p.accumulator(float_dtype(name, None, as_tracer(chance))))


def _counted(plan: Plan, none: Tracer, factor: Callable[[Tracer], Tracer], most: Tracer | None) -> Tracer:
    """The number of events at which the distribution function passes a uniform number. `none`: the probability of no
    event; `factor`: what turns that of k - 1 events into that of k. `most`: the largest number, where there is one."""
    level = plan.spread(t.unit(plan.part(62), plan.wide))
    none = plan.spread(none)

    least = float(np.finfo(plan.wide).eps) * 2.0**-10

    def keep_on(carry: Any) -> Tracer:
        left = compare("ge", carry[3], 0.0)
        return build.reduce("any", left, left.dims)

    def body(carry: Any) -> Any:
        k, events, chance, left = carry
        unfinished = compare("ge", left, 0.0)
        chance = mul(chance, factor(k))
        if most is not None:
            unfinished = both(unfinished, compare("le", k, most))
        # What is left then is rounding.
        unfinished = both(unfinished, compare("gt", chance, least))
        events = where(unfinished, k, events)
        left = where(unfinished, sub(left, chance), -1.0)
        return add(k, 1.0), plan.spread(events), plan.spread(chance), plan.spread(left)

    start = p.constant(1.0, none.dtype), mul(none, 0.0), none, sub(level, none)
    found: Tracer = control.while_loop(keep_on, body, start, MOST_STEPS)[1]
    return found


class _Hat:
    """An attempt of Hörmann's transformed rejection, with his names: numbers (2 a / (1/2 - |u|) + b) u + c. They are
    accepted at once where v is at most `squeeze`. Elsewhere log(v scale / (a / (1/2 - |u|)**2 + b)) must be at most the
    logarithm of their probability."""

    def __init__(self, a: Tracer, b: Tracer, c: Tracer, squeeze: Tracer, scale: Tracer) -> None:
        self.a, self.b, self.c, self.squeeze, self.scale = a, b, c, squeeze, scale

    def __call__(
        self, plan: Plan, key: t.Stream, likelihood: Callable[[Tracer], Tracer], most: Tracer | None
    ) -> tuple[Tracer, Tracer]:
        for_u, for_v = t.draws(key, plan.counted, 2, plan.wide)
        half, lower = t.tail(for_u, plan.wide)
        # half is 1/2 - |u|, and has all its digits.
        u = build.select(lower, add(half, -0.5), sub(0.5, half))
        v = t.positive(for_v, plan.wide)
        k = build.unary("floor", add(mul(add(div(mul(self.a, 2.0), half), self.b), u), self.c))
        inside = compare("ge", k, 0.0)
        if most is not None:
            inside = both(inside, compare("le", k, most))
        at_once = both(compare("ge", half, 0.07), compare("le", v, self.squeeze))
        k = where(inside, k, 0.0)
        level = log(div(mul(v, self.scale), add(div(self.a, square(half)), self.b)))
        return k, both(inside, either(at_once, compare("le", level, likelihood(k))))


def _log_poisson(k: Tracer, mean: Tracer) -> Tracer:
    """The logarithm of the probability of k events, from a mean of 10 on. By Stirling's formula of k + 1, whose large
    terms cancel here and not in floats."""
    y = add(k, 1.0)
    t_ = div(sub(mean, y), y)
    logarithm = log1p(t_)
    r = div(1.0, y)
    s = square(r)
    correction = mul(r, add(mul(s, add(mul(s, 1.0 / 1260.0), -1.0 / 360.0)), 1.0 / 12.0))
    main = sub(mul(y, sub(logarithm, t_)), logarithm)
    return sub(sub(main, mul(log(y), 0.5)), add(correction, 0.5 * float(np.log(2 * np.pi))))
