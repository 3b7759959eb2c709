"""Order statistics by group: the elements are sorted once, by group and then by value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.errors import DimensionError
from ..call.dispatch import op
from ..call.opened import Amount, Within
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from . import promotion as p
from .arguments import extend, fail, flat_name, reorder, skips
from .quantiles import MIDDLE, at_level, checked_levels, levels_of
from .segments import Groups, present
from .types import Array, ArrayLike, Dims

_NUMBER = "quantile"


@op(joins=True, decide=())
def segment_median(
    x: ArrayLike, codes: ArrayLike, /, num_groups: int, dim: Dims = None, into: str = "group",
    *, skipna: bool | None = None,
) -> Array:  # fmt: skip
    """Returns the median of each group of elements, with arguments as for `segment_sum`.

    The median of an empty group is NaN, and of a group with NaN too, unless `skipna=True`. Integers and bools give f8.

    Raises:
        DimensionError: `x` does not have a dim of `codes`, or `codes` lacks `dim`.
        SizeError: a dim has another size in `codes`.
        DTypeError: `codes` does not hold integers, or `x` is complex.
        ArgumentError: `num_groups` is negative.

    Example:
    >>> x, codes = xt.array([1.0, 2.0, 4.0], "time"), xt.array([1, 0, 1], "time")
    >>> xt.segment_median(x, codes, 2, into="season")
    <xtensor.Array (season: 2) float64>
    [2.  2.5]
    """
    return _quantiles("segment_median", x, codes, num_groups, [0.5], dim, into, MIDDLE, skipna)[0]


@op(
    joins=True,
    decide=(),
    static=lambda x, codes, /, num_groups, q, *args, **rest: ((x, codes, num_groups, levels_of(q), *args), rest),
    amounts={"q": Within(0.0, 1.0)},
)
def segment_quantile(
    x: ArrayLike, codes: ArrayLike, /, num_groups: int, q: Any, dim: Dims = None, into: str = "group",
    *, method: str = "linear", skipna: bool | None = None,
) -> Array:  # fmt: skip
    """Returns the quantiles `q` (0 to 1) of each group of elements, with the other arguments as for `segment_sum`.

    Several `q` give a new last dim "quantile". `method`: as for `quantile`. The result is NaN for an empty group, and
    for a group with NaN, unless `skipna=True`. Integers and bools give f8.

    Raises:
        DimensionError: `x` does not have a dim of `codes`, or `codes` lacks `dim`.
        SizeError: a dim has another size in `codes`.
        DTypeError: `codes` does not hold integers, or `x` is complex.
        ArgumentError: `num_groups` is negative, `q` is not in 0 to 1, or `method` is another one.

    Example:
    >>> x = xt.array([1.0, 5.0, 2.0, 3.0], dims="t")
    >>> xt.segment_quantile(x, xt.array([0, 1, 0, 1], dims="t"), 2, 0.5).values
    array([1.5, 4. ])
    """
    q = levels_of(q)
    levels = checked_levels("segment_quantile", as_tracer(x), q, method)
    found = _quantiles("segment_quantile", x, codes, num_groups, levels, dim, into, method, skipna)
    if not isinstance(q, tuple):
        return found[0]
    if _NUMBER in found[0].dims:
        raise fail(DimensionError, "segment_quantile", f"the array has dim {_NUMBER!r} already", x,
                   instead="Rename it")  # fmt: skip
    return build.concat([extend(y, {_NUMBER: 1}, (*y.dims, _NUMBER)) for y in found], _NUMBER)


def _quantiles(
    name: str, x: ArrayLike, codes: ArrayLike, num_groups: int, levels: Sequence[float | Amount], dim: Dims,
    into: str, method: str, skipna: bool | None,
) -> list[Tracer]:  # fmt: skip
    array = as_tracer(x)
    dtype = p.mean_dtype(array.dtype, array.weak)
    groups = Groups(name, array, codes, num_groups, dim, into)
    y = p.cast(groups.source, p.accumulator(dtype))
    there = present(y, True)
    numbers = groups.numbers(None, p.I8)
    # What is sought starts after the elements of the groups before: NaN, which is last in its group, too.
    before = build.cumulative("sum", numbers, groups.into, exclusive=True)
    valid = groups.numbers(there, p.I8)
    lacking = build.compare("lt", valid, numbers)
    flat, order, along = _order(groups, y)
    leaves_out = skips(name, skipna)
    found = []
    for level in levels:
        z = at_level(flat, along, order, valid, level, method, before)
        if not leaves_out:
            z = build.select(lacking, p.constant(np.nan, z.dtype), z)
        found.append(groups.labelled(p.cast(reorder(z, groups.order), dtype)))
    return found


def _order(groups: Groups, x: Tracer) -> tuple[Tracer, Tracer, str]:
    """`x` with the grouped dims as one, the positions along it that sort by group, then by value, NaN last, and its
    name."""
    along = flat_name(groups.inside)
    flat = build.merge(x, groups.inside, along)
    codes = build.merge(groups.codes, groups.inside, along)
    # What is in no group comes last.
    codes = build.binary("minimum", codes, p.constant(groups.count, p.I8))
    by_value = build.argsort(flat, along)
    by_group = build.argsort(build.gather("clip", codes, {along: by_value}), along)
    return flat, build.gather("clip", by_value, {along: by_group}), along
