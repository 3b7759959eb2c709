"""How a call is spelled (by position or by name, in dicts, lists and classes), as C++ reads it: from the second call
on, `_native.Function` finds the arrays itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..base import tree
from .arguments import Static

_LEAF = tree.structure(0)
_COMPARED = (str, bool, int)  # static values that C++ tells apart as Python does


class _UnknownError(Exception):
    """Only Python can read it."""


def spelling(structure: tree.TreeDef, places: Sequence[int], fixed: Mapping[int, float] | None = None) -> Any:
    """What `_native.Function.add(spelling=)` takes of a call (args, kwargs) with this structure, whose leaves are the
    arguments with the numbers `places`; `fixed` are the numbers that the call leaves at their defaults. None: C++ does
    not read such a call."""
    left = iter(places)
    positional, named = structure.children
    keys: Any = named.meta
    try:
        first = tuple([_node(c, left) for c in positional.children])
        by_name = {k: _node(c, left) for k, c in zip(keys, named.children, strict=True)}
    except _UnknownError:
        return None
    return (first, by_name, dict(fixed or {})) if all(type(k) is str for k in keys) else None


def _node(s: tree.TreeDef, left: Iterator[int]) -> Any:
    kind, keys = s.kind, None
    if s == _LEAF:
        return next(left)
    if kind is type(None):
        return (None,)
    if kind is Static:
        value = s.meta.value  # type: ignore[attr-defined]
        if type(value) not in _COMPARED:
            raise _UnknownError
        return (value,)
    if kind is dict or (not tree.is_registered(kind) and dataclasses.is_dataclass(kind)):
        keys = s.meta
        if not all(type(k) in (str, int) for k in keys):  # type: ignore[attr-defined]
            raise _UnknownError
    elif kind not in (list, tuple) and not _is_namedtuple(kind):
        raise _UnknownError
    return kind, keys, tuple([_node(c, left) for c in s.children])


def _is_namedtuple(kind: Any) -> bool:
    is_plain = issubclass(kind, tuple) and kind.__iter__ is tuple.__iter__
    return is_plain and hasattr(kind, "_fields") and not tree.is_registered(kind)
