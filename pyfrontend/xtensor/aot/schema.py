"""Building blocks that describe which JSON is valid.

Each is a function of a value and its place. It returns the checked value or raises RefusedError. Everything has a
limit, because the author of the JSON is not known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Any

from ..base.calls import int_text

Check = Callable[[Any, str], Any]


class RefusedError(Exception):
    """What is wrong, and where in the JSON."""


def refuse(value: Any, where: str, wanted: str) -> RefusedError:
    return RefusedError(f"{where} is {brief(value)}, not {wanted}")


def brief(value: Any) -> str:
    """A value in an error: short, and without control characters."""
    if isinstance(value, (dict, list)):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    return f"{int_text(value) if isinstance(value, int) else ascii(value):.60}"


def printable(text: str) -> str:
    """A text as a terminal may be given it: no control characters, and nothing that turns the line around."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def text(most: int = 1024, pattern: str = "", least: int = 0, is_line: bool = True) -> Check:
    """Text that a file can hold: no half characters, and no zero, where texts end in C. `is_line`: it is printed as it
    is, and has no control characters either."""
    found = re.compile(pattern, re.ASCII) if pattern else None

    def check(value: Any, where: str) -> str:
        if not isinstance(value, str) or not least <= len(value) <= most:
            raise refuse(value, where, f"text of {least} to {most} characters")
        if is_line and not value.isprintable():
            raise refuse(value, where, "text that can be printed")
        if any(c == "\0" or "\ud800" <= c <= "\udfff" for c in value):
            raise refuse(value, where, "text in UTF-8")
        if found is not None and not found.fullmatch(value):
            raise refuse(value, where, f"text like {pattern}")
        return value

    return check


def number(least: int, most: int) -> Check:
    def check(value: Any, where: str) -> int:
        if type(value) is not int or not least <= value <= most:
            raise refuse(value, where, f"a number from {least} to {most}")
        return value

    return check


def flag(value: Any, where: str) -> bool:
    if type(value) is not bool:
        raise refuse(value, where, "true or false")
    return value


def one_of(values: Collection[str]) -> Check:
    def check(value: Any, where: str) -> str:
        if not isinstance(value, str) or value not in values:
            raise refuse(value, where, f"one of {', '.join(values)}")
        return value

    return check


def optional(inner: Check) -> Check:
    """The value, or null."""
    return lambda value, where: None if value is None else inner(value, where)


def items(inner: Check, most: int, least: int = 0) -> Check:
    """A list of equal things, as a tuple."""

    def check(value: Any, where: str) -> tuple[Any, ...]:
        if not isinstance(value, list) or not least <= len(value) <= most:
            raise refuse(value, where, f"a list of {least} to {most}")
        return tuple([inner(x, f"{where}[{i}]") for i, x in enumerate(value)])

    return check


def row(*inner: Check) -> Check:
    """A list with one thing of each kind, as a tuple."""

    def check(value: Any, where: str) -> tuple[Any, ...]:
        if not isinstance(value, list) or len(value) != len(inner):
            raise refuse(value, where, f"a list of {len(inner)}")
        return tuple([c(x, f"{where}[{i}]") for i, (c, x) in enumerate(zip(inner, value, strict=True))])

    return check


def mapping(key: Check, inner: Check, most: int) -> Check:
    """An object whose keys are names."""

    def check(value: Any, where: str) -> dict[str, Any]:
        if not isinstance(value, dict) or len(value) > most:
            raise refuse(value, where, f"an object of {most} at most")
        return {key(k, f"a key of {where}"): inner(x, f"{where}[{brief(k)}]") for k, x in value.items()}

    return check


def record(make: Callable[..., Any], needed: dict[str, Check], more: dict[str, Check] | None = None) -> Check:
    """An object with these keys, and perhaps some of `more`: what `make` makes of them. Others mean nothing here."""

    def check(value: Any, where: str) -> Any:
        if not isinstance(value, dict):
            raise refuse(value, where or "it", "an object")
        dot = f"{where}." if where else ""
        missing = [k for k in needed if k not in value]
        if missing:
            raise RefusedError(f"{dot}{missing[0]} is missing")
        known = needed | (more or {})
        return make(**{k: c(value[k], f"{dot}{k}") for k, c in known.items() if k in value})

    return check
