"""GroupBy: reductions, arithmetic and maps of the groups of an array. Reductions with weights are in weights.py.

groups.py tells the group of each position. A reduction is then one pass over the array (`segment_sum` and its like),
which is differentiable.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ..base.calls import call_with, check_methods, shown
from ..base.dims import brief
from ..base.errors import (
    ArgumentError,
    ArgumentTypeError,
    DimensionError,
    UnsupportedError,
)
from ..base.lacking import lacks, methods_of
from ..labels.xarray import is_dataarray
from ..trace.scope import tracing
from . import promotion as p
from . import quantiles, reductions, segment_quantiles, segments
from .arguments import fail, resolve, returned, skips
from .creation import arange
from .elementwise import astype, isnan, sqrt, stop_gradient
from .groups import (
    Grouping,
    array_of,
)
from .indexing import isel, read
from .moving import FARTHEST
from .operators import where
from .shape import concat, stack, unstack_to
from .standin import StandIn, relabelled
from .types import Dims
from .weights import squared_size


class GroupBy:
    """The groups of an array. A reduction has one element for each group, along a new dim in place of the grouped one.

    `g - other`, `g + other`, `g * other` and `g / other` pair each element with what `other` has for its group.
    """

    __slots__ = ("_at", "_grouping", "_name", "_x")

    def __init__(self, name: str, x: Any, grouping: Grouping, at: StandIn | None) -> None:
        self._name, self._x, self._grouping, self._at = name, x, grouping, at

    def __repr__(self) -> str:
        return f"GroupBy({', '.join(self._grouping.names)}: {self._grouping.count}) of {brief(self._x)}"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise lacks(self, name, None)
        raise lacks(self, name, self._instead(name))

    def __iter__(self) -> NoReturn:
        raise ArgumentTypeError(
            f"the groups of xt.{self._name} cannot be iterated over. Write x.{self._name}(..).map(f), of an f(part) of "
            f"the elements of one group, or iterate over x.to_xarray().{self._name}(..)"
        )

    def _instead(self, name: str) -> str:
        """What to write for a method of xarray's groups."""
        of = f"x.{self._name}(..)"
        if name in ("cumsum", "cumprod", "fillna", "where", "assign_coords"):
            return f"write {of}.map(lambda part: part.{name}(..)), outside of a traced function"
        if name in ("apply", "reduce", "agg", "aggregate", "transform"):
            return f"write {of}.map(f), of an f(part) of the elements of one group"
        if name in ("ffill", "pad", "bfill", "backfill", "nearest", "asfreq", "interpolate"):
            instead = " or x.interp(time=dates)" if name == "interpolate" else ""
            method = {"pad": "ffill", "backfill": "bfill"}.get(name, name)
            how = f', method="{method}"' if method in ("ffill", "bfill", "nearest") else ""
            return f"write x.reindex(time=dates{how}){instead}, of the dates that the result shall have"
        if name in ("groups", "groupers", "encoded", "dims", "sizes", "group1d", "shuffle_to_chunks"):
            return f"write it of the DataArray's groups, x.to_xarray().{self._name}(..).{name}"
        return methods_of(self)

    # ---- reductions ----

    def _bare(self) -> Any:
        return self._x if self._at is None else self._at.bare

    def _rest(self, dim: Dims) -> tuple[str, ...]:
        """Dims that are reduced besides the grouped ones: those of `dim`, by default none."""
        dims = self._grouping.dims
        if dim is None:
            return ()
        named = resolve(self._name, self._x.dims, dim)
        lacking = [d for d in dims if d not in named]
        if lacking:
            raise fail(
                DimensionError, self._name, f"the groups span the dims {dims}, and dim={dim!r} lacks {lacking[0]!r}",
                self._x, instead=f"Leave dim= out to reduce these, or name all of them; for {dim!r} alone, reduce the "
                "array itself",
            )  # fmt: skip
        return tuple(d for d in named if d not in dims)

    def _within(self, kind: str, dim: Dims, skipna: bool | None = None, *how: Any, **options: Any) -> Any:
        """The reduction over dims none of which is grouped, as in xarray: it keeps the grouped dims. None for others.

        As in other results that keep them, what is in no group is NaN."""
        g = self._grouping
        named = () if dim is None else resolve(self._name, self._x.dims, dim)
        if not named or any(d in g.dims for d in named):
            return None
        if kind == "count":
            y = reductions.sum(_counted(self._x, True), named)
        else:
            reduce = getattr(quantiles if kind in ("median", "quantile") else reductions, kind)
            y = reduce(self._x, *how, dim=named, **options, **({} if kind in ("any", "all") else {"skipna": skipna}))
        if g.known is None or not g.indexes or (g.known >= 0).all():
            return y
        y = astype(y, "f8") if np.dtype(y.dtype).kind in "biu" else y
        return where(array_of(self._bare(), g.known >= 0, g.dims), y, np.nan).transpose(*y.dims)

    def _finished(self, y: Any, **coords: Any) -> Any:
        """The result with the labels of the groups, and with `coords`."""
        at, grouping = self._at, self._grouping
        if at is None:
            return y
        if self._is_each():
            return at.labelled(y, at.dataset.assign_coords(coords), reduced=True)
        found = at.dataset.drop_dims(grouping.dims, errors="ignore").assign_coords({**grouping.indexes, **coords})
        return at.labelled(self._parted(y), found, reduced=True)

    def _is_each(self) -> bool:
        """Whether each element along a dim is a group, called as its label: the dim stays as it is, as in xarray."""
        g, name = self._grouping, self._name
        if name != "groupby" or g.known is None or g.dims != (g.into,) or g.into not in g.indexes:
            return False
        return np.array_equal(g.known, np.arange(g.count))

    def _parted(self, y: Any) -> Any:
        """With a dim for each coordinate that is grouped by."""
        g = self._grouping
        if len(g.indexes) < 2:
            return y
        dims = [part for d in y.dims for part in (g.names if d == g.into else (d,))]
        return unstack_to(y, {g.into: {name: len(index) for name, index in g.indexes.items()}}).transpose(*dims)

    def _empty_as_nan(self, y: Any) -> Any:
        """NaN for groups by label that have no elements, as in xarray. By codes, nothing depends on their values."""
        known = self._grouping.known
        if known is None or not self._grouping.indexes:
            return y
        counts = np.bincount(known[known >= 0].ravel(), minlength=self._grouping.count)
        if counts.all():
            return y
        some = array_of(self._bare(), counts > 0, (self._grouping.into,))
        y = astype(y, "f8") if np.dtype(y.dtype).kind in "biu" else y
        return where(some, y, np.nan).transpose(*y.dims)

    def _segment(self, kind: str, x: Any, skipna: bool | None) -> Any:
        g = self._grouping
        return getattr(segments, f"segment_{kind}")(x, g.codes, g.count, into=g.into, skipna=skipna)

    def _reduced(self, kind: str, dim: Dims, skipna: bool | None) -> Any:
        within = self._within(kind, dim, skipna)
        if within is not None:
            return within
        y, rest = self._segment(kind, self._bare(), skipna), self._rest(dim)
        if rest:
            # The sum and the product of a part are NaN by infinities alone if its NaN was left out.
            y = getattr(y, kind)(rest, skipna=skipna if kind in ("max", "min") else False)
        return self._finished(self._empty_as_nan(y))

    def sum(self, dim: Dims = None, *, skipna: bool | None = None) -> Any:
        """Returns the sum of each group: over the grouped dim, and over the others that `dim` names with it.

        If `dim` lacks the grouped dim, the sum is over `dim` alone, and keeps the grouped dim, as in xarray.
        """
        return self._reduced("sum", dim, skipna)

    def prod(self, dim: Dims = None, *, skipna: bool | None = None) -> Any:
        """Returns the product of each group. `dim` is that of `sum`."""
        return self._reduced("prod", dim, skipna)

    def max(self, dim: Dims = None, *, skipna: bool | None = None) -> Any:
        """Returns the largest value of each group. `dim` is that of `sum`. Ties share the gradient."""
        return self._reduced("max", dim, skipna)

    def min(self, dim: Dims = None, *, skipna: bool | None = None) -> Any:
        """Returns the smallest value of each group. `dim` is that of `sum`. Ties share the gradient."""
        return self._reduced("min", dim, skipna)

    def mean(self, dim: Dims = None, *, skipna: bool | None = None) -> Any:
        """Returns the mean of each group. `dim` is that of `sum`."""
        within = self._within("mean", dim, skipna)
        if within is not None:
            return within
        return self._finished(self._mean(self._bare(), dim, skipna))

    def _mean(self, x: Any, dim: Dims, skipna: bool | None) -> Any:
        rest = self._rest(dim)
        if not rest:
            return self._segment("mean", x, skipna)
        total = self._segment("sum", x, skipna).sum(rest, skipna=False)
        return total / self._segment("sum", _counted(x, skipna), None).sum(rest)

    def var(self, dim: Dims = None, *, ddof: int = 0, skipna: bool | None = None) -> Any:
        """Returns the variance of each group, divided by n - ddof. `dim` is that of `sum`."""
        within = self._within("var", dim, skipna, ddof=ddof)
        if within is not None:
            return within
        variance, count = self._variance(dim, ddof, skipna)
        return self._finished(self._narrow(where(count == 0, np.nan, variance)))

    def std(self, dim: Dims = None, *, ddof: int = 0, skipna: bool | None = None) -> Any:
        """Returns the standard deviation of each group, as `var`. Its derivative is 0 where all are equal."""
        within = self._within("std", dim, skipna, ddof=ddof)
        if within is not None:
            return within
        variance, count = self._variance(dim, ddof, skipna)
        flat = variance == 0
        root = where(flat, variance, sqrt(where(flat, 1.0, variance)))
        return self._finished(self._narrow(where(count == 0, np.nan, root)))

    def _variance(self, dim: Dims, ddof: int, skipna: bool | None) -> tuple[Any, Any]:
        """The variance, and of how many elements. Of none, a NaN would be one to derivatives, too."""
        x, rest = self._bare(), self._rest(dim)
        x = astype(x, "f8") if np.dtype(x.dtype).kind in "biu" else x
        x, order = astype(x, p.accumulator(np.dtype(x.dtype))), [d for d in x.dims if d not in rest]
        # Elements of no group stay finite: what is not added up has a derivative of 0 then, and not of 0 * NaN.
        centred = x - stop_gradient(self._spread(self._mean(x, dim, skipna), 0.0).transpose(*order))
        # Far from 0, the mean has few digits of what elements differ by. What it lacks is the mean of the rest.
        centred = centred - self._spread(self._mean(centred, dim, skipna), 0.0).transpose(*order)
        # Beside infinities, these are NaN where `x` is not.
        centred = where(isnan(x), 0, centred) if skips("groupby", skipna) else centred
        squares = self._segment("sum", squared_size(centred), False)
        count = self._segment("sum", _counted(x, skipna), None)
        if rest:
            squares, count = squares.sum(rest, skipna=False), count.sum(rest)
        return squares / (count - ddof).clip(min=0).astype(squares.dtype), count

    def _narrow(self, y: Any) -> Any:
        """A variance, or its root, in the dtype of the result."""
        return astype(y, p.real_of(p.mean_dtype(np.dtype(self._x.dtype), False)))

    def median(self, dim: Dims = None, *, skipna: bool | None = None) -> Any:
        """Returns the median of each group. `dim` is that of `sum`."""
        within = self._within("median", dim, skipna)
        if within is not None:
            return within
        return self._finished(self._ordered("median", dim, skipna=skipna))

    def quantile(self, q: Any, dim: Dims = None, *, method: str = "linear", skipna: bool | None = None) -> Any:
        """Returns the quantiles `q` of each group, several of them along a new last dim "quantile".

        `dim` is that of `sum`.
        """
        within = self._within("quantile", dim, skipna, q, method=method)
        if within is not None:
            return within
        y = self._ordered("quantile", dim, q=q, method=method, skipna=skipna)
        level = np.asarray(q, "f8")
        return self._finished(y, quantile=(("quantile",) if level.ndim else (), level))

    def _ordered(self, kind: str, dim: Dims, **how: Any) -> Any:
        """Order statistics, which are not put together from those of parts."""
        x, g, rest = self._bare(), self._grouping, self._rest(dim)
        codes = g.codes.expand_dims({d: x.sizes[d] for d in rest}) if rest else g.codes
        return getattr(segment_quantiles, f"segment_{kind}")(x, codes, g.count, into=g.into, **how)

    def count(self, dim: Dims = None) -> Any:
        """Returns how many elements of each group are not NaN, as i8. `dim` is that of `sum`."""
        within = self._within("count", dim)
        if within is not None:
            return within
        y, rest = self._segment("sum", _counted(self._bare(), True), None), self._rest(dim)
        return self._finished(self._empty_as_nan(y.sum(rest) if rest else y))

    def any(self, dim: Dims = None) -> Any:
        """Tells whether an element of each group differs from 0. `dim` is that of `sum`."""
        within = self._within("any", dim)
        if within is not None:
            return within
        y, rest = self._segment("max", self._bare() != 0, None), self._rest(dim)
        return self._finished(y.any(rest) if rest else y)

    def all(self, dim: Dims = None) -> Any:
        """Tells whether every element of each group differs from 0. `dim` is that of `sum`."""
        within = self._within("all", dim)
        if within is not None:
            return within
        y, rest = self._segment("min", self._bare() != 0, None), self._rest(dim)
        return self._finished(y.all(rest) if rest else y)

    def first(self, *, skipna: bool | None = None) -> Any:
        """Returns the first element of each group, or the first that is not NaN.

        skipna: whether NaN is left out; by default, `xt.option(skipna=)` decides. A group without elements gives NaN,
        by codes 0 of ints.
        """
        return self._picked("first", "min", skipna)

    def last(self, *, skipna: bool | None = None) -> Any:
        """Returns the last element of each group, or the last that is not NaN, as `first`."""
        return self._picked("last", "max", skipna)

    def _picked(self, name: str, kind: str, skipna: bool | None) -> Any:
        """The element of each group at its first or last position."""
        (dim,) = self._one_dim(name)
        x, g = self._bare(), self._grouping
        places = _positions(x, dim)
        if skips("groupby", skipna) and np.dtype(x.dtype).kind in "fc":
            # What is NaN lies behind all others, and so outside.
            places = where(x == x, places, FARTHEST if kind == "min" else -FARTHEST)
        at = getattr(segments, f"segment_{kind}")(places, g.codes, g.count, into=g.into)
        # Of no elements, the extreme position lies outside.
        fill = 0 if np.dtype(x.dtype).kind in "biu" else np.nan
        y = read(self._name, x, {dim: at}, mode="fill", fill_value=fill)
        y = y.transpose(*[g.into if d == dim else d for d in x.dims])
        return self._finished(self._empty_as_nan(y))

    def _one_dim(self, name: str) -> tuple[str, ...]:
        if len(self._grouping.dims) != 1:
            raise fail(UnsupportedError, f"{self._name}.{name}", "the groups span several dims", self._x)
        return self._grouping.dims

    # ---- one element for each of the array ----

    def _spread(self, y: Any, outside: float = np.nan) -> Any:
        """What `y` has for the group of each element, and `outside` for elements of no group."""
        g = self._grouping
        if g.known is not None and g.indexes:
            spread = isel(y, {g.into: array_of(self._bare(), np.maximum(g.known, 0), g.dims)})
            inside = g.known >= 0
            return spread if inside.all() else where(array_of(self._bare(), inside, g.dims), spread, outside)
        y = astype(y, "f8") if np.dtype(y.dtype).kind in "biu" else y
        # From the end, a negative code would be a group.
        codes = where(g.codes < 0, g.count, g.codes)
        return read(self._name, y, {g.into: codes}, mode="fill", fill_value=outside)

    def _with(self, other: Any, combine: Callable[[Any, Any], Any]) -> Any:
        at, g = self._at, self._grouping
        lacking = [d for d in g.names if not hasattr(other, "dims") or d not in other.dims]
        if lacking:
            raise fail(
                DimensionError, self._name, f"the other operand has no dim {lacking[0]!r}: {brief(other)}", self._x,
                instead="Write what has one element for each group, as g.mean() has",
            )  # fmt: skip
        x = self._bare()
        if at is None:
            y = combine(x, self._spread(other))
            return y.transpose(*x.dims, ...)
        there = StandIn(self._name, other)
        y = there.bare
        there.consult(g.indexes)
        for name, mine in g.indexes.items():
            index = there.dataset.indexes.get(name)
            if index is not None and not index.equals(mine):
                y = isel(y, {name: [int(i) for i in _sought(self._name, index, mine, self._x)]})
        if len(g.indexes) > 1:
            y = stack(y, {g.into: g.names})
        y = combine(x, self._spread(y)).transpose(*x.dims, ...)
        found = at.dataset
        if len(g.indexes) == 1 and g.known is not None and g.into not in found.coords:
            values = np.asarray(g.indexes[g.into])[np.maximum(g.known, 0)]
            found = found.assign_coords({g.into: (g.dims, values)})
        return at.labelled(y, found, reduced=True)

    def __add__(self, other: Any) -> Any:
        return self._with(other, lambda x, y: x + y)

    def __sub__(self, other: Any) -> Any:
        return self._with(other, lambda x, y: x - y)

    def __mul__(self, other: Any) -> Any:
        return self._with(other, lambda x, y: x * y)

    def __truediv__(self, other: Any) -> Any:
        return self._with(other, lambda x, y: x / y)

    def map(self, function: Callable[..., Any], /, *args: Any, **keywords: Any) -> Any:
        """Returns `function(part, *args, **keywords)` of the part of each group, put together again.

        If the results keep the grouped dim, they stand in the order of the array. The function is called once for each
        group, so a reduction above is much faster. Codes must be known: not inside of a traced function.
        """
        g = self._grouping
        if len(g.indexes) > 1:
            raise fail(
                UnsupportedError, f"{self._name}.map", "the groups are of several coordinates", self._x,
                instead="Write the reductions that it has, or group by one coordinate",
            )  # fmt: skip
        (dim,) = self._one_dim("map")
        if g.known is None:
            raise fail(
                UnsupportedError, f"{self._name}.map", "the sizes of groups are not known while codes are traced",
                self._x, instead="Use a reduction such as .mean(), or call map outside of the traced function",
            )  # fmt: skip
        places = [np.flatnonzero(g.known == i) for i in range(g.count)]
        whole = relabelled(self._at.bare, self._at.labels, is_dataarray(self._x)) if self._at else self._x
        groups = [isel(whole, {dim: [int(i) for i in at]}) for at in places if len(at)]
        op, roles = f"{self._name}.map", ["part", *map(shown, args)]
        parts = [call_with(op, function, [part, *args], keywords, roles) for part in groups]
        if not parts:
            raise fail(ArgumentError, f"{self._name}.map", "no group has elements", self._x)
        parts = [returned(f"{self._name}.map", part, self._x) for part in parts]
        if dim in parts[0].dims:
            order = np.argsort(np.concatenate([at for at in places if len(at)]), kind="stable")
            return isel(concat(parts, dim), {dim: [int(i) for i in order]}).transpose(*parts[0].dims)
        y = concat(parts, g.into)
        order_of_dims = [g.into if d == dim else d for d in self._x.dims if d == dim or d in y.dims]
        y = y.transpose(*order_of_dims, ...)
        if self._at is None or not g.indexes:
            return y
        there = StandIn(self._name, y)
        kept = [i for i, at in enumerate(places) if len(at)]
        return there.labelled(there.bare, there.dataset.assign_coords({g.into: g.indexes[g.into][kept]}))


check_methods(GroupBy, lambda groups: groups._name)


def _sought(name: str, index: Any, wanted: Any, x: Any) -> np.ndarray:
    found: np.ndarray = index.get_indexer(wanted)
    if (found < 0).any():
        missing = wanted[int(np.argmax(found < 0))]
        raise fail(ArgumentError, name, f"the other operand has no group {missing!s}", x)
    return found


def _positions(x: Any, dim: str) -> Any:
    return arange(x.sizes[dim], dim=dim) if tracing() else array_of(x, np.arange(x.sizes[dim]), (dim,))


def _counted(x: Any, skipna: bool | None) -> Any:
    """1 for each element that counts, i8."""
    there = x == x
    return astype(there if skips("groupby", skipna) else there | ~there, "i8")
