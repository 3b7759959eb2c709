"""How a call is spelled (by position or by name, in dicts, lists and classes), as C++ reads it: from the second call
on, `_native.Function` finds the arrays itself."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from .. import _native
from ..base import tree
from ..values.kinds import kind_in
from .arguments import Static
from .opened import Amount, is_wide
from .scanned import items

Given: TypeAlias = tuple[str, Any, Any]  # the name of a parameter, what it takes, and an argument

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


def spelling_of_op(given: Sequence[Given], positional: int, prepared: Sequence[Given]) -> Any:
    """The same of a call of a public function: what `Parameters.given` found, of which so many are by position.
    `prepared`: of the arguments that the function gets (`op(static=)`). Places are counted as `Scanned.scan` meets
    arrays in these; everything else must be what it is here."""
    places = itertools.count()
    try:
        if given is prepared:
            nodes = [_argument(x, x, bool(takes), places) for _, takes, x in given]
        else:
            nodes = _nodes(given, prepared, places)
    except _UnknownError:
        return None
    names = [name for name, _, _ in given[positional:]]
    return tuple(nodes[:positional]), dict(zip(names, nodes[positional:], strict=True)), {}


def _nodes(given: Sequence[Given], prepared: Sequence[Given], places: Iterator[int]) -> list[Any]:
    written = {name: x for name, _, x in given}
    found = {}
    for name, takes, x in prepared:
        found[name] = _argument(written.get(name), x, bool(takes), places)
    if len(written) != len(given) or not found.keys() >= written.keys():
        raise _UnknownError
    return [found[name] for name, _, _ in given]


def _argument(x: Any, given: Any, is_array: bool, places: Iterator[int]) -> Any:
    """`given`: what the function gets in place of `x`."""
    kind = type(given)
    if kind is Amount or (kind_in(given, is_array) is not None and not is_wide(given)):
        place = next(places, None)
        if place is None:
            raise _UnknownError
        is_same = x is given or (kind is Amount and type(x) is type(given.number) and x == given.number)
        return place if is_same else (place, *_dims_of(x, given))
    if type(x) is kind:
        if kind in (tuple, list) and len(x) == len(given):
            return kind, None, tuple([_argument(a, b, is_array, places) for a, b in zip(x, given, strict=True)])
        if kind is dict and _have_same_keys(x, given):
            parts = zip(x.values(), given.values(), strict=True)
            return kind, tuple(x), tuple([_argument(a, b, is_array, places) for a, b in parts])
        if kind is slice:
            bounds = [_argument(getattr(x, b), getattr(given, b), False, places) for b in _BOUNDS]
            return kind, _BOUNDS, tuple(bounds)
    if x is not given:  # it follows from what is static, if nothing in it is an argument
        if any(type(item) is Amount or kind_in(item, is_array) is not None for item in items(given)):
            raise _UnknownError
        return _argument(x, x, is_array, iter(()))
    if kind in _COMPARED or x is None or x is ... or isinstance(x, (type, np.dtype)):
        return (x,)
    raise _UnknownError


def _have_same_keys(x: dict[Any, Any], given: dict[Any, Any]) -> bool:
    """Also dims of which the function gets others (`opened.apart`)."""
    if not all(type(k) in (str, int) for k in x):
        return False
    return tuple(x) == tuple([k.partition("~")[0] if type(k) is str else k for k in given])


def _dims_of(x: Any, given: Any) -> tuple[tuple[str, ...], ...]:
    """The dims of the array that the function gets in place of ints: C++ makes it of other ints, too. Of an array that
    it gets under other dims, these and its own."""
    if isinstance(x, _native.Array) and isinstance(given, _native.Array) and x.device == given.device == "cpu":
        views = [_native.as_numpy(a) for a in (x, given)]
        if len({(a.__array_interface__["data"][0], a.shape, a.dtype) for a in views}) == 1 and not given.meta:
            return given.dims, x.dims
    is_one = type(x) is int
    is_list = type(x) in (list, tuple) and all(type(i) is int for i in x)
    is_ints = type(x) is np.ndarray and x.dtype == np.int64
    if not isinstance(given, _native.Array) or given.type.dtype != "int64" or given.device != "cpu":
        raise _UnknownError
    if not (is_one or is_list or is_ints) or given.meta is not None or not np.array_equal(_native.as_numpy(given), x):
        raise _UnknownError
    return (given.dims,)
