"""Checks arguments that name dims. Every error lists the names of the array."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from types import MappingProxyType
from typing import Any

from .errors import ArgumentTypeError, DimensionError


class _Batched(threading.local):
    """What enclosing calls take off arrays, for messages: the dims of vectorize, and the pairs (dim, op) of scans."""

    names: tuple[str, ...] = ()
    steps: tuple[tuple[str, str], ...] = ()
    instance: Mapping[str, int] = MappingProxyType({})  # op by op: where the one that runs is


batched = _Batched()


def describe(dims: Sequence[str], shape: Sequence[Any] | None = None) -> str:
    """(batch: 64, time: 3), the form that errors show operands in."""
    if shape is None:
        return "(" + ", ".join(dims) + ")"
    parts = (f"{d}: {n if isinstance(n, int) else '?'}" for d, n in zip(dims, shape, strict=True))
    return "(" + ", ".join(parts) + ")"


def describe_array(x: Any) -> str:
    """float32 (batch: 64, time: 3)"""
    return f"{x.dtype.name} {describe(x.dims, x.shape)}"


def brief(x: Any) -> str:
    """Any value as errors show it: an array by its dtype and dims, others by their first letters."""
    if isinstance(x, type):
        return f"the class {x.__qualname__}"
    if hasattr(x, "dims") and hasattr(x, "dtype"):
        return describe_array(x)
    if getattr(x, "shape", ()):
        return f"{type(x).__name__} of shape {tuple(x.shape)}"
    return f"{' '.join(repr(x).split()):.80}"


def check_name(name: Any, op: str = "") -> str:
    """A dim's name: a string that is not empty and has no `~`, which is kept for names the compiler makes."""
    where = f"xt.{op}: " if op else ""
    if not isinstance(name, str):
        numbers = ". There are no axis numbers" if isinstance(name, int) else ""
        raise ArgumentTypeError(f"{where}a dim's name is a string, not {brief(name)}{numbers}")
    if not name or "~" in name:
        raise DimensionError(f"{where}{name!r} cannot be a dim's name: it must not be empty or contain '~'")
    if not name.isascii():
        try:
            name.encode()
        except UnicodeEncodeError:
            raise DimensionError(
                f"{where}{name!r} cannot be a dim's name: it contains half of a character (an unpaired surrogate)"
            ) from None
    return name


def ordered(dims: Any) -> Any:
    """`dims`, which must not be a set: its order, and so that of axes, would change from run to run."""
    if isinstance(dims, (set, frozenset)):
        listed = ", ".join(sorted(map(repr, dims)))
        raise ArgumentTypeError(f"a set has no order: write a tuple, ({listed}{',' * (len(dims) == 1)})")
    return dims


def as_names(dims: Any) -> tuple[str, ...]:
    """The names of a new array's dims: one name or a sequence of different ones."""
    if not isinstance(ordered(dims), Iterable):
        raise ArgumentTypeError(f"dims are names, not {brief(dims)}")
    names = (dims,) if isinstance(dims, str) else tuple(dims)
    for name in names:
        check_name(name)
    if len(set(names)) != len(names):
        twice = sorted({n for n in names if names.count(n) > 1})
        raise DimensionError(f"dims {names} name {', '.join(map(repr, twice))} twice")
    return names


def by_name(dims: Sequence[str], axis: Any) -> str:
    """What to write in place of the number of an axis, of several of them or of None, for an array with these dims."""
    if axis is None:
        return "Dims have names, not numbers: leave axis= out, which means all of them"
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    if all(isinstance(i, Integral) and -len(dims) <= int(i) < len(dims) for i in axes):
        names = tuple(dims[int(i)] for i in axes)
        return f"Dims have names, not numbers: write dim={names if isinstance(axis, (tuple, list)) else names[0]!r}"
    return f"Dims have names, not numbers: write dim={dims[0] if dims else 'time'!r}"


def closest(name: str, have: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The name that may be meant."""
    import difflib

    return next(iter(difflib.get_close_matches(name, have, n=1, cutoff=cutoff)), None)


def suggestion(name: str, have: Iterable[str]) -> str:
    close = closest(name, have)
    return f"; did you mean {close!r}?" if close else ""


# Keywords of xarray's methods that are no dims here -> what to write.
_KEYWORDS = {
    "drop": 'Keywords are dims: write x.isel(..).drop_vars("lev") to leave out a coordinate',
    "roll_coords": "Keywords are dims, and the labels stay where they are. The DataArray, x.to_xarray(), has the "
    "method with roll_coords=True",
    "coord_func": "Keywords are dims. Labels of blocks are the means of theirs; the DataArray, x.to_xarray(), has the "
    "method with coord_func=",
    "keep_attrs": "Keywords are dims: write xr.set_options(keep_attrs=True), which xtensor reads, too",
    "kwargs": "Keywords are dims. The DataArray, x.to_xarray(), has the method with kwargs=",
    **dict.fromkeys(("shifts", "periods", "pad_width", "repeats", "reps"), "Keywords are dims: write x.{op}({dim}=1)"),
    **dict.fromkeys(("copy", "assume_sorted", "create_index"), "Keywords are dims. Leave it out: it is not needed"),
}


def unknown(op: str, name: Any, have: Sequence[str], of: str = "the array") -> DimensionError:
    """The error about a dim that an array lacks. `of`: which of several arrays it is."""
    listed = ", ".join(map(repr, have)) if have else "none"
    if name in batched.names:
        hint = f". {name!r} is batched outside, by vectorize: here is one instance, which lacks it"
    elif loop := dict(batched.steps).get(name):
        hint = f". {name!r} is the dim of xt.{loop}: here is one step, which lacks it"
    elif name in _KEYWORDS:
        hint = f". {_KEYWORDS[name].replace('{op}', op).replace('{dim}', have[0] if have else 'time')}"
    else:
        hint = suggestion(name, have) if isinstance(name, str) else ""
    return DimensionError(f"xt.{op}: there is no dim {name!r}; {of}'s dims are {listed}{hint}")
