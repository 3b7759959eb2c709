"""Checks Python ints against integer dtypes: an int that does not fit is an error, and never wraps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from .calls import int_text
from .dtypes import DType
from .errors import ArgumentError


def fits(value: float, dtype: DType) -> bool:
    """Whether an integer dtype holds `value` (NaN and the infinities are held by none)."""
    info = np.iinfo(dtype)
    return int(info.min) <= value <= int(info.max)


def does_not_fit(
    value: float, dtype: DType, instead: str = "", where: str | None = None, op: str = ""
) -> ArgumentError:
    """The error about a number that an integer dtype does not hold; it names one that does, the result, too."""
    info = np.iinfo(dtype)
    text: object = value
    if isinstance(value, int) and value.bit_length() > 1024:
        text = f"the int {int_text(value)}"
        instead = instead or for_large(value)
    instead = instead or f"Cast the array first: {_wider(value, dtype)}"
    name = f"xt.{op}: " if op else ""
    return ArgumentError(f"{name}{text} does not fit {dtype.name} ({info.min} to {info.max}). {instead}", where)


def for_large(value: int) -> str:
    """What to write for an int that no integer dtype holds."""
    most = np.finfo("f8").max
    if abs(value) <= int(most):
        return "Write a float"
    return f"Write {'-' if value < 0 else ''}math.inf, or scale the numbers: the largest float64 is {most:.4g}"


def too_wide(value: int, op: str = "") -> ArgumentError:
    """The error about an int that no integer dtype holds, where nothing says which float is meant."""
    name = f"xt.{op}: " if op else ""
    return ArgumentError(f"{name}the int {int_text(value)} does not fit into 64 bits. {for_large(value)}")


def _wider(value: float, dtype: DType) -> str:
    """A cast to integers that hold the array and the number, and have a sign, as a difference needs."""
    if isinstance(value, int) and dtype == np.uint64 and -(2**63) <= value < 0:
        return "x.astype('int64'), where its values are below 2**63"
    for name in ("int16", "int32", "int64"):
        if isinstance(value, int) and np.can_cast(dtype, name) and fits(value, np.dtype(name)):
            return f"x.astype({name!r}){' or wider' if name != 'int64' else ''}, which holds the result, too"
    return "x.astype('float64')"


class Range(NamedTuple):
    """An argument of a program, given as a Python int, meets this dtype at FILE:LINE `where`."""

    argument: int
    dtype: DType
    where: str | None
    op: str = ""

    @property
    def least(self) -> int:
        return int(np.iinfo(self.dtype).min)

    @property
    def most(self) -> int:
        return min(int(np.iinfo(self.dtype).max), 2**63 - 1)

    def check(self, value: int, here: bool) -> None:
        """`here`: the error is about the caller's line, not about the one inside of the function."""
        if not fits(value, self.dtype):
            raise does_not_fit(value, self.dtype) if here else does_not_fit(value, self.dtype, "", self.where, self.op)


def of_ints(ranges: Iterable[Range]) -> list[tuple[int, int, int]]:
    """(argument, least, most) of each argument that is a Python int and meets smaller integers."""
    found: dict[int, tuple[int, int]] = {}
    for r in ranges:
        least, most = found.get(r.argument, (r.least, r.most))
        found[r.argument] = max(least, r.least), min(most, r.most)
    return [(argument, *bounds) for argument, bounds in found.items()]
