"""How a call is spelled (by position or by name, in dicts, lists and classes), as C++ reads it: from the second call
on, `_native.Function` finds the arrays itself."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..base import tree
from ..values.kinds import kind_in
from .arguments import Static
from .opened import Amount, is_wide

_LEAF = tree.structure(0)
_COMPARED = (str, bool, int, float)  # static values that C++ tells apart as Python does
_BOUNDS = ("start", "stop", "step")


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


def spelling_of_op(given: Sequence[tuple[str, Any, Any]], positional: int) -> Any:
    """The same of a call of a public function: what `Parameters.given` found, of which so many are by position. Places
    are counted as `Scanned.scan` meets arrays; everything else must be what it is here."""
    places = itertools.count()
    try:
        nodes = [_argument(x, bool(takes), places) for _, takes, x in given]
    except _UnknownError:
        return None
    names = [name for name, _, _ in given[positional:]]
    return tuple(nodes[:positional]), dict(zip(names, nodes[positional:], strict=True)), {}


def _argument(x: Any, is_array: bool, places: Iterator[int]) -> Any:
    kind = type(x)
    if kind is Amount or (kind_in(x, is_array) is not None and not is_wide(x)):
        return next(places)
    if kind in (tuple, list):
        return kind, None, tuple([_argument(item, is_array, places) for item in x])
    if kind is dict and all(type(k) in (str, int) for k in x):
        return kind, tuple(x), tuple([_argument(item, is_array, places) for item in x.values()])
    if kind is slice:
        return kind, _BOUNDS, tuple([_argument(getattr(x, bound), False, places) for bound in _BOUNDS])
    if kind in _COMPARED or x is None or x is ... or isinstance(x, (type, np.dtype)):
        return (x,)
    raise _UnknownError
