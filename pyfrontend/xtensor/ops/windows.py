"""Sliding windows along dims, as in xarray, and what blocks of a dim (coarsening.py) share with them.

A window is a view: a reduction over it reads the source directly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _native
from ..base.calls import call_with, check_methods, in_words, is_flag
from ..base.dims import brief, check_name, unknown
from ..base.errors import ArgumentError, ArgumentTypeError, DimensionError, DTypeError
from ..base.lacking import lacks, methods_of
from ..base.refusals import Unfinished
from ..call.dispatch import op
from ..call.opened import apart, room
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from . import promotion as p
from .arguments import Size, by_dim, extend, fail, fresh, integer, is_static, reorder, size_of, static_size
from .moments import Moments
from .moving import inside
from .operators import missing_dtype, where
from .quantiles import median
from .reductions import constant_at_ends, count
from .types import Array, ArrayLike


def checked(name: str, x: Tracer, amounts: Mapping[str, Any], what: str, least: int = 1) -> dict[str, int]:
    """Ints by dim, each a dim of `x` and at least `least`."""
    missing = [d for d in amounts if d not in x.dims]
    if missing:
        raise unknown(name, missing[0], x.dims)
    found = {d: integer(name, n, f"the {what} of {d!r}") for d, n in amounts.items()}
    for dim, n in found.items():
        if n < least:
            raise fail(ArgumentError, name, f"the {what} of {dim!r} is {least} or more, not {n}", x)
    return found


def blocks(x: Tracer, dim: str, size: int, into: str) -> Tracer:
    """`dim` cut into blocks of `size`, which divides it; the places inside of each are the last dim `into`."""
    count = static_size("window", x, dim) // size
    order = (*x.dims, into)
    return reorder(build.split(x, dim, {dim: count, into: size}), order)


def windows(x: Tracer, dim: str, size: int, into: str, stride: int = 1, dilation: int = 1) -> Tracer:
    """The whole windows along `dim`; the places inside of each are the last dim `into`."""
    length = static_size("window", x, dim)
    if stride == size and dilation == 1 and length % size == 0:
        return blocks(x, dim, size, into)
    return build.window(x, dim, into, size, stride, dilation)


def _with_nan(x: Tracer) -> Tracer:
    """In a dtype that has NaN, for incomplete windows."""
    if x.dtype == p.BOOL:
        raise fail(
            DTypeError, "rolling", "incomplete windows give NaN, and bools cannot be NaN", x,
            instead='Cast them first: x.astype("f4").rolling(..): max is any of a window, min is all of it',
        )  # fmt: skip
    return p.cast(x, missing_dtype("rolling", x))


def in_full(kind: str, x: Tracer) -> Tracer:
    """In the dtype in which moments are computed: 16-bit floats in f4."""
    return p.cast(x, p.accumulator(x.dtype)) if kind in ("mean", "var", "std") else x


def narrow(kind: str, x: Tracer) -> np.dtype:
    """The dtype of what the windows of `x` are reduced to."""
    return p.real_of(x.dtype) if kind in ("var", "std") else x.dtype


def reduced(kind: str, x: Tracer, dims: tuple[str, ...]) -> Tracer:
    if x.dtype == p.BOOL and kind in ("max", "min"):
        kind = "any" if kind == "max" else "all"
    if kind == "median":
        return as_tracer(median(x, dims, skipna=False))
    if kind == "mean":
        return build.binary("div", reduced("sum", x, dims), count(x, dims, x.dtype))
    if kind in ("var", "std"):
        # Far from 0, a mean has few digits of what elements differ by. It has all of them beside one of the elements.
        # An open dim has no first one that could be named: there, what a rounded mean lacks is the mean of the rest.
        if all(is_static(x, d) for d in dims):
            near = build.squeeze(build.slice(x, dict.fromkeys(dims, (0, 1, 1))), dims)
        else:
            near = reduced("mean", x, dims)
        x = build.binary("sub", x, build.stop_gradient(near))
        centred = build.binary("sub", x, reduced("mean", x, dims))
        y = reduced("mean", p.size_squared(centred), dims)
        return y if kind == "var" else _root(y)
    return build.reduce(kind, x, dims)


def _root(x: Tracer) -> Tracer:
    """The square root, whose derivative at 0 counts as 0."""
    return constant_at_ends(x, lambda x: build.unary("sqrt", x))


# Elements of all windows together that a program for every length reads at computed positions. More of them take longer
# than a compilation.
_MOST_READ = 1 << 19


def _rooms(x: Any, sizes: Mapping[str, int]) -> list[Any] | None:
    """The lengths of the windows, as sizes; None where a program for these very lengths is the better one."""
    if not isinstance(x, _native.Array) or x.size * math.prod(sizes.values()) > _MOST_READ:
        return None
    return [room(apart("window", i), n, x._device) for i, n in enumerate(sizes.values())]


def _lengths(rooms: Sequence[ArrayLike], center: Mapping[str, bool]) -> dict[str, Size]:
    return {d: size_of(as_tracer(n), apart("window", i)) for i, (d, n) in enumerate(zip(center, rooms, strict=True))}


def _construct_plan(
    x: Any, names: dict[str, str], sizes: dict[str, int], center: dict[str, bool], stride: dict[str, int],
    fill_value: Any, /,
) -> Any:  # fmt: skip
    rooms = None if any(n != 1 for n in stride.values()) else _rooms(x, sizes)
    if rooms is None or type(fill_value) not in (int, float, bool):
        return None
    named = [room(names[d], n, x._device) for d, n in sizes.items()]
    return x, named, center, fill_value


def _construct_wide(
    x: ArrayLike, named: Sequence[ArrayLike], center: dict[str, bool], fill_value: ArrayLike, /
) -> Array:  # fmt: skip
    x, fill = _filled(as_tracer(x), as_tracer(fill_value))
    for d, space in zip(center, named, strict=True):
        (into,) = as_tracer(space).dims
        size = size_of(as_tracer(space), into)
        x = _around(x, fill, d, into, size, _low(size, center[d]))
    return x


def _filled(x: Tracer, fill: Tracer) -> tuple[Tracer, Tracer]:
    """Both in the dtype of the result."""
    x = x if x.dtype == fill.dtype == p.BOOL else _with_nan(x)
    return x, p.cast(fill, x.dtype)


@op(name="rolling.construct", wide=(_construct_plan, _construct_wide))
def _construct(
    x: ArrayLike, names: dict[str, str], sizes: dict[str, int], center: dict[str, bool], stride: dict[str, int],
    fill_value: ArrayLike, /,
) -> Array:  # fmt: skip
    x, fill = _filled(as_tracer(x), as_tracer(fill_value))
    for dim, size in sizes.items():
        if stride[dim] != 1:
            static_size("rolling.construct", x, dim)
        x = _around(x, fill, dim, names[dim], size, _low(size, center[dim]), stride[dim])
    return x


def _low(size: Any, center: bool) -> Any:
    """How many elements of a window lie before its place."""
    if isinstance(size, int):
        return size // 2 if center else size - 1
    size = p.cast(size, p.I8)
    return build.binary("floor_div", size, p.constant(2, p.I8)) if center else _less_one(size)


def _less_one(size: Size) -> Tracer:
    return build.binary("sub", p.cast(size, p.I8), p.constant(1, p.I8))


def _around(x: Tracer, fill: Tracer, dim: str, into: str, size: Size, low: Size, stride: int = 1) -> Tracer:
    """The window around each place, with `fill` beyond the ends, as the last dim `into`."""
    if is_static(x, dim) and isinstance(size, int) and isinstance(low, int):
        return build.window(build.pad(x, fill, {dim: (low, size - 1 - low, 0)}), dim, into, size, stride)
    length = size_of(x, dim)
    start = build.binary("sub", build.iota(dim, length), p.cast(low, p.I8))
    at = build.binary("add", start, build.iota(into, size))
    y = build.select(inside(at, p.cast(length, p.I8)), build.gather("clip", x, {dim: at}), fill)
    return build.labelled(reorder(y, (*x.dims, into)), x)


def _rolled_anywhere(kind: str, x: Tracer, sizes: Mapping[str, Size], center: dict[str, bool]) -> Tracer:
    """Of whole windows, where a size or a length is known to the call only."""
    names, y, whole = [], x, p.constant(True, p.BOOL)
    for dim, size in sizes.items():
        low = _low(size, center[dim])
        names.append(fresh(y.dims, "window"))
        y = _around(y, p.zero(x.dtype), dim, names[-1], size, low)
        length = p.cast(size_of(x, dim), p.I8)
        first = build.binary("sub", build.iota(dim, size_of(x, dim)), p.cast(low, p.I8))
        last = build.binary("add", first, _less_one(size))
        for end in (first, last):
            whole = build.binary("and", whole, inside(end, length))
    y = reduced(kind, y, tuple(names))
    return reorder(build.select(whole, y, p.constant(np.nan, y.dtype)), x.dims)


def _totals(x: Tracer, sizes: Mapping[str, Size], center: dict[str, bool]) -> Tracer:
    """The sum of what each window has of the array."""
    names: list[str] = []
    y = x
    for dim, size in sizes.items():
        names.append(fresh(y.dims, "window"))
        y = _around(y, p.zero(x.dtype), dim, names[-1], size, _low(size, center[dim]))
    return build.labelled(reorder(build.reduce("sum", y, tuple(names)), x.dims), x)


def _counted_plan(x: Any, sizes: dict[str, int], center: dict[str, bool], dtype: str, /) -> Any:
    rooms = _rooms(x, sizes)
    return None if rooms is None or 0 in x.shape else (x, rooms, center, dtype)


def _counted_wide(x: ArrayLike, rooms: Sequence[ArrayLike], center: dict[str, bool], dtype: str, /) -> Array:
    return _totals(p.cast(as_tracer(x), np.dtype(dtype)), _lengths(rooms, center), center)


@op(name="rolling.count", wide=(_counted_plan, _counted_wide))
def _counted(x: ArrayLike, sizes: dict[str, int], center: dict[str, bool], dtype: str, /) -> Array:
    return _totals(p.cast(as_tracer(x), np.dtype(dtype)), sizes, center)


def _rolled_plan(
    kind: str, x: Any, sizes: dict[str, int], center: dict[str, bool], min_periods: int | None, /
) -> Any:  # fmt: skip
    rooms = _rooms(x, sizes)
    if rooms is None or 0 in x.shape or (min_periods is None and any(n > x.sizes[d] for d, n in sizes.items())):
        return None
    return kind, x, rooms, center, [] if min_periods is None else [min_periods]


def _rolled_wide(
    kind: str, x: ArrayLike, rooms: Sequence[ArrayLike], center: dict[str, bool], amounts: list[Any], /
) -> Array:  # fmt: skip
    x, sizes = _with_nan(as_tracer(x)), _lengths(rooms, center)
    wide = in_full(kind, x)
    if amounts:
        return p.cast(_rolled_present(kind, wide, sizes, center, amounts[0]), narrow(kind, x))
    return p.cast(_rolled_anywhere(kind, wide, sizes, center), narrow(kind, x))


@op(name="rolling", wide=(_rolled_plan, _rolled_wide))
def _rolled(
    kind: str, x: ArrayLike, sizes: dict[str, int], center: dict[str, bool], min_periods: int | None, /
) -> Array:
    x = _with_nan(as_tracer(x))
    return p.cast(_of_windows(kind, in_full(kind, x), sizes, center, min_periods), narrow(kind, x))


def _of_windows(
    kind: str, x: Tracer, sizes: dict[str, int], center: dict[str, bool], min_periods: int | None
) -> Tracer:  # fmt: skip
    if min_periods is not None:
        return _rolled_present(kind, x, sizes, center, min_periods)
    if not all(is_static(x, d) for d in sizes):
        return _rolled_anywhere(kind, x, sizes, center)
    shape = {d: size_of(x, d) for d in x.dims}
    if any(size > static_size("rolling", x, d) for d, size in sizes.items()):
        nan = p.constant(np.nan, narrow(kind, x))
        return build.labelled(extend(nan, shape, tuple(shape)), x)
    if _is_spread(kind, x):
        variance = Moments(p.constant(1, x.dtype), x).windows(sizes).variance()
        y = reorder(variance if kind == "var" else _root(variance), x.dims)
    else:
        names: list[str] = []
        y = x
        for dim, size in sizes.items():
            names.append(fresh(y.dims, "window"))
            y = windows(y, dim, size, names[-1])
        y = reorder(reduced(kind, y, tuple(names)), x.dims)
    nan = p.constant(np.nan, y.dtype)
    for dim, size in sizes.items():
        low = _low(size, center[dim])
        y = build.pad(y, nan, {dim: (low, size - 1 - low, 0)})
    return build.labelled(y, x)  # long windows are merged from parts, whose labels are those of other positions


def _is_spread(kind: str, x: Tracer) -> bool:
    return kind in ("var", "std") and x.dtype.kind == "f"


# What a window has: of an array, a fill for what it lacks, a dim and a new dim for the places in a window.
_Windows = Callable[[Tracer, Tracer, str, str], Tracer]


def _reduced_present(
    kind: str, x: Tracer, present: Tracer, fill: Tracer, sizes: Mapping[str, Size], windows_of: _Windows
) -> tuple[Tracer, Tracer]:
    """How many elements each window has, and what they are reduced to."""
    names = {}
    for dim in sizes:
        names[dim] = fresh(x.dims, "window")
        x = windows_of(x, fill, dim, names[dim])
        present = windows_of(present, p.zero(present.dtype), dim, names[dim])
    over = tuple(names.values())
    number = build.reduce("sum", present, over)
    if kind not in ("mean", "var", "std"):
        return number, build.reduce(kind, x, over)
    at_least_one = build.binary("maximum", number, p.constant(1, number.dtype))
    y = mean = build.binary("div", build.reduce("sum", x, over), p.cast(at_least_one, x.dtype))
    if kind != "mean":
        # Around a mean that has few digits of what elements differ by, as far from 0: what it lacks is their own mean.
        present = p.cast(present, x.dtype)
        centred = build.binary("mul", build.binary("sub", x, build.stop_gradient(mean)), present)
        rest = build.binary("div", build.reduce("sum", centred, over), p.cast(at_least_one, x.dtype))
        centred = build.binary("mul", build.binary("sub", centred, rest), present)
        squares = build.reduce("sum", p.size_squared(centred), over)
        y = build.binary("div", squares, at_least_one)
    return number, _root(y) if kind == "std" else y


def _rolled_present(
    kind: str, x: Tracer, sizes: Mapping[str, Size], center: dict[str, bool], min_periods: Any
) -> Tracer:
    """Of what is there in each window, where that is at least `min_periods` elements."""
    lows = {d: _low(n, center[d]) for d, n in sizes.items()}
    if not all(is_static(x, d) and isinstance(n, int) for d, n in sizes.items()):
        around: _Windows = lambda v, fill, dim, into: _around(v, fill, dim, into, sizes[dim], lows[dim])  # noqa: E731
        return build.labelled(_of_present(kind, x, sizes, min_periods, around), x)
    ends = {d: (lows[d], int(n) - 1 - lows[d]) for d, n in sizes.items()}
    if len(sizes) > 1 or any(n > x.sizes[d] for d, n in sizes.items()):
        return build.labelled(_padded_present(kind, x, sizes, min_periods, ends), x)
    # Windows that extend beyond an end are few. All others read the array where it is.
    ((dim, (low, high)),) = ends.items()
    length, part = int(x.sizes[dim]), low + high
    pieces = [_padded_present(kind, x, sizes, min_periods, {dim: (0, 0)})]
    if low:
        start = build.slice(x, {dim: (0, part, 1)})
        pieces.insert(0, _padded_present(kind, start, sizes, min_periods, {dim: (low, 0)}))
    if high:
        end = build.slice(x, {dim: (length - part, part, 1)})
        pieces.append(_padded_present(kind, end, sizes, min_periods, {dim: (0, high)}))
    return build.labelled(build.concat(pieces, dim) if len(pieces) > 1 else pieces[0], x)


def _padded_present(
    kind: str, x: Tracer, sizes: Mapping[str, Any], min_periods: Any, ends: dict[str, tuple[int, int]]
) -> Tracer:
    """Of the windows of `x` with so many elements that lack beyond each end."""

    def padded(v: Tracer, fill: Tracer, dims: Iterable[str]) -> Tracer:
        amounts = {d: (*ends[d], 0) for d in dims if ends[d] != (0, 0)}
        return build.pad(v, fill, amounts) if amounts else v

    def windows_of(v: Tracer, fill: Tracer, dim: str, into: str) -> Tracer:
        return build.window(padded(v, fill, (dim,)), dim, into, sizes[dim], 1)

    def moments(x: Tracer, present: Tracer) -> tuple[Tracer, Tracer]:
        found = Moments(*(padded(v, p.zero(v.dtype), sizes) for v in (present, x))).windows(sizes)
        return found.count, found.variance()

    return _of_present(kind, x, sizes, min_periods, windows_of, moments if _is_spread(kind, x) else None)


def _of_present(
    kind: str, x: Tracer, sizes: Mapping[str, Size], min_periods: Any, windows_of: _Windows,
    moments: Callable[[Tracer, Tracer], tuple[Tracer, Tracer]] | None = None,
) -> Tracer:  # fmt: skip
    there, dims = build.compare("eq", x, x), x.dims
    neutral = {"max": -np.inf, "min": np.inf, "prod": 1.0}.get(kind, 0.0)
    x = build.select(there, x, p.constant(neutral, x.dtype))
    present = p.cast(there, p.real_of(x.dtype))
    if moments is None:
        number, y = _reduced_present(kind, x, present, p.constant(neutral, x.dtype), sizes, windows_of)
    else:
        number, y = moments(x, present)
        y = y if kind == "var" else _root(y)
    least = build.binary("maximum", p.amount(min_periods, number.dtype), p.constant(1, number.dtype))
    enough = build.compare("ge", number, least)
    return reorder(build.select(enough, y, p.constant(np.nan, y.dtype)), dims)


# Functions that take an array of windows and the dim to reduce.
_REDUCING = frozenset({
    "all", "any", "argmax", "argmin", "count_nonzero", "idxmax", "idxmin", "logsumexp", "max", "mean", "median", "min",
    "norm", "prod", "std", "sum", "var",
})  # fmt: skip


class Reductions(Unfinished):
    """What windows and blocks are reduced with; a subclass says over what."""

    __slots__ = ()

    if not TYPE_CHECKING:  # else any attribute would pass

        def __getattr__(self, name: str) -> Any:
            raise lacks(self, name, None if name.startswith("_") else self._instead(name))

    def _instead(self, name: str) -> str:
        """What to write for a reduction that is not a method."""
        of = f"x.{type(self).__name__.lower()}(..)"
        if name in ("apply", "map", "agg", "aggregate"):
            return f"write {of}.reduce(f), of an f(windows, dim) that reduces over dim"
        if name == "quantile":
            return f"write {of}.reduce(lambda w, dim: xt.quantile(w, 0.5, dim))"
        return f"write {of}.reduce(xt.{name})" if name in _REDUCING else methods_of(self)

    def _reduce(self, kind: str) -> Any:
        raise NotImplementedError

    def sum(self) -> Any:
        """Returns the sum of each, with the dims of the array."""
        return self._reduce("sum")

    def mean(self) -> Any:
        """Returns the mean of each, with the dims of the array."""
        return self._reduce("mean")

    def max(self) -> Any:
        """Returns the largest value of each, with the dims of the array. Ties share the gradient."""
        return self._reduce("max")

    def min(self) -> Any:
        """Returns the smallest value of each, with the dims of the array. Ties share the gradient."""
        return self._reduce("min")

    def prod(self) -> Any:
        """Returns the product of each, with the dims of the array."""
        return self._reduce("prod")

    def var(self) -> Any:
        """Returns the variance of each, with the dims of the array."""
        return self._reduce("var")

    def std(self) -> Any:
        """Returns the standard deviation of each, with the dims of the array; its derivative is 0 if all are equal."""
        return self._reduce("std")


def inside_of(x: Any, name: str) -> str:
    """The name of a new dim that the user's function sees: this one, unless the array has it."""
    return fresh(x.dims, name) if name in x.dims else name


class Rolling(Reductions):
    """Sliding windows of an array, one for each element: it ends there, or, with `center`, lies around it.

    Reductions give NaN where a window extends beyond the array.
    """

    __slots__ = ("_array", "_center", "_min_periods", "_sizes")

    def __init__(self, x: Any, sizes: dict[str, int], center: dict[str, bool], min_periods: int | None) -> None:
        self._array, self._sizes, self._center, self._min_periods = x, sizes, center, min_periods

    def __repr__(self) -> str:
        windows = ", ".join(f"{d}={n}" for d, n in self._sizes.items())
        return f"Rolling({windows}) of {brief(self._array)}"

    def _reduce(self, kind: str) -> Any:
        return _rolled(kind, self._array, self._sizes, self._center, self._min_periods)

    def construct(
        self,
        window_dim: str | Mapping[str, str] | None = None,
        /,
        stride: int | Mapping[str, int] = 1,
        fill_value: ArrayLike = float("nan"),
        **keywords: str,
    ) -> Any:
        """Returns the windows, with the positions inside of them as new last dims.

        construct("w") names the new dim of the one window dim, construct(t="w") that of `t`. Positions beyond the
        array hold `fill_value`. `stride` keeps every stride-th window.
        """
        if isinstance(window_dim, str):
            window_dim = dict.fromkeys(self._sizes, window_dim)
        given = by_dim("rolling.construct", window_dim, keywords, "names")
        names = {d: check_name(n, "rolling.construct") for d, n in given.items()}
        lacking = [d for d in self._sizes if d not in names]
        if lacking or len(names) > len(self._sizes):
            raise fail(
                ArgumentError, "rolling.construct", f"one name per dim {tuple(self._sizes)} is needed, not {names}"
            )  # fmt: skip
        taken = [*self._array.dims, *names.values()]
        twice = [n for n in names.values() if taken.count(n) > 1]
        if twice:
            raise fail(DimensionError, "rolling.construct", f"two dims would be named {twice[0]!r}", self._array)
        steps = dict(stride) if isinstance(stride, Mapping) else dict.fromkeys(self._sizes, stride)
        steps = {d: integer("rolling.construct", steps.get(d, 1), f"the stride of {d!r}", least=1) for d in self._sizes}
        return _construct(self._array, names, self._sizes, self._center, steps, fill_value)

    def reduce(self, function: Callable[..., Any], /, **keywords: Any) -> Any:
        """Returns `function(windows, dim)`, which reduces each window over `dim`, with the dims of the array.

        The result is NaN for windows with fewer than `min_periods` elements that are not NaN. In other windows,
        elements beyond the array are NaN: `function` has to leave NaN out.
        """
        names = {d: inside_of(self._array, f"window_{d}") for d in self._sizes}
        over = tuple(names.values())
        steps = dict.fromkeys(names, 1)
        y = _construct(self._array, names, self._sizes, self._center, steps, float("nan"))
        given = [y, over if len(over) > 1 else over[0]]
        y = call_with("rolling.reduce", function, given, keywords, roles=("windows", "dim"))
        return self._of_enough(y, self._counts("f4"))

    def _counts(self, dtype: str) -> Any:
        """How many elements of each window are not NaN."""
        x = self._array
        return _counted(x == x, self._sizes, self._center, dtype)

    def _of_enough(self, y: Any, counts: Any) -> Any:
        """`y`, but NaN where too many elements of a window are missing."""
        least = math.prod(self._sizes.values()) if self._min_periods is None else self._min_periods
        return where(counts >= max(least, 1), y, float("nan"))

    def median(self) -> Any:
        """Returns the median of what is not NaN in each window, with the dims of the array."""
        if self._min_periods is None:
            return self._reduce("median")
        return self.reduce(lambda windows, dim: median(windows, dim, skipna=True))

    def count(self) -> Any:
        """Returns how many elements of each window are not NaN, with the dims of the array.

        As in xarray, these are floats, and NaN for windows with fewer than `min_periods` such elements.
        """
        counts = self._counts("f4" if np.dtype(self._array.dtype).itemsize < 8 else "f8")
        return self._of_enough(counts, counts)


def rolling(
    x: ArrayLike,
    windows: str | Mapping[str, int] | None = None,
    window: int | None = None,
    /,
    min_periods: int | None = None,
    center: bool | Mapping[str, bool] = False,
    **keywords: Any,
) -> Rolling:
    """Returns sliding windows along dims: rolling(x, t=3), rolling(x, "t", 3) or rolling(x, dim="t", window=3).

    The result has the methods mean, sum, max, min, prod, var, std, median, count, reduce(function) and construct(name).
    A window ends at its element, or lies around it with `center=True`. `min_periods` is how many elements that are not
    NaN a window needs, by default all of them.

    Raises:
        DimensionError: `x` does not have a dim that is named.
        ArgumentError: a window is below 1, or `min_periods` is negative.

    Example:
    >>> xt.rolling(xt.array([1.0, 3.0, 5.0, 9.0], "time"), time=2).mean()
    <xtensor.Array (time: 4) float64>
    [nan  2.  4.  7.]
    """
    array = array_of(x)
    for each in center.values() if isinstance(center, Mapping) else [center]:
        if not is_flag(each):
            told = f"center is True, False or a dict of them, not {in_words(each)}"
            raise fail(ArgumentTypeError, "rolling", told, array)
    if windows is None and window is None and set(keywords) == {"dim", "window"}:
        windows, window = keywords.pop("dim"), keywords.pop("window")
    if isinstance(windows, str):
        if window is None:
            raise fail(ArgumentError, "rolling", f"the length of the window along {windows!r} is missing", array)
        windows = {windows: window}
    elif window is not None:
        raise fail(ArgumentTypeError, "rolling", f"a length goes with the name of a dim, not with {windows!r}", array)
    sizes = checked("rolling", array, by_dim("rolling", windows, keywords, "windows"), "window")
    if not sizes:
        raise fail(ArgumentError, "rolling", "no dim is given", array, instead="Write x.rolling(time=3)")
    if min_periods is not None:
        min_periods = integer("rolling", min_periods, "min_periods", least=0)
        if min_periods == math.prod(sizes.values()):
            min_periods = None  # as by default: what is missing makes a result NaN by itself
    centred = dict(center) if isinstance(center, Mapping) else dict.fromkeys(sizes, bool(center))
    return Rolling(x, sizes, {d: bool(centred.get(d, False)) for d in sizes}, min_periods)


def array_of(x: Any) -> Any:
    """What has dims: traced, concrete or a DataArray as it is."""
    return x if hasattr(x, "dims") and hasattr(x, "dtype") else as_tracer(x)


check_methods(Rolling, "rolling")
