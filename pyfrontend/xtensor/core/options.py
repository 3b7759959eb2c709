"""Options of the whole process that change what programs mean: `xt.option(outer="forbid")`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from .errors import ArgumentError

_CHOICES = {"outer": ("allow", "forbid"), "index": ("raise", "clip")}


@dataclass(frozen=True)
class Options:
    """outer: may a product of arrays, each without a dim of the other, be formed by accident?
    index: what reading at a position outside of a dim does."""

    outer: str = "allow"
    index: str = "raise"


_current = Options()
_listeners: list[Callable[[], None]] = []


def on_change(listener: Callable[[], None]) -> None:
    """`listener` is called after each change."""
    _listeners.append(listener)


def _set(value: Options) -> None:
    global _current
    if value != _current:
        _current = value
        for listener in _listeners:
            listener()


def current() -> Options:
    return _current


class option:  # noqa: N801 (used like a function)
    """Sets options, for good when called, for a block when used as a context manager.

    ``xt.option(outer="forbid")`` makes a broadcast in which each operand lacks a dim of the other an error.
    ``xt.option(index="clip")`` makes reads outside of a dim take the nearest element instead of failing.
    """

    def __init__(self, **options: Any) -> None:
        for name, value in options.items():
            if name not in _CHOICES:
                raise ArgumentError(f"there is no option {name!r}; options are {', '.join(_CHOICES)}")
            if value not in _CHOICES[name]:
                allowed = " or ".join(map(repr, _CHOICES[name]))
                raise ArgumentError(f"option {name}= is {allowed}, got {value!r}")
        self._before = _current
        _set(replace(_current, **options))

    def __enter__(self) -> Options:
        return _current

    def __exit__(self, *exc: object) -> None:
        _set(self._before)
