"""Errors about labels that do not exist: along which dim, and which ones are near."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.errors import ArgumentError, Error, LabelError
from .arguments import fail
from .standin import StandIn

if TYPE_CHECKING:
    import pandas

_METHODS = ("nearest", "ffill", "bfill", "pad", "backfill")


def check_method(op: str, method: Any, x: Any) -> None:
    if method is not None and method not in _METHODS:
        raise fail(ArgumentError, op, f"method is 'nearest', 'ffill', 'bfill' or None, not {method!r:.40}", x)


def absent(at: StandIn, given: Mapping[str, Any], method: str | None = None, tolerance: Any = None) -> Error | None:
    """The error about the first label that does not exist; None if all do, as far as can be told here."""
    for dim, label in given.items():
        index = at.dataset.indexes.get(dim)
        if index is None or index.nlevels > 1:
            continue
        ordered = index.is_monotonic_increasing or index.is_monotonic_decreasing
        if not ordered and (method is not None or isinstance(label, slice)):
            if method is None and all(_is_there(index, end) for end in (label.start, label.stop) if end is not None):
                continue
            what = "method=" if method is not None else "a slice between labels that do not exist"
            problem = f"{what} needs labels in order, and those along {dim!r} are not"
            return fail(LabelError, at.op, problem, at.x, instead=f'Sort them before: x.sortby("{dim}")')
        for one in _each(label):
            if not _is_there(index, one, method, tolerance):
                return _error(at, dim, index, one, tolerance if method is not None else None)
    return None


def _each(label: Any) -> Iterator[Any]:
    if isinstance(label, slice):
        return iter(())  # between labels in order, any bounds do
    if isinstance(label, (list, tuple)):
        return iter(label)
    values = getattr(label, "values", label)
    return iter(values.ravel()) if isinstance(values, np.ndarray) else iter([label])


def _is_there(index: pandas.Index[Any], label: Any, method: str | None = None, tolerance: Any = None) -> bool:
    how: Any = method
    try:
        if method is None:
            index.get_loc(label)
        elif index.get_indexer([label], method=how, tolerance=tolerance)[0] < 0:
            return False
    except Exception as error:  # pandas has kinds of its own
        if not isinstance(error, (LookupError, TypeError, ValueError)) and "pandas" not in type(error).__module__:
            raise
        return False
    return True


def _error(at: StandIn, dim: str, index: pandas.Index[Any], label: Any, tolerance: Any) -> Error:
    shown = f"{_text(label):.60}"
    near, is_distance = _near(index, label)
    problem = f"dim {dim!r} has no label {shown}"
    if tolerance is not None:
        problem += f" within {tolerance!s:.40}"
    if near:
        problem += f"; near it {'is' if len(near) == 1 else 'are'} {' and '.join(near)}"
    elif len(index):
        problem += f"; its {len(index)} labels are {', '.join(_text(v) for v in index[:4])}{', ..' * (len(index) > 4)}"
    instead = ""
    if is_distance and tolerance is None and at.op in ("sel", "reindex"):
        instead = f'Write x.sel({dim}={shown}, method="nearest") for the nearest one'
    return fail(LabelError, at.op, problem, at.x, instead=instead)


def _text(label: Any) -> str:
    label = label.item() if isinstance(label, (np.number, np.bool_)) else label
    plain = label is None or isinstance(label, (bool, int, float, str))
    return repr(label) if plain else repr(str(label))  # of dates, what `sel` takes


def _near(index: pandas.Index[Any], label: Any) -> tuple[list[str], bool]:
    """At most two labels near this one, in order; whether they are near by distance, and not by spelling."""
    import pandas

    values = np.asarray(index)
    if values.dtype.kind in "iufM" and not isinstance(label, (bool, np.bool_)) and len(values):
        try:
            place = pandas.Timestamp(label).to_datetime64() if values.dtype.kind == "M" else float(label)
            distance = np.abs(values - place)
        except (TypeError, ValueError, OverflowError):
            return [], False
        below, above = values <= place, values > place
        sides = [np.flatnonzero(side) for side in (below, above)]
        found = [side[np.argmin(distance[side])] for side in sides if len(side)]
        return [str(index[i]) if values.dtype.kind == "M" else _text(values[i]) for i in found], bool(found)
    texts = [str(v) for v in index[:1000]]
    lower = {t.lower(): t for t in texts}
    import difflib

    close = difflib.get_close_matches(str(label).lower(), [*lower], n=2, cutoff=0.6)
    return [repr(lower[t]) for t in close], False
