"""Reductions by group: each element goes to the group that its code counts.

One scatter into the groups reads the array once, whether or not the codes are sorted. A code that counts no group
leaves its element out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.dims import brief, check_name
from ..base.errors import ArgumentTypeError, DimensionError, DTypeError, SizeError
from ..call.dispatch import op
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from . import promotion as p
from .arguments import count, dims_of, extend, fail, fresh, is_static, size_of, skips
from .types import Array, ArrayLike, Dims


class Groups:
    """Where the elements of an array go: `source` is the array with other names for the dims that are grouped."""

    def __init__(self, name: str, x: Tracer, codes: ArrayLike, num_groups: Any, dim: Dims, into: str) -> None:
        self.count = count(name, num_groups, "num_groups")
        codes = _codes(name, codes)
        lacking = [d for d in codes.dims if d not in x.dims]
        if lacking:
            raise fail(
                DimensionError, name, f"the codes have dim {lacking[0]!r}, which the array lacks", x, codes,
                instead=f"Rename it, or broadcast the array first: x.expand_dims({lacking[0]}=..)",
            )  # fmt: skip
        for d in codes.dims:
            if is_static(x, d) and is_static(codes, d) and x.sizes[d] != codes.sizes[d]:
                raise fail(
                    SizeError, name, f"dim {d!r} has size {x.sizes[d]} in the array and {codes.sizes[d]} in the codes",
                    x, codes,
                )  # fmt: skip
            if d in x.dims and is_static(x, d) != is_static(codes, d):
                raise fail(
                    SizeError, name, f"dim {d!r} has an open size in one operand, and a known one in the other",
                    x, codes, instead="Pass the codes as an argument: they then have the size of the array",
                )  # fmt: skip
        dims = dims_of(name, codes, dim)
        self.into = check_name(into, name)
        if into in x.dims and into not in dims:
            raise fail(
                DimensionError, name, f"the array has dim {into!r} already", x,
                instead='Name the dim of the groups: into="month"',
            )  # fmt: skip
        if not dims:
            raise fail(DimensionError, name, "the codes have no dim to group along", x, codes)
        inside: dict[str, str] = {}
        for d in dims:
            inside[d] = fresh([*x.dims, *inside.values()], f"{d}~grouped")  # one name has one size
        self.inside = tuple(inside.values())
        self.source = build.rename(x, inside)
        codes = build.rename(codes, inside)
        # Counted from the end, a negative code would be a group. Without its sign, it is too large for one.
        short = codes.dtype.itemsize <= 4 and isinstance(num_groups, int) and num_groups <= np.iinfo("i4").max
        self.places = p.cast(codes, np.dtype("u4" if short else "u8"))
        codes = p.cast(codes, p.I8)
        outside = build.compare("lt", codes, p.zero(p.I8))
        self.codes = build.select(outside, p.cast(self.count, p.I8), codes)
        self.order = tuple(into if d == dims[0] else d for d in x.dims if d == dims[0] or d not in dims)
        self.sizes = {d: self.count if d == into else size_of(self.source, d) for d in self.order}

    def scattered(self, kind: str, x: Tracer, start: Any) -> Tracer:
        """What each group is, `start` combined with its elements."""
        start = p.constant(start, x.dtype)
        order = tuple(d for d in self.order if d == self.into or d in x.dims)
        target = extend(start, {d: self.sizes[d] for d in order}, order)
        return build.scatter(kind, "drop", target, {self.into: self.places}, x)

    def numbers(self, there: Tracer | None, dtype: np.dtype) -> Tracer:
        """How many elements each group has, or how many of those that are there."""
        if there is None:
            there = extend(p.constant(1, dtype), {d: size_of(self.codes, d) for d in self.codes.dims}, self.codes.dims)
        return self.scattered("add", p.cast(there, dtype), 0)

    def labelled(self, y: Tracer) -> Tracer:
        """The result, whose other dims have the coordinates that they had."""
        return build.labelled(extend(y, self.sizes, self.order), self.source)


def _codes(name: str, codes: ArrayLike) -> Tracer:
    found = as_tracer(codes)
    if not p.is_integer(found.dtype):
        raise fail(
            DTypeError, name, f"codes are integers, not {found.dtype}", found,
            instead='Count the groups from 0: np.unique(labels, return_inverse=True)[1], or codes.astype("i8")',
        )  # fmt: skip
    if not found.dims:
        raise fail(
            ArgumentTypeError, name, f"codes are an array with the dim that is grouped, not {brief(codes)}",
            instead='Write xt.array(codes, dims="time")',
        )  # fmt: skip
    return found


def present(x: Tracer, skipna: bool) -> Tracer | None:
    """Which elements are not NaN; None: all of them count."""
    return build.compare("eq", x, x) if skipna and p.is_float(x.dtype) else None


def _filled(x: Tracer, there: Tracer | None, value: Any) -> Tracer:
    return x if there is None else build.select(there, x, p.constant(value, x.dtype))


def _folded(
    name: str, kind: str, start: Any, x: ArrayLike, codes: ArrayLike, num_groups: int, dim: Dims, into: str,
    skipna: bool | None,
) -> Array:  # fmt: skip
    array = as_tracer(x)
    groups = Groups(name, array, codes, num_groups, dim, into)
    dtype = p.sum_dtype(array.dtype)
    source = p.cast(p.cast(groups.source, dtype), p.accumulator(dtype))
    source = _filled(source, present(source, skips(name, skipna)), start)
    return groups.labelled(p.cast(groups.scattered(kind, source, start), dtype))


@op(joins=True, decide=(), sizes=("num_groups",))
def segment_sum(
    x: ArrayLike, codes: ArrayLike, /, num_groups: int, dim: Dims = None, into: str = "group",
    *, skipna: bool | None = None,
) -> Array:  # fmt: skip
    """Returns the sum of each group of elements; `codes` holds the number of the group at each position.

    codes: integers over dims of `x`, counted from 0. Elements whose code is negative, or is `num_groups` or larger, are
    ignored. num_groups: the number of groups, a Python int. dim: the dims of the codes that are grouped, by default all
    of them; each position along the other dims has its own groups.
    The new dim `into`, of size `num_groups`, replaces the first grouped dim. The sum of an empty group is 0. Integers
    and bools widen to 64 bits. `skipna=True` skips NaN; by default `xt.option(skipna=)` decides.

    Raises:
        DimensionError: `x` does not have a dim of `codes`, or `codes` lacks `dim`.
        SizeError: a dim has another size in `codes`.
        DTypeError: `codes` does not hold integers.
        ArgumentError: `num_groups` is negative.

    Example:
    >>> heat = xt.array([1.0, 2.0, 4.0], dims="time")
    >>> xt.segment_sum(heat, xt.array([1, 0, 1], dims="time"), 2, into="season").values
    array([2., 5.])
    """
    return _folded("segment_sum", "add", 0, x, codes, num_groups, dim, into, skipna)


@op(joins=True, decide=(), sizes=("num_groups",))
def segment_prod(
    x: ArrayLike, codes: ArrayLike, /, num_groups: int, dim: Dims = None, into: str = "group",
    *, skipna: bool | None = None,
) -> Array:  # fmt: skip
    """Returns the product of each group of elements, with arguments as for `segment_sum`.

    The product of an empty group is 1. Integers and bools widen to 64 bits.

    Raises:
        DimensionError: `x` does not have a dim of `codes`, or `codes` lacks `dim`.
        SizeError: a dim has another size in `codes`.
        DTypeError: `codes` does not hold integers, or `x` is complex.
        ArgumentError: `num_groups` is negative.

    Example:
    >>> x, codes = xt.array([1.0, 2.0, 4.0], "time"), xt.array([1, 0, 1], "time")
    >>> xt.segment_prod(x, codes, 2, into="season")
    <xtensor.Array (season: 2) float64>
    [2. 4.]
    """
    return _folded("segment_prod", "mul", 1, x, codes, num_groups, dim, into, skipna)


@op(joins=True, decide=(), sizes=("num_groups",))
def segment_mean(
    x: ArrayLike, codes: ArrayLike, /, num_groups: int, dim: Dims = None, into: str = "group",
    *, skipna: bool | None = None,
) -> Array:  # fmt: skip
    """Returns the mean of each group of elements, with arguments as for `segment_sum`.

    The mean of an empty group is NaN, and its derivative is 0. Integers and bools give f8.

    Raises:
        DimensionError: `x` does not have a dim of `codes`, or `codes` lacks `dim`.
        SizeError: a dim has another size in `codes`.
        DTypeError: `codes` does not hold integers.
        ArgumentError: `num_groups` is negative.

    Example:
    >>> x, codes = xt.array([1.0, 2.0, 4.0], "time"), xt.array([1, 0, 1], "time")
    >>> xt.segment_mean(x, codes, 2, into="season")
    <xtensor.Array (season: 2) float64>
    [2.  2.5]
    """
    array = as_tracer(x)
    dtype = p.mean_dtype(array.dtype, array.weak)
    groups = Groups("segment_mean", array, codes, num_groups, dim, into)
    source = p.cast(groups.source, p.accumulator(dtype))
    there = present(source, skips("segment_mean", skipna))
    total = groups.scattered("add", _filled(source, there, 0), 0)
    numbers = groups.numbers(there, source.dtype)
    # The NaN of an empty group depends on no element. A quotient 0 / 0 would have the tangent NaN.
    is_empty = build.compare("eq", numbers, p.zero(numbers.dtype))
    nan = p.constant(complex(np.nan, np.nan) if p.is_complex(source.dtype) else np.nan, source.dtype)
    return groups.labelled(p.cast(build.select(is_empty, nan, build.binary("div", total, numbers)), dtype))


def _extremum(
    name: str, x: ArrayLike, codes: ArrayLike, num_groups: int, dim: Dims, into: str, skipna: bool | None
) -> Array:
    array = as_tracer(x)
    build.ordered(array)
    groups = Groups(name, array, codes, num_groups, dim, into)
    is_max = name == "segment_max"
    source = p.cast(groups.source, np.dtype("u1")) if array.dtype == p.BOOL else groups.source
    if array.dtype == p.BOOL:
        start: Any = int(not is_max)
    elif p.is_float(array.dtype):
        start = -np.inf if is_max else np.inf
    else:
        limits = np.iinfo(array.dtype)
        start = limits.min if is_max else limits.max
    there = present(source, skips(name, skipna))
    y = groups.scattered("max" if is_max else "min", _filled(source, there, start), start)
    if there is not None:
        # Of nothing but NaN. An empty group has its identity.
        some = groups.numbers(there, p.I8)
        every = groups.numbers(None, p.I8)
        nothing = build.compare("lt", some, build.binary("minimum", every, p.constant(1, p.I8)))
        y = build.select(nothing, p.constant(np.nan, y.dtype), y)
    return groups.labelled(p.cast(y, array.dtype))


@op(joins=True, decide=(), sizes=("num_groups",))
def segment_max(
    x: ArrayLike, codes: ArrayLike, /, num_groups: int, dim: Dims = None, into: str = "group",
    *, skipna: bool | None = None,
) -> Array:  # fmt: skip
    """Returns the largest element of each group, with arguments as for `segment_sum`.

    An empty group gives -inf, the least integer or False. Ties share the derivative evenly. NaN wins, unless
    `skipna=True` leaves it out.

    Raises:
        DimensionError: `x` does not have a dim of `codes`, or `codes` lacks `dim`.
        SizeError: a dim has another size in `codes`.
        DTypeError: `codes` does not hold integers, or `x` is complex.
        ArgumentError: `num_groups` is negative.

    Example:
    >>> x, codes = xt.array([1.0, 2.0, 4.0], "time"), xt.array([1, 0, 1], "time")
    >>> xt.segment_max(x, codes, 2, into="season")
    <xtensor.Array (season: 2) float64>
    [2. 4.]
    """
    return _extremum("segment_max", x, codes, num_groups, dim, into, skipna)


@op(joins=True, decide=(), sizes=("num_groups",))
def segment_min(
    x: ArrayLike, codes: ArrayLike, /, num_groups: int, dim: Dims = None, into: str = "group",
    *, skipna: bool | None = None,
) -> Array:  # fmt: skip
    """Returns the smallest element of each group, with arguments as for `segment_sum`.

    An empty group gives inf, the largest integer or True. Ties share the derivative evenly. NaN wins, unless
    `skipna=True` leaves it out.

    Raises:
        DimensionError: `x` does not have a dim of `codes`, or `codes` lacks `dim`.
        SizeError: a dim has another size in `codes`.
        DTypeError: `codes` does not hold integers, or `x` is complex.
        ArgumentError: `num_groups` is negative.

    Example:
    >>> x, codes = xt.array([1.0, 2.0, 4.0], "time"), xt.array([1, 0, 1], "time")
    >>> xt.segment_min(x, codes, 2, into="season")
    <xtensor.Array (season: 2) float64>
    [2. 1.]
    """
    return _extremum("segment_min", x, codes, num_groups, dim, into, skipna)
