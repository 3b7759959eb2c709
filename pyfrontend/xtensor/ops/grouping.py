"""Groups by label: groupby, groupby_bins and resample, as in xarray. grouped.py reduces the groups.

By codes that are computed, `groupby(codes, num_groups=12)` needs no labels.
"""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np

from .. import _native
from ..base.calls import in_words
from ..base.dims import brief, unknown
from ..base.errors import (
    ArgumentError,
    ArgumentTypeError,
    DTypeError,
)
from ..labels.xarray import bare
from ..trace.tracer import Tracer
from ..values.array import Array as Concrete
from .arguments import by_dim, fail, integer
from .grouped import GroupBy
from .groups import (
    UNLABELLED,
    Grouping,
    are_codes,
    check_agreement,
    check_grouper,
    combined,
    encoded,
    labels_for,
    uncounted,
)
from .standin import StandIn
from .types import ArrayLike


def groupby(
    x: ArrayLike,
    group: Any = None,
    /,
    *,
    num_groups: int | None = None,
    into: str = "group",
    **groupers: Any,
) -> GroupBy:
    """Returns the groups of `x` by the values of a coordinate: groupby(x, "time.month").mean().

    group: the name of a coordinate, a part of its dates ("time.month", "time.season"), or a DataArray of labels; or
    a grouper of `xarray.groupers` by keyword: time=SeasonGrouper(["DJF", "JJA"]), x=BinGrouper(bins). Several, in a
    list or by keyword, give a dim for each: groupby(x, ["region", "time.month"]).
    By codes: groupby(x, codes, num_groups=12, into="month") takes an integer array over dims of `x`, as `segment_sum`.
    It may be traced, and needs no labels.
    The result has the methods sum, mean, max, min, prod, var, std, median, quantile, count, any, all, first, last and
    map(function). Its arithmetic (g - g.mean()) pairs each element with its group. A reduction reads the array once,
    and is differentiable.

    Raises:
        DimensionError: `x` does not have the coordinate.
        ArgumentError: `group` and groupers are left out.

    Example:
    >>> days = xr.DataArray([1.0, 3.0, 5.0], dims="day", coords={"kind": ("day", ["wet", "dry", "wet"])})
    >>> xt.groupby(days, "kind").mean().values
    array([3., 3.])
    """
    if num_groups is not None:
        return _by_codes(x, group, num_groups, into)
    if isinstance(group, Tracer) or are_codes(group):
        raise uncounted(x, group)
    if (group is None) == (not groupers):
        raise fail(
            ArgumentError, "groupby", "a coordinate to group by is needed", x,
            instead='Write x.groupby("time.month"), or x.groupby(["region", "time.month"])',
        )  # fmt: skip
    at = StandIn("groupby", x)
    if groupers:
        given = list(groupers.items())
    else:
        given = [(one, None) for one in (group if isinstance(group, (list, tuple)) else [group])]
    for name, grouper in groupers.items():
        check_grouper(at, name, grouper)
    found = [encoded(at, how, labels_for(at, one), None) for one, how in given]
    return GroupBy("groupby", x, found[0] if len(found) == 1 else combined(at, found), at)


def _by_codes(x: Any, codes: Any, num_groups: int, into: str) -> GroupBy:
    if not hasattr(codes, "dims") or not hasattr(codes, "dtype"):
        raise fail(
            ArgumentTypeError, "groupby", f"codes are an integer array over dims of x, not {brief(codes)}", x,
            instead='Write x.groupby(xt.array(codes, dims="time"), num_groups=12)',
        )  # fmt: skip
    if np.dtype(codes.dtype).kind in "fc":
        raise fail(
            DTypeError, "groupby", "codes are integers, the number of the group for each position", codes,
            instead='Write codes.astype("i8"), or x.groupby_bins(..) for intervals of values',
        )  # fmt: skip
    count = integer("groupby", num_groups, "num_groups", least=0)
    if _is_plain(x) and _is_plain(codes):
        return GroupBy("groupby", x, Grouping(codes, count, into), None)
    plain = codes if isinstance(codes, Tracer) else StandIn("groupby", codes).bare
    at = None if isinstance(x, Tracer) or not hasattr(x, "dims") else StandIn("groupby", x)
    if at is not None and not isinstance(codes, Tracer):
        check_agreement(at, bare(codes) if isinstance(codes, Concrete) else codes)
    return GroupBy("groupby", x, Grouping(plain, count, into), at)


def _is_plain(x: Any) -> bool:
    """Whether `x` has no labels to keep. xarray takes some 100 us to make a stand-in."""
    return isinstance(x, _native.Array) and x.meta is None


def groupby_bins(x: ArrayLike, group: Any, bins: Any, /, **options: Any) -> GroupBy:
    """Returns the groups of `x` by the interval that a coordinate lies in: groupby_bins(x, "lat", [0, 10, 20]).mean().

    group: a name of a coordinate, or a DataArray. bins: the edges, or how many of equal width. options: right=,
    labels=, precision= and include_lowest=, as for `pandas.cut`. The new dim is called lat_bins. A bin without
    elements gives NaN.

    Raises:
        DimensionError: `x` does not have the coordinate.
        ArgumentError: `bins` is below 1, or no element lies in them.

    Example:
    >>> heat = xr.DataArray([3.0, 5.0, 6.0], dims="lat", coords={"lat": [5, 8, 15]})
    >>> xt.groupby_bins(heat, "lat", [0, 10, 20]).mean().values
    array([4., 6.])
    """
    from xarray import groupers

    at = StandIn("groupby_bins", x)
    labels = labels_for(at, group)
    if bins is None or isinstance(bins, (str, bytes)) or not (np.ndim(bins) or isinstance(bins, (int, np.integer))):
        raise fail(
            ArgumentTypeError, "groupby_bins", f"bins are edges, or a number of bins, not {in_words(bins)}", x,
            instead=f'Write x.groupby_bins("{labels.name}", [0, 10, 20])',
        )  # fmt: skip
    try:
        grouper = groupers.BinGrouper(bins=bins, **options)
    except TypeError as error:
        raise fail(ArgumentTypeError, "groupby_bins", str(error), x) from None
    except ValueError as error:
        raise fail(ArgumentError, "groupby_bins", _uncapitalized(error), x) from None
    return GroupBy("groupby_bins", x, encoded(at, grouper, labels, f"{labels.name}_bins"), at)


def _check_span(span: Any, dim: str, x: Any) -> None:
    """That pandas knows a span of time; its own message repeats itself."""
    import pandas

    try:
        pandas.tseries.frequencies.to_offset(span)
    except ValueError:
        raise fail(
            ArgumentError, "resample", f"{span!r:.40} is not a frequency of pandas", x,
            instead=f'Write x.resample({dim}="1D") for days, "MS" for months, "6h" for six hours',
        ) from None  # fmt: skip


def _uncapitalized(error: Exception) -> str:
    text = str(error).rstrip(".")
    return f"{text[:1].lower()}{text[1:]}"


def resample(
    x: ArrayLike,
    indexer: Any = None,
    /,
    *,
    closed: str | None = None,
    label: str | None = None,
    offset: Any = None,
    origin: Any = "start_day",
    **keywords: Any,
) -> GroupBy:
    """Returns the groups of `x` by spans of time: resample(x, time="1D").mean(), resample(x, time="MS").sum().

    The span is a frequency of pandas. closed: "left" or "right", the side of a span that belongs to it. label: the side
    that labels it. A span without elements gives NaN. To insert dates, write `reindex` or `interp`.

    Raises:
        DimensionError: `x` does not have a dim that is named.
        ArgumentError: the span is not a frequency, labels do not ascend, or several dims are named.

    Example:
    >>> days = np.array(["2026-01-01", "2026-01-20", "2026-02-03"], "datetime64[ns]")
    >>> x = xr.DataArray([1.0, 2.0, 4.0], dims="time", coords={"time": days})
    >>> xt.resample(x, time="MS").sum().values
    array([3., 4.])
    """
    from xarray import groupers

    given = by_dim("resample", indexer, keywords, "spans")
    if len(given) != 1:
        raise fail(ArgumentError, "resample", "one dim is resampled at a time", x,
                   instead='Write x.resample(time="1D")')  # fmt: skip
    ((dim, freq),) = given.items()
    at = StandIn("resample", x)
    if dim not in at.x.dims:
        raise unknown("resample", dim, at.x.dims)
    at.consult((dim,))
    if dim not in at.dataset.indexes:
        raise fail(ArgumentError, "resample", f"dim {dim!r} has no dates", x, instead=UNLABELLED)
    grouper = freq
    if not isinstance(freq, groupers.Resampler):
        if not isinstance(freq, (str, datetime.timedelta, np.timedelta64)) and not hasattr(freq, "freqstr"):
            raise fail(
                ArgumentTypeError, "resample", f"a span is a frequency of pandas, not {in_words(freq)}", x,
                instead=f'Write x.resample({dim}="1D"), or "MS" for months',
            )  # fmt: skip
        _check_span(freq, dim, x)
        how: Any = {"closed": closed, "label": label, "offset": offset, "origin": origin}
        grouper = groupers.TimeResampler(freq=freq, **how)
    return GroupBy("resample", x, encoded(at, grouper, at.dataset[dim], dim), at)
