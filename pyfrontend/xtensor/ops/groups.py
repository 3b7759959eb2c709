"""Which group each position of an array is in, by labels or by codes. grouped.py reduces the groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.dims import brief, closest, unknown
from ..base.errors import ArgumentError, ArgumentTypeError, DimensionError, Error, SizeError
from ..labels.xarray import is_dataarray
from ..trace.scope import tracing
from ..trace.tracer import Tracer
from ..values.array import Array as Concrete
from ..values.array import from_values
from ..values.devices import like
from .arguments import fail
from .standin import StandIn

if TYPE_CHECKING:
    import xarray

UNLABELLED = (
    "Give the dim labels, x.assign_coords(time=days), or pass codes: x.groupby(codes, num_groups=12, into='month'), "
    'with codes = xt.array(days.month - 1, dims="time")'
)


class Grouping:
    """Which group each position is in. `codes`: -1 for none; `indexes`: the labels of the groups, by dim.

    Groups by several coordinates are counted along one dim `into`, which the results have in parts.
    """

    def __init__(self, codes: Any, count: int, into: str, indexes: Sequence[Any] = ()) -> None:
        self.codes, self.count, self.into = codes, count, into
        self.indexes = {str(index.name): index for index in indexes}
        self.known: np.ndarray | None = None if isinstance(codes, Tracer) else np.asarray(codes.values)
        self.dims: tuple[str, ...] = tuple(codes.dims)
        self.names = tuple(self.indexes) or (into,)


def array_of(x: Any, values: np.ndarray, dims: Any) -> Any:
    return from_values(values, dims, device=None if tracing() else like(x))


def are_codes(group: Any) -> bool:
    """Whether a user means numbers of groups: integers without a name, by which labels would be called."""
    if isinstance(group, (list, tuple)):
        return bool(group) and all(isinstance(g, (int, np.integer)) for g in group)
    if not hasattr(group, "dtype"):
        return False
    return np.dtype(group.dtype).kind in "iu" and getattr(group, "name", None) is None


def uncounted(x: Any, codes: Any) -> Error:
    """The error about codes of which nobody says how many groups they count."""
    count, given = 12, "codes"
    if not isinstance(codes, Tracer):
        values = np.asarray(codes.values if hasattr(codes, "dims") else codes)
        count = int(values.max()) + 1 if values.size else 1
        if not hasattr(codes, "dims"):
            dims = [d for d, n in getattr(x, "sizes", {}).items() if values.ndim == 1 and n == len(values)]
            given = f'xt.array(codes, dims="{dims[0] if dims else "time"}")'
    return fail(
        ArgumentTypeError, "groupby", "codes need num_groups=, the number of groups", x,
        *([codes] if hasattr(codes, "dims") else []), instead=f"Write x.groupby({given}, num_groups={count})",
    )  # fmt: skip


def check_grouper(at: StandIn, name: str, grouper: Any) -> None:
    from xarray import groupers

    if not isinstance(grouper, groupers.Grouper):
        raise fail(
            ArgumentTypeError, "groupby", f"{name}= takes a grouper of xarray.groupers, not {brief(grouper)}", at.x,
            instead=f'Write x.groupby("{name}") for the values of a coordinate, x.groupby_bins("{name}", 3) for bins, '
            "or x.groupby(codes, num_groups=3)",
        )  # fmt: skip


def _check_part(at: StandIn, group: str) -> None:
    """Refuses a part of dates, as in "time.month", that they do not have."""
    base, dot, part = group.partition(".")
    if not dot or base not in at.dataset.coords:
        return
    dates = getattr(at.dataset[base], "dt", None)
    if dates is None:
        raise fail(
            ArgumentTypeError, at.op, f"the labels along {base!r} are not dates, and have no part {part!r}", at.x,
            instead=f"Group by the labels themselves: x.{at.op}({base!r})",
        )  # fmt: skip
    if not hasattr(dates, part) or callable(getattr(type(dates), part, None)):
        near = closest(part, [n for n in dir(dates) if not n.startswith("_") and not callable(getattr(type(dates), n))])
        instead = f"Did you mean {base}.{near}?" if near else 'Parts are those of xarray, such as "time.month"'
        raise fail(ArgumentTypeError, at.op, f"dates have no part {part!r}, as {group!r} asks", at.x, instead=instead)


def _check_dates(at: StandIn, group: str) -> None:
    """Refuses "month" where "time.month" is meant."""
    for name, coord in at.dataset.coords.items():
        if coord.dtype.kind == "M" and group.isidentifier() and hasattr(coord.dt, group):
            raise fail(
                DimensionError, at.op, f"there is no coordinate {group!r}, which is a part of the dates {str(name)!r}",
                at.x, instead=f'Write x.{at.op}("{name}.{group}")',
            )  # fmt: skip


def labels_for(at: StandIn, group: Any) -> xarray.DataArray:
    """What is grouped by, over dims of the array."""
    group = group.to_xarray() if isinstance(group, Concrete) else group
    if isinstance(group, str):
        base = group.partition(".")[0]
        if base not in at.dataset.coords and base not in at.dataset.dims:
            _check_dates(at, group)
            raise unknown(at.op, base, [*dict.fromkeys([*at.x.dims, *map(str, at.dataset.coords)])])
        if isinstance(at.x, Tracer):
            at.needs([d for d in (base,) if d in at.x.dims], UNLABELLED)
        _check_part(at, group)
        found = at.asked(lambda s: s[group])
        at.consult(found.dims)
    elif is_dataarray(group):
        found = group
    else:
        raise fail(
            ArgumentTypeError, at.op, f"groups are a name or an array, not {brief(group)}", at.x, instead=UNLABELLED
        )
    lacking = [d for d in found.dims if d not in at.x.dims]
    if lacking:
        raise unknown(at.op, str(lacking[0]), at.x.dims)
    if not found.dims:
        raise fail(ArgumentError, at.op, f"the coordinate {found.name!r} has no dim to group along", at.x)
    check_agreement(at, found)
    return found


def check_agreement(at: StandIn, group: xarray.DataArray) -> None:
    """That what is grouped by has the labels and the sizes of the array: nothing is aligned."""
    for d in map(str, group.dims):
        if d not in at.x.dims:
            continue
        if isinstance(at.x.sizes[d], int) and group.sizes[d] != at.x.sizes[d]:
            problem = f"dim {d!r} has size {at.x.sizes[d]} in the array and {group.sizes[d]} in what it is grouped by"
            raise fail(SizeError, at.op, problem, at.x)
        mine, other = (labels.coords.variables.get(d) for labels in (at.dataset, group))
        if mine is not None and other is not None and not mine.equals(other):
            raise fail(
                DimensionError, at.op, f"the labels of dim {d!r} differ between the array and what it is grouped by",
                at.x, instead=f'Pair them by label, x, group = xarray.align(x, group, join="inner"); or by '
                f"position, group.drop_vars({d!r})",
            )  # fmt: skip


def encoded(at: StandIn, grouper: Any, labels: xarray.DataArray, into: str | None) -> Grouping:
    """The codes that a grouper of xarray finds for labels."""
    from xarray import groupers

    found = at.asked(lambda _: (grouper or groupers.UniqueGrouper()).factorize(labels))
    codes = np.asarray(found.codes.values).astype("i8")
    name = into or str(found.unique_coord.dims[0] if found.unique_coord.dims else labels.name or "group")
    index = found.full_index.rename(name)
    dims = tuple(map(str, found.codes.dims))
    return Grouping(array_of(at.bare, codes, dims), len(index), name, [index])


def combined(at: StandIn, parts: list[Grouping]) -> Grouping:
    """The groups of several coordinates, of which each combination is one."""
    import xarray

    names = [part.into for part in parts]
    if not names:
        raise fail(ArgumentError, at.op, "the list of coordinates is empty", at.x)
    if len({*names}) < len(names):
        raise fail(ArgumentError, at.op, f"a coordinate is grouped by twice: {names}", at.x)
    codes: Any = xarray.Variable((), np.int64(0))
    count = 1
    for part in parts:
        own = xarray.Variable(part.dims, part.known)
        codes = (codes * part.count + own).where((codes >= 0) & (own >= 0), np.int64(-1))
        count *= part.count
    found = codes.transpose(*[d for d in at.x.dims if d in codes.dims])
    indexes = [part.indexes[name] for part, name in zip(parts, names, strict=True)]
    into = "_".join([*names, *at.x.dims])  # which no dim is called
    return Grouping(array_of(at.bare, found.values, tuple(map(str, found.dims))), count, into, indexes)
