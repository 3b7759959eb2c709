"""Functions that move, repeat or add elements along dims: roll, shift, flip, tile, repeat, diff."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from .. import _native
from ..base.dims import unknown
from ..base.errors import ArgumentError, SizeError
from ..call.dispatch import op, tracing
from ..call.opened import LARGEST, Amount, Within, any_int, apart, renamed, room
from ..trace import build
from ..trace.control import while_loop
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from ..values.array import Array as Concrete
from ..values.array import from_values
from . import promotion as p
from .arguments import (
    Size,
    by_dim,
    dims_of,
    extend,
    fail,
    fresh,
    integer,
    is_static,
    not_a_dim,
    reorder,
    size_of,
    static_size,
)
from .comparisons import not_equal
from .operators import missing_dtype, subtract
from .shape import join
from .types import Array, ArrayLike, Dims

# Positions known while tracing are read as at most this many slices; more of them as a gather.
MOST_SLICES = 16
# (start, step, length) of positions.
Run: TypeAlias = tuple[int, int, int]
# Beyond any array; positions that far are computed without overflow.
FARTHEST = 2**62


def read_positions(x: Tracer, dim: str, positions: np.ndarray) -> Tracer:
    """The elements of `x` at positions known while tracing (none negative or out of range)."""
    runs = _runs(positions)
    if runs is None:
        return build.gather("clip", x, {dim: build.constant(positions.astype("i8"), (dim,))})
    return read_runs(x, dim, runs)


def _runs(positions: np.ndarray) -> list[Run] | None:
    """The regular pieces that the positions consist of, or None where there are more than `MOST_SLICES`."""
    count = len(positions)
    if not count:
        return [(0, 1, 0)]
    steps = np.diff(positions.astype("i8"))
    # Where a step differs from the one before: at most twice for each piece.
    changes = np.flatnonzero(steps[1:] != steps[:-1]) + 1
    if len(changes) > 2 * MOST_SLICES:
        return None
    runs: list[Run] = []
    i = 0
    while i < count:
        step = int(steps[i]) if i + 1 < count else 1
        later = changes[changes > i]
        j = int(later[0]) + 1 if len(later) else count
        # Two elements far apart start a run of one, so that the second may start a longer one.
        if j - i == 2 and j < count and step not in (-1, 0, 1):
            j = i + 1
        runs.append((int(positions[i]), step if j - i > 1 else 1, j - i))
        i = j
    return runs if len(runs) <= MOST_SLICES else None


def read_runs(x: Tracer, dim: str, runs: Iterable[Run]) -> Tracer:
    return join([_read_run(x, dim, *run) for run in runs], dim)


def _read_run(x: Tracer, dim: str, start: int, step: int, length: int) -> Tracer:
    if step == 0:
        one = build.squeeze(build.slice(x, {dim: (start, 1, 1)}), (dim,))
        return extend(one, {dim: length}, x.dims)
    if step > 0:
        if (start, step, length) == (0, 1, x.sizes[dim]):
            return x
        return build.slice(x, {dim: (start, length, step)})
    lowest = start + (length - 1) * step
    return build.reverse(build.slice(x, {dim: (lowest, length, -step)}), (dim,))


@op
def flip(x: ArrayLike, /, dim: Dims = None) -> Array:
    """Returns `x` with the elements along `dim` in reverse order. None reverses all dims.

    Raises:
        DimensionError: `x` does not have `dim`.

    Example:
    >>> xt.flip(xt.array([1, 2, 3], "time"), "time")
    <xtensor.Array (time: 3) int64>
    [3 2 1]
    """
    x = as_tracer(x)
    dims = dims_of("flip", x, dim)
    return build.reverse(x, dims) if dims else x


def roll(x: ArrayLike, shifts: Mapping[str, int] | None = None, /, **keywords: int) -> Array:
    """Returns `x` moved along dims, where elements that leave at the end enter at the start.

    roll(x, {"a": 1}) or roll(x, a=1) moves every element one position up; a negative amount moves it down.

    Raises:
        DimensionError: `x` does not have a dim that is named.

    Example:
    >>> xt.roll(xt.array([1, 2, 3], "time"), time=1)
    <xtensor.Array (time: 3) int64>
    [3 1 2]
    """
    return _roll(x, by_dim("roll", shifts, keywords, "shifts"))


@op(amounts={"shifts": any_int})
def _roll(x: ArrayLike, shifts: dict[str, int], /) -> Array:
    x = y = as_tracer(x)
    for dim, shift_ in _amounts("roll", x, shifts):
        is_known = is_static(x, dim) and not isinstance(shift_, Amount)
        y = rolled_by(y, dim, shift_) if is_known else _rolled(y, dim, shift_)
    return build.labelled(y, x)


def rolled_by(x: Tracer, dim: str, amount: int) -> Tracer:
    """`x` moved along a dim of a size known while tracing."""
    size = int(x.sizes[dim])
    by = amount % size if size else 0
    return read_runs(x, dim, [(size - by, 1, by), (0, 1, size - by)]) if by else x


def _rolled(x: Tracer, dim: str, amount: int | Amount) -> Tracer:
    size = p.cast(size_of(x, dim), p.I8)
    by = build.binary("mod", p.amount(amount, p.I8), size)
    return read_at(x, dim, _before(x, dim, by))


def rolled(x: Tracer, dim: str, back: bool) -> Tracer:
    """`x` moved by half of its size, which is dynamic: up, or `back`."""
    half = build.binary("floor_div", p.cast(size_of(x, dim), p.I8), p.constant(2, p.I8))
    by = build.unary("neg", half) if back else half
    return read_at(x, dim, build.binary("mod", _before(x, dim, by), p.cast(size_of(x, dim), p.I8)))


def _before(x: Tracer, dim: str, amount: Tracer) -> Tracer:
    """Of each position along a dim the one so far before it, there or not."""
    return build.binary("sub", build.iota(dim, size_of(x, dim), p.I8), amount)


def read_at(x: Tracer, dim: str, positions: Tracer) -> Tracer:
    return reorder(build.gather("clip", x, {dim: positions}), x.dims)


def _amounts(name: str, x: Tracer, by: dict[str, Any]) -> list[tuple[str, Any]]:
    """Of each dim an int, or an argument that stands for one."""
    missing = [d for d in by if d not in x.dims]
    if missing:
        raise unknown(name, missing[0], x.dims)

    def counted(d: str, v: Any) -> Any:
        if isinstance(v, Amount):
            return v
        return integer(name, v, f"the amount along {d!r}", instead=_by_positions(name, x, d))

    return [(d, counted(d, v)) for d, v in by.items()]


def _by_positions(name: str, x: Tracer, dim: str) -> str:
    """What to write for moving by an amount that is known only when the program runs."""
    at = f"xt.arange(x.sizes[{dim!r}], dim={dim!r}) - i"
    if name == "roll":
        return f"Write x.isel({dim}=({at}) % x.sizes[{dim!r}])"
    mask = f"xt.where(at >= 0, x.at({dim}=at).get(mode='clip'), float('nan'))"
    return f"With at = {at} write {mask}, of an i from 0 on"


def shift(
    x: ArrayLike, shifts: Mapping[str, int] | None = None, /, fill_value: ArrayLike | None = None, **keywords: int
) -> Array:
    """Returns `x` moved along dims, with `fill_value` (by default NaN) where elements are missing.

    shift(x, {"a": 1}) or shift(x, a=1) moves every element one position up. With NaN, integers become floats; bools
    raise DTypeError, because they cannot hold NaN.

    Raises:
        DimensionError: `x` does not have a dim that is named.
        DTypeError: bools are moved without `fill_value`: they cannot be NaN.
        ArgumentError: the call moves no dim but gives `fill_value`, and `x` has a dim of this name.

    Example:
    >>> xt.shift(xt.array([1.0, 2.0, 3.0], "time"), time=1)
    <xtensor.Array (time: 3) float64>
    [nan  1.  2.]
    """
    amounts = by_dim("shift", shifts, keywords, "shifts")
    not_a_dim("shift", x, amounts, "fill_value", fill_value is not None)
    return _shift(x, amounts, fill_value)


@op(amounts={"shifts": Within(-FARTHEST, FARTHEST)})
def _shift(x: ArrayLike, shifts: dict[str, int], fill_value: ArrayLike | None = None, /) -> Array:
    x = as_tracer(x)
    if fill_value is None:
        dtype = missing_dtype("shift", x)
        x, fill = p.cast(x, dtype), p.constant(np.nan, dtype)
    else:
        x, fill = p.promote(x, fill_value)
    no_dims("shift", "fill_value", fill)
    y = x
    for dim, amount in _amounts("shift", x, shifts):
        if isinstance(amount, Amount):
            y = _shifted(y, dim, amount, fill)
            continue
        if not is_static(x, dim):
            y = _shifted(y, dim, max(-FARTHEST, min(amount, FARTHEST)), fill)
            continue
        size = int(x.sizes[dim])
        gap = min(size, max(amount, -amount))
        if gap == 0:
            continue
        kept = build.slice(y, {dim: (0 if amount > 0 else gap, size - gap, 1)})
        low, high = (gap, 0) if amount > 0 else (0, gap)
        y = build.pad(kept, fill, {dim: (low, high, 0)})
    return build.labelled(y, x)


def _shifted(x: Tracer, dim: str, amount: int | Amount, fill: Tracer) -> Tracer:
    at = _before(x, dim, p.amount(amount, p.I8))
    there = inside(at, p.cast(size_of(x, dim), p.I8))
    return reorder(build.select(there, read_at(x, dim, at), fill), x.dims)


def inside(positions: Tracer, size: Tracer) -> Tracer:
    """Which of the positions there are."""
    low = build.compare("ge", positions, p.constant(0, p.I8))
    return build.binary("and", low, build.compare("lt", positions, size))


def no_dims(name: str, what: str, value: Tracer) -> None:
    if value.dims:
        raise fail(ArgumentError, name, f"{what} must not have dims", value)


def tile(x: ArrayLike, counts: Mapping[str, int] | None = None, /, **keywords: int) -> Array:
    """Returns `x` repeated as a whole along dims: tile(x, {"t": 3}) or tile(x, t=3).

    Raises:
        DimensionError: `x` does not have a dim that is named.
        ArgumentError: a count is negative.

    Example:
    >>> xt.tile(xt.array([1, 2], "time"), time=2)
    <xtensor.Array (time: 4) int64>
    [1 2 1 2]
    """
    return _tile(x, by_dim("tile", counts, keywords, "counts"))


def _several_plan(x: Any, counts: Mapping[str, Any], name: str) -> Any:
    if not isinstance(x, _native.Array) or not all(type(c) is int and 0 <= c < FARTHEST for c in counts.values()):
        return None
    if not counts or not all(x.sizes.get(d) for d in counts):
        return None
    rooms = [room(d, x.sizes[d] * c, x._device) for d, c in counts.items()]
    return renamed(x, {d: apart(d) for d in counts}), rooms, dict(counts), name


def _several_wide(x: ArrayLike, rooms: Sequence[ArrayLike], amounts: dict[str, Any], name: str, /) -> Array:
    x = as_tracer(x)
    for space, (dim, count) in zip(rooms, amounts.items(), strict=True):
        if name == "list":
            return elsewhere(x, dim, as_tracer(space))
        at = places(space, dim)
        if name == "tile":
            at = build.binary("mod", at, p.cast(size_of(x, apart(dim)), p.I8))
        else:
            at = build.binary("floor_div", at, p.amount(count, p.I8))
        x = elsewhere(x, dim, at)
    return x


def places(space: ArrayLike, dim: str) -> Tracer:
    """The positions along a dim of the result, whose size `space` has (`room`)."""
    return build.iota(dim, size_of(as_tracer(space), dim), p.I8)


def elsewhere(x: Tracer, dim: str, positions: Tracer, number: int = 0) -> Tracer:
    """The elements of `x` at positions along a dim that is called otherwise in `x`, in its place."""
    old = apart(dim, number)
    y = build.gather("clip", x, {old: positions})
    return reorder(y, [dim if d == old else d for d in x.dims])


def spans(
    x: Tracer, dim: str, into: str, space: ArrayLike, inner: Size, start: Any, step: Any = 1, gap: int = 1,
    *, fill: Tracer | None = None, spread: int = 1,
) -> Tracer:  # fmt: skip
    """For a program of all sizes: windows of `inner` elements along a dim that is called otherwise in `x` (`apart`).

    The elements of a window lie along the new last dim `into`, `gap` apart; the first window begins at `start`, the
    next one `step` later, and as many as `space` has. `fill` stands for elements beyond the ends. spread: the elements
    of `x` lie so far apart, with `fill` between them.
    """
    at = build.binary("add", build.binary("mul", places(space, dim), p.amount(step, p.I8)), p.amount(start, p.I8))
    at = build.binary("add", at, build.binary("mul", build.iota(into, inner, p.I8), p.constant(gap, p.I8)))
    hit = None
    if spread != 1:
        hit = build.compare("eq", build.binary("mod", at, p.constant(spread, p.I8)), p.zero(p.I8))
        at = build.binary("floor_div", at, p.constant(spread, p.I8))
    old = apart(dim)
    y = build.gather("clip", x, {old: at})
    if fill is not None:
        there = inside(at, p.cast(size_of(x, old), p.I8))
        y = build.select(there if hit is None else build.binary("and", there, hit), y, fill)
    return reorder(y, (*(dim if d == old else d for d in x.dims), into))


@op(wide=(lambda x, counts, /: _several_plan(x, counts, "tile"), _several_wide))
def _tile(x: ArrayLike, counts: dict[str, int], /) -> Array:
    x = as_tracer(x)
    for dim, count in _amounts("tile", x, counts):
        x = _several(x, dim, count, "tile")
    return x


def _several(x: Tracer, dim: str, count: int, name: str) -> Tracer:
    """Each element, or the whole of `dim`, `count` times."""
    if count < 0:
        raise fail(ArgumentError, name, f"a count of {count} along {dim!r}", x, instead="Give 0 or more")
    if count == 1:
        return x
    static_size(name, x, dim)
    copy = fresh(x.dims, "copy")
    many = extend(x, {copy: count}, (copy, *x.dims))
    both = (copy, dim) if name == "tile" else (dim, copy)
    return reorder(build.merge(many, both, dim), x.dims)


def _repeat_plan(x: Any, repeats: Any, dim: Any, /) -> Any:
    if not isinstance(repeats, (list, tuple)):
        return _several_plan(x, {dim: repeats}, "repeat")
    if not isinstance(x, _native.Array) or len(repeats) != x.sizes.get(dim) or not sum(repeats):
        return None
    if not all(type(r) is int and 0 <= r < FARTHEST for r in repeats) or sum(repeats) > LARGEST:
        return None
    at = from_values(np.repeat(np.arange(len(repeats)), repeats), dims=(dim,))
    return renamed(x, {dim: apart(dim)}), [_native.to_device(at, x._device)], {dim: None}, "list"


def repeat(x: ArrayLike, repeats: int | Sequence[int], /, dim: str) -> Array:
    """Returns `x` with each element repeated along `dim`.

    `repeats` is an int, or a list with one count per element (SizeError if its length differs).

    Raises:
        DimensionError: `x` does not have `dim`.
        SizeError: `repeats` does not have one count per element.
        ArgumentError: a count is negative.

    Example:
    >>> xt.repeat(xt.array([1, 2], "time"), 2, "time")
    <xtensor.Array (time: 4) int64>
    [1 1 2 2]
    """
    if type(x) is Concrete and x.meta is None and type(dim) is str and not tracing():
        counts = _many_counts(repeats)
        if counts is not None and len(counts) == x.sizes.get(dim):
            at = from_values(np.repeat(np.arange(len(counts)), counts), dims=(dim,))
            return _repeat_many(renamed(x, {dim: apart(dim)}), _native.to_device(at, x._device), dim)
    return _repeat(x, repeats, dim)


def _many_counts(repeats: Any) -> np.ndarray | None:
    """The counts of many elements; None where they are few, or something may be wrong."""
    if isinstance(repeats, (list, tuple)):
        if len(repeats) <= LARGEST or not all(type(r) is int and 0 <= r < FARTHEST for r in repeats):
            return None
        repeats = np.array(repeats)
    if type(repeats) is not np.ndarray or repeats.ndim != 1 or repeats.size <= LARGEST:
        return None
    return repeats if repeats.dtype.kind == "i" and repeats.min() >= 0 and repeats.any() else None


@op(name="repeat")
def _repeat_many(x: ArrayLike, at: ArrayLike, dim: str, /) -> Array:
    """By positions that are an argument, so that one program serves all counts."""
    return elsewhere(as_tracer(x), dim, as_tracer(at))


@op(name="repeat", wide=(_repeat_plan, _several_wide))
def _repeat(x: ArrayLike, repeats: int | Sequence[int], dim: str, /) -> Array:
    x = as_tracer(x)
    (dim,) = dims_of("repeat", x, [dim])
    if isinstance(repeats, Tracer) or not isinstance(repeats, Iterable) or getattr(repeats, "shape", None) == ():
        return _several(x, dim, integer("repeat", repeats, "repeats"), "repeat")
    counts = [integer("repeat", r, "a repeat") for r in repeats]
    size = static_size("repeat", x, dim)
    if len(counts) != size or any(c < 0 for c in counts):
        raise fail(SizeError, "repeat", f"{counts} is not one count per element of {dim!r}", x)
    return read_positions(x, dim, np.repeat(np.arange(size), counts))


def _diff_plan(x: Any, dim: Any, /, n: Any = 1, *, label: Any = "upper") -> Any:
    if not isinstance(x, _native.Array) or type(dim) is not str or type(n) is not int:
        return None
    if label not in ("upper", "lower") or not 1 <= n < x.sizes.get(dim, 0):
        return None
    return renamed(x, {dim: apart(dim)}), room(dim, x.sizes[dim] - n, x._device), dim, n


def _diff_wide(x: ArrayLike, space: ArrayLike, dim: str, n: int, /) -> Array:
    x = as_tracer(x)
    minus = not_equal if x.dtype == p.BOOL else subtract
    at = places(space, dim)
    found = [elsewhere(x, dim, build.binary("add", at, p.constant(i, p.I8))) for i in range(n + 1)]
    while len(found) > 1:
        found = [as_tracer(minus(b, a)) for a, b in pairwise(found)]
    return found[0]


MOST_DIFFERENCES = 8  # in a row, without a loop


def diff(x: ArrayLike, dim: str, /, n: int = 1, *, label: str = "upper") -> Array:
    """Returns the n-th difference of neighbours along `dim`, whose size shrinks by n.

    For bools it tells whether neighbours differ. `label` says whose coordinate a difference keeps: "upper" or "lower".

    Raises:
        DimensionError: `x` does not have `dim`.
        ArgumentError: `n` is negative, or `label` is another word.

    Example:
    >>> xt.diff(xt.array([1, 4, 9], "time"), "time")
    <xtensor.Array (time: 2) int64>
    [3 5]
    """
    if type(x) is Concrete and x.meta is None and type(n) is int and type(dim) is str and not tracing():
        size = x.sizes.get(dim, 0)
        if MOST_DIFFERENCES < n < size and x.size <= LARGEST and label in ("upper", "lower"):
            return _diff_often(renamed(x, {dim: apart(dim)}), room(dim, size - n, x._device), dim, n)
    return _diff(x, dim, n, label=label)


@op(name="diff", amounts={"n": any_int})
def _diff_often(x: ArrayLike, space: ArrayLike, dim: str, n: int, /) -> Array:
    """By a loop, which is one program for all n. What lies behind the last difference is not read."""
    x = as_tracer(x)
    minus, old = not_equal if x.dtype == p.BOOL else subtract, apart(dim)
    one, none = p.constant(1, p.I8), p.zero(p.I8)
    next_ = build.binary("add", build.iota(old, size_of(x, old), p.I8), one)

    def step(carry: Any) -> Any:
        left, y = carry
        later = reorder(build.gather("clip", y, {old: next_}), y.dims)
        return build.binary("sub", left, one), as_tracer(minus(later, y))

    start = p.amount(n, p.I8), x
    _, y = while_loop(lambda carry: build.compare("gt", carry[0], none), step, start, None, op="diff")
    return elsewhere(y, dim, places(space, dim))


@op(name="diff", wide=(_diff_plan, _diff_wide))
def _diff(x: ArrayLike, dim: str, /, n: int = 1, *, label: str = "upper") -> Array:
    x = as_tracer(x)
    (dim,) = dims_of("diff", x, [dim])
    times = integer("diff", n, "n")
    if times < 0:
        raise fail(ArgumentError, "diff", f"n is 0 or more, not {n}", x)
    if label not in ("upper", "lower"):
        raise fail(ArgumentError, "diff", f"label is 'upper' or 'lower', not {label!r}", x)
    minus = not_equal if x.dtype == p.BOOL else subtract
    times = min(times, static_size("diff", x, dim)) if times else 0  # nothing is left after that
    for _ in range(times):
        left = max(static_size("diff", x, dim) - 1, 0)
        start = min(1, int(x.sizes[dim]))
        later = build.slice(x, {dim: (start, left, 1)})
        y = as_tracer(minus(later, build.slice(x, {dim: (0, left, 1)})))
        x = build.labelled(y, x, {dim: ("slice", start if label == "upper" else 0, left, 1)})
    return x
