"""Dates and durations as numbers, where they say at which places the samples along a dim lie.

Arrays do not hold dates. DataArrays do, and their places count as in xarray.
"""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np

from ..base.errors import ArgumentTypeError
from ..labels.xarray import is_dataarray
from .arguments import fail

_AS_DATES = 'Write np.datetime64("2020-01-15") for a date, xr.DataArray(dates, dims="place") for several'
_AS_NUMBERS = 'Numbers of dates are (x - start) / np.timedelta64(1, "D")'
_EPOCH = np.datetime64(0, "s")


def kind_of(x: Any) -> str:
    """ "M" for dates, "m" for durations, in a DataArray or alone; "" for anything else."""
    if isinstance(x, (np.datetime64, datetime.date)):
        return "M"
    if isinstance(x, (np.timedelta64, datetime.timedelta)):
        return "m"
    return x.dtype.kind if is_dataarray(x) and x.dtype.kind in "mM" else ""


def as_numbers(x: Any, unit: Any = "ns", since: np.datetime64 = _EPOCH) -> Any:
    """Dates as floats that count units since `since`, durations as floats that count units, NaT as NaN; anything else
    as it is. unit: None means that of the dtype."""
    kind = kind_of(x)
    if not kind:
        return x
    values: np.ndarray[Any, Any] = x.values if is_dataarray(x) else np.asarray(x, f"{kind}8[us]")
    elapsed = values - since if kind == "M" else values
    own: Any = np.datetime_data(elapsed.dtype)[0]
    one = np.timedelta64(1, own)
    # By way of the unit of the dtype: in nanoseconds, most centuries do not fit into 64 bits.
    numbers = elapsed / one * (one / np.timedelta64(1, unit) if unit else 1.0)
    if not is_dataarray(x):
        return float(numbers)
    return type(x)(numbers, coords=x.coords, dims=x.dims, name=x.name, attrs=x.attrs)


def between(op: str, x: Any, xp: Any, period: Any = None) -> tuple[Any, Any]:
    """Places and the points around them, both dates, durations or numbers. Dates count from the first point, so that
    floats tell them apart in any century."""
    kind = kind_of(xp)
    if kind_of(x) != kind:
        names = {"M": "dates", "m": "durations", "": "not"}
        problem, instead = f"the points are {names[kind]}, and the places {names[kind_of(x)]}", _AS_DATES
        if not kind:
            problem, instead = f"the places are {names[kind_of(x)]}, and the points not", _AS_NUMBERS
        raise fail(ArgumentTypeError, op, problem, x, xp, instead=instead)
    if not kind:
        return x, xp
    if period is not None:
        raise fail(ArgumentTypeError, op, "period= goes with numbers, not with dates", x, xp)
    dates = np.asarray(xp.values if is_dataarray(xp) else xp)
    since = np.min(dates) if kind == "M" and dates.size and not np.isnat(dates).any() else _EPOCH
    return as_numbers(x, since=since), as_numbers(xp, since=since)
