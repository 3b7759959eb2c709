"""Bits, integers, choices and orders: `bits`, `randint`, `bernoulli`, `categorical`, `choice`, `permutation`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..base.dims import check_name
from ..base.dtypes import as_dtype, iinfo
from ..base.errors import ArgumentError, ArgumentTypeError, DimensionError, DTypeError, SizeError
from ..call.dispatch import op
from ..call.opened import Amount, Within, any_number
from ..ops import promotion as p
from ..ops.arguments import dim_of, extend, fail, integer, is_scalar, paired_sizes, size_of
from ..ops.creation import sizes_of
from ..ops.types import Array, ArrayLike
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.tracer import DynamicSize, Tracer
from . import threefry as t
from .continuous import standard_gumbel
from .keys import Key, public, words_of
from .plan import Plan, Sizes, add, compare, log, mul, sizes_last, where


@public
def bits(key: Key, sizes: Sizes = None, /, *, dtype: Any = "u4", **keywords: int) -> Array:
    """Returns random unsigned integers, uniform over all values of the dtype: bits(key, time=3).

    uint32 is the exclusive or of the two words that Threefry-2x32 gives for an element, uint64 both words. Dims are as
    for `normal`. Source: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011).

    Raises:
        SizeError: a size is negative.
        DTypeError: `dtype` is not an unsigned integer.

    Example:
    >>> xt.random.bits(xt.random.key(0), time=2)
    <xtensor.Array (time: 2) uint32>
    [4070199207 4202968722]
    """
    found = as_dtype(dtype)
    if found.kind != "u":
        raise fail(DTypeError, "random.bits", f"gives unsigned integers, not {found}", instead='Write dtype="u4"')
    return _bits(words_of("bits", key), sizes_of("random.bits", sizes, keywords), found)


@op(name="random.bits", decide=(), sizes=("sizes",))
def _bits(words: ArrayLike, sizes: dict[str, Any], dtype: np.dtype, /) -> Array:
    plan = Plan("bits", words, sizes, (), dtype)
    return plan.result(_narrowed(t.words(plan.key, plan.counted), dtype))


def _narrowed(x: t.Stream, dtype: np.dtype) -> Tracer:
    return t.joined(x) if dtype == t.U8 else build.cast(t.xor(x.high, x.low), dtype)


@public
def bernoulli(key: Key, p: ArrayLike | Mapping[str, int] = 0.5, sizes: Sizes = None, /, **keywords: int) -> Array:
    """Returns bools that are true with probability `p`: bernoulli(key, 0.3, time=3).

    The result has the dims of an array of keys, those with sizes, and those of `p`. float32 tells probabilities apart
    in steps of `2**-24`, float64 in steps of `2**-53`. There is no derivative by `p`.

    Raises:
        SizeError: a size is negative.
        DTypeError: `p` is complex.
        ArgumentError: sizes are given twice.

    Example:
    >>> xt.random.bernoulli(xt.random.key(0), 0.3, time=5)
    <xtensor.Array (time: 5) bool>
    [False  True False False False]
    """
    found, (chance,) = sizes_last("bernoulli", sizes, keywords, (p, 0.5))
    return _bernoulli(words_of("bernoulli", key), chance, found)


@op(name="random.bernoulli", decide=(), joins=True, sizes=("sizes",))
def _bernoulli(words: ArrayLike, chance: ArrayLike, sizes: dict[str, Any], /) -> Array:
    plan = Plan.of_floats("bernoulli", words, sizes, (chance,), None)
    return plan.result(compare("lt", t.unit(plan.draw(), plan.wide), plan.read()[0]), p.BOOL)


# -- integers ---------------------------------------------------------------------------------------------------------


@public
def randint(
    key: Key, low: ArrayLike, high: ArrayLike, sizes: Sizes = None, /, *, dtype: Any = "i8", **keywords: int
) -> Array:
    """Returns integers that are uniform from `low` to `high` - 1: randint(key, 0, 6, time=3).

    Bounds are ints or integer arrays, aligned by name. Probabilities are equal up to a relative error of `2**-32`. The
    result has the dims of an array of keys, those with sizes, and those of the bounds.

    Raises:
        SizeError: a size is negative.
        DTypeError: `dtype` is not an integer, or a bound is not.
        ArgumentError: low >= high, and both are ints.

    Example:
    >>> xt.random.randint(xt.random.key(0), 0, 6, time=5)
    <xtensor.Array (time: 5) int64>
    [2 1 5 3 3]
    """
    found = as_dtype(dtype)
    if not p.is_integer(found):
        raise fail(DTypeError, "random.randint", f"gives integers, not {found}", instead='Write dtype="i8"')
    words, chosen = words_of("randint", key), sizes_of("random.randint", sizes, keywords)
    first, last = _bound(low, found), _bound(high, found, 1)
    if not isinstance(first, int) or not isinstance(last, int):
        return _between(words, low, high, chosen, found)
    if first >= last:
        raise fail(ArgumentError, "random.randint", f"low is {first} and high is {last}", instead="low is below high")
    return _integers(words, first, last - first, chosen, found)


def _bound(x: ArrayLike, dtype: np.dtype, beyond: int = 0) -> int | None:
    """A bound that is an int and fits, or None."""
    if not isinstance(x, (int, np.integer)) or isinstance(x, bool):
        return None
    number, limits = int(x), iinfo(dtype)
    if not int(limits.min) <= number <= int(limits.max) + beyond:
        raise fail(ArgumentError, "random.randint", f"the bound {number} does not fit into {dtype}")
    return number


@op(name="random.randint", decide=(), sizes=("sizes",), amounts={"low": any_number, "span": Within(1, 2**32)})
def _integers(words: ArrayLike, low: Any, span: Any, sizes: dict[str, Any], dtype: np.dtype, /) -> Array:
    plan = Plan("randint", words, sizes, (), dtype)
    draw = t.words(plan.key, plan.counted)
    if isinstance(span, Amount) or span <= 2**32:
        offset = _below(draw, p.amount(span, t.U8))
    elif span == 2**64:
        offset = t.joined(draw)
    else:
        offset = _far_below(plan, draw, p.constant(span, t.U8))
    return plan.result(build.binary("add", build.cast(offset, dtype), p.amount(low, dtype)))


@op(name="random.randint", decide=(), joins=True, sizes=("sizes",))
def _between(words: ArrayLike, low: ArrayLike, high: ArrayLike, sizes: dict[str, Any], dtype: np.dtype, /) -> Array:
    plan = Plan("randint", words, sizes, (low, high), dtype)
    for x in plan.parameters:
        if not p.is_integer(x.dtype):
            raise fail(DTypeError, "random.randint", f"bounds are integers, not {x.dtype}", x,
                       instead='Write x.astype("i8")')  # fmt: skip
    first, last = (build.meet(x, dtype) for x in plan.parameters)
    empty = compare("ge", first, last)
    # In the unsigned integers of 64 bits the difference is right whatever the signs are.
    span = where(empty, 1, build.binary("sub", build.cast(last, t.U8), build.cast(first, t.U8)))
    offset = _far_below(plan, t.words(plan.key, plan.counted), span)
    return plan.result(build.binary("add", build.cast(offset, dtype), first))


def _below(draw: t.Stream, span: Tracer) -> Tracer:
    """The high word of 64 random bits times a span of up to 2**32: below the span."""
    low = t.shift_right(mul(build.cast(draw.low, t.U8), span), 32)
    return t.shift_right(add(mul(build.cast(draw.high, t.U8), span), low), 32)


def _far_below(plan: Plan, draw: t.Stream, span: Tracer) -> Tracer:
    """The same with any span, and 128 random bits."""
    high, carried = _product(draw, span)
    upper, _ = _product(t.words(plan.key, plan.counted, 1), span)
    total = add(carried, upper)
    return add(high, build.cast(compare("lt", total, carried), t.U8))


def _product(draw: t.Stream, span: Tracer) -> tuple[Tracer, Tracer]:
    """The two halves of the product of 64 random bits and a span."""
    a, b = (build.cast(x, t.U8) for x in draw)
    mask = 2**32 - 1
    c, d = t.shift_right(span, 32), build.binary("and", span, p.constant(mask, t.U8))
    first = mul(b, d)
    second = add(mul(a, d), t.shift_right(first, 32))
    third = add(mul(b, c), build.binary("and", second, p.constant(mask, t.U8)))
    high = add(add(mul(a, c), t.shift_right(second, 32)), t.shift_right(third, 32))
    low = build.binary("or", t.shift_left(third, 32), build.binary("and", first, p.constant(mask, t.U8)))
    return high, low


# -- choices ----------------------------------------------------------------------------------------------------------


@public
def categorical(key: Key, logits: ArrayLike, sizes: Sizes = None, /, *, dim: str, **keywords: int) -> Array:
    """Returns positions along `dim`, with probabilities softmax(logits, dim): categorical(key, logits, dim="class").

    The result, int64, has the dims of an array of keys, those with sizes, and those of `logits` without `dim`. A logit
    of -inf is never drawn. For probabilities p, pass xt.log(p). The result is the argmax of logits plus Gumbel numbers.

    Raises:
        SizeError: a size is negative.
        DimensionError: `logits` does not have `dim`.
        DTypeError: `logits` is complex.

    Example:
    >>> xt.random.categorical(xt.random.key(0), xt.log(xt.array([0.5, 0.25, 0.25], "class")), dim="class", draw=5)
    <xtensor.Array (draw: 5) int64>
    [0 2 1 0 1]
    """
    found = sizes_of("random.categorical", sizes, keywords)
    return _categorical(words_of("categorical", key), logits, found, dim)


@op(name="random.categorical", decide=(), sizes=("sizes",))
def _categorical(words: ArrayLike, logits: ArrayLike, sizes: dict[str, Any], dim: str, /) -> Array:
    x = as_tracer(logits)
    along = _class_dim("categorical", x, words, sizes, dim)
    return build.reduce("argmax", _noisy("categorical", words, p.as_float(x), sizes), (along,))


def _class_dim(name: str, x: Tracer, words: Any, sizes: Mapping[str, Any], dim: Any) -> str:
    """The dim of the classes, which is one of the logits alone, and not empty."""
    along = dim_of(f"random.{name}", x, dim)
    for what, dims in (("the sizes", tuple(sizes)), ("the keys", as_tracer(words).dims)):
        if along in dims:
            raise fail(DimensionError, f"random.{name}", f"{what} have the dim {dim!r} of the choices", x,
                       instead="Give it another name there")  # fmt: skip
    if x.spec.sizes[along] == 0:
        raise fail(SizeError, f"random.{name}", f"dim {dim!r} has size 0: there is nothing to choose", x)
    return along


def _noisy(name: str, words: Any, logits: Tracer, sizes: Mapping[str, Any]) -> Tracer:
    """Logits plus Gumbel numbers, with all dims of a draw."""
    plan = Plan(name, words, sizes, (logits,), logits.dtype)
    noise = standard_gumbel(plan.draw(), plan.wide)
    return plan.spread(add(build.stop_gradient(plan.read()[0]), noise))


def _along(name: str, x: Any, dim: str | None) -> str:
    """`dim`, or where it is left out the only dim of `x`; "i" for the positions of an int."""
    if dim is not None:
        return check_name(dim)
    dims: tuple[str, ...] = tuple(getattr(x, "dims", ()))
    if len(dims) < 2 or "i" in dims:
        return dims[0] if len(dims) == 1 else "i"
    return dim_of(f"random.{name}", x, dim)


@public
def choice(
    key: Key,
    x: ArrayLike,
    sizes: Sizes = None,
    /,
    *,
    dim: str | None = None,
    p: ArrayLike | None = None,
    replace: bool = True,
    **keywords: int,
) -> Array:
    """Returns random elements of `x` along `dim`: choice(key, x, dim="sample", draw=5) replaces sample by draw.

    x: an array, or an int that stands for its positions. `dim` may be left out for an array with one dim; for an int it
    is "i" then. p: probabilities along `dim`, by default equal ones; they need
    not sum to 1. replace=False draws no position twice, and takes one size, no larger than that of `dim`. It draws
    positions of probability 0 after all others. All other dims of `x` stay together. Differentiable with respect to
    `x`. The result has the dims of an array of keys, those with sizes, and the other dims of `x`.

    Raises:
        DimensionError: `x` or `p` does not have `dim`.
        SizeError: a size is negative, or larger than that of `dim` with replace=False.

    Example:
    >>> xt.random.choice(xt.random.key(0), xt.array([10, 20, 30], "sample"), dim="sample", draw=4)
    <xtensor.Array (draw: 4) int64>
    [20 10 30 20]
    """
    found, along = sizes_of("random.choice", sizes, keywords), _along("choice", x, dim)
    words = words_of("choice", key)
    if not replace and len(found) != 1:
        raise fail(
            ArgumentError, "random.choice", f"replace=False takes one size, not {len(found)}",
            instead="Write draw=5; x.unstack makes several dims of one",
        )  # fmt: skip
    if isinstance(x, (int, np.integer)) and not isinstance(x, bool):
        count = integer("random.choice", x, "the number of positions", least=0)
        return _choose_positions(words, count, p, found, along, bool(replace))
    if is_scalar(x) or isinstance(x, (np.generic, str, bytes)):
        raise fail(
            ArgumentTypeError, "random.choice", f"a number of positions is an int, not {x!r}",
            instead="Choose from an array along dim=, or from the positions below an int",
        )  # fmt: skip
    return _choose(words, x, p, found, along, bool(replace))


@op(name="random.choice", decide=(), joins=True, sizes=("sizes",))
def _choose(
    words: ArrayLike, x: ArrayLike, p: ArrayLike | None, sizes: dict[str, Any], dim: str, replace: bool, /
) -> Array:
    array = as_tracer(x)
    along = _class_dim("choice", array, words, sizes, dim)
    if p is not None:
        paired_sizes("random.choice", (array, as_tracer(p)), besides=(along,))
    at = _positions(words, size_of(array, along), p, sizes, along, replace)
    new = [d for d in at.dims if d not in array.dims]
    found = build.gather("clip", array, {along: at})
    order = [e for d in array.dims for e in (new if d == along else [d])]
    return extend(found, {}, (*order, *(d for d in found.dims if d not in order)))


@op(name="random.choice", decide=(), joins=True, sizes=("sizes",), amounts={"count": Within(1, 2**32)})
def _choose_positions(
    words: ArrayLike, count: Any, p: ArrayLike | None, sizes: dict[str, Any], dim: str, replace: bool, /
) -> Array:
    if count == 0:
        raise fail(ArgumentError, "random.choice", "there is nothing to choose from 0 positions")
    return _positions(words, count, p, sizes, dim, replace)


def _positions(words: Any, count: Any, chances: Any, sizes: Mapping[str, Any], dim: str, replace: bool) -> Tracer:
    """Positions below `count`, over the dims of a draw. `chances`: their probabilities along `dim`, or None."""
    if chances is not None:
        weights = p.as_float(chances)
        if not weights.dims:
            raise fail(
                DimensionError, "random.choice", f"p has a probability per position along {dim!r}, and no dims here",
                weights, instead='A dim of the draw that is called p is written {"p": 3}',
            )  # fmt: skip
        along = _class_dim("choice", weights, words, sizes, dim)
        if isinstance(count, int) and weights.spec.sizes[along] not in (None, count):
            raise fail(SizeError, "random.choice", f"p has {weights.spec.sizes[along]} probabilities for {count} "
                       f"positions along {dim!r}", weights)  # fmt: skip
        logits = log(build.stop_gradient(weights))
        if replace:
            return build.reduce("argmax", _noisy("choice", words, logits, sizes), (along,))
        return _first(build.argsort(_noisy("choice", words, logits, {}), along, True), along, sizes)
    if replace:
        plan = Plan("choice", words, sizes, (), p.I8)
        draw = t.words(plan.key, plan.counted)
        if isinstance(count, Amount) or (isinstance(count, int) and count <= 2**32):
            offset = _below(draw, p.amount(count, t.U8))
        else:
            offset = _far_below(plan, draw, p.cast(count, t.U8))
        return plan.result(offset)
    return _first(_shuffled("choice", words, count, dim), dim, sizes)


def _first(order: Tracer, dim: str, sizes: Mapping[str, Any]) -> Tracer:
    """The first positions of an order along `dim`, as many as the one size says, along its name."""
    ((new, wanted),) = sizes.items()
    have = order.spec.sizes[dim]
    if have is None or not isinstance(wanted, int):
        raise fail(
            DimensionError, "random.choice", "replace=False needs sizes that are known while tracing", order,
            instead="Write xt.random.permutation for all positions; or leave the dim out of dynamic_dims=",
        )  # fmt: skip
    if wanted > have:
        raise fail(SizeError, "random.choice", f"{wanted} positions out of {have} without replacement", order,
                   instead="Write replace=True")  # fmt: skip
    return build.rename(build.slice(order, {dim: (0, wanted, 1)}), {dim: new})


@public
def permutation(key: Key, x: ArrayLike, /, dim: str | None = None) -> Array:
    """Returns `x` in random order along `dim`: permutation(key, x, dim="sample"), or of the positions of an int.

    permutation(key, 5) has 0 to 4 along i, int64. `dim` may be left out for an array with
    one dim, too. All other dims of an array stay together. An array of keys gives one
    order per key. Differentiable with respect to `x`.

    Raises:
        DimensionError: `x` does not have `dim`.
        ArgumentTypeError: `x` is not an array or an int.

    Example:
    >>> xt.random.permutation(xt.random.key(0), 5)
    <xtensor.Array (i: 5) int64>
    [1 0 4 3 2]
    """
    words, along = words_of("permutation", key), _along("permutation", x, dim)
    if isinstance(x, DynamicSize):
        return _order(words, x, along)
    if isinstance(x, (int, np.integer)) and not isinstance(x, bool):
        return _order(words, integer("random.permutation", x, "the number of positions", least=0), along)
    return _permutation(words, x, along)


@op(name="random.permutation", decide=(), sizes=("n",))
def _order(words: ArrayLike, n: Any, dim: str, /) -> Array:
    return _shuffled("permutation", words, n, dim)


@op(name="random.permutation", decide=())
def _permutation(words: ArrayLike, x: ArrayLike, dim: str, /) -> Array:
    array = as_tracer(x)
    along = dim_of("random.permutation", array, dim)
    order = _shuffled("permutation", words, size_of(array, along), along)
    found = build.gather("clip", array, {along: order})
    return extend(found, {}, (*(d for d in order.dims if d not in array.dims), *array.dims))


def _shuffled(name: str, words: Any, count: Any, dim: str) -> Tracer:
    """The positions below `count` along `dim` in random order: sorted by 64 random bits."""
    plan = Plan(name, words, {dim: count}, (), t.U8)
    return build.argsort(plan.spread(t.joined(t.words(plan.key, plan.counted))), dim)
