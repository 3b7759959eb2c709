"""Pytrees in a manifest: dicts, lists, tuples, classes with fields, None and static values as JSON."""

from __future__ import annotations

import collections
import dataclasses
import functools
import keyword
from collections.abc import Iterable, Mapping
from typing import Any

from ..base import tree as core
from ..base.calls import int_text, with_article
from ..base.errors import UnsupportedError
from ..call.arguments import Static
from ..labels.dataset import Variables
from ..random.keys import Key
from .literal import is_literal, value_of
from .schema import Check, RefusedError, items, number, refuse, text

_LEAF = "*"
_RANDOM_KEY = Key.__name__, tuple(f.name for f in dataclasses.fields(Key))  # a class of ours: it comes out as it is
_DEEPEST = 64
_MANY = 1 << 16


def _key(value: Any, where: str) -> Any:
    return (_TEXT if isinstance(value, str) else _NUMBER)(value, where)


def _field(value: Any, where: str) -> str:
    found: str = _TEXT(value, where)
    if not found.isidentifier() or keyword.iskeyword(found) or found.startswith("__"):
        raise refuse(value, where, "the name of a field")
    return found


def _tuple_field(value: Any, where: str) -> str:
    if _field(value, where).startswith("_"):
        raise refuse(value, where, "the name of a field of a tuple")
    return str(value)


_MOST = 1024
_TEXT, _NUMBER = text(_MOST, is_line=False), number(-(2**63), 2**63 - 1)
_NAMES = items(_TEXT, _MANY)
_KEYS, _FIELDS, _PARTS = items(_key, _MANY), items(_field, _MANY), items(lambda x, _: x, _MANY)


def to_json(structure: core.TreeDef, what: str, depth: int = 0) -> Any:
    """A leaf is "*", None is null, ["static", text] a value that the program was traced for; [kind, children],
    ["dict", keys, children], ["dataset", names, children] or [kind, name, fields, children] is the rest.
    Raises for what `tree` would refuse."""
    kind = structure.kind
    if structure == core.structure(0):
        return _LEAF
    if kind is type(None):
        return None
    if depth >= _DEEPEST and kind is not Static:
        raise UnsupportedError(f"xt.export: {what} are nested deeper than {_DEEPEST} levels; flatten them")
    children = [to_json(c, what, depth + 1) for c in structure.children]
    if kind in (list, tuple):
        return [kind.__name__, children]
    keys: Any = structure.meta
    if kind is Static:
        if is_literal(keys.value):
            return ["static", repr(keys.value)]
        held = with_article(type(keys.value).__name__)
        raise UnsupportedError(
            f"xt.export: {what} hold {held} that is not an array; besides arrays, a bundle can hold numbers and "
            "short texts in UTF-8. Export a function that captures the value: lambda x: f(x, value)"
        )
    if kind is dict and all(type(k) in (int, str) for k in keys):
        return ["dict", _held(_key, keys, f"{what} hold a dict with the key", "Use another key"), children]
    if kind is Variables:
        return ["dataset", _held(_key, list(keys), f"{what} hold a Dataset with the variable", "Rename it"), children]
    fields = None if core.is_registered(kind) else _fields(kind)
    if fields is not None:
        is_tuple = issubclass(kind, tuple)
        word = "namedtuple" if is_tuple else "dataclass"
        said = f"{what} hold a {word} {kind.__name__!a:.60}, and its name or that of a field is"
        _held(_field, [kind.__name__], said, "Use another name, or a dict")
        _held(_tuple_field if is_tuple else _field, fields, said, "Use another name, or a dict")
        return [word, kind.__name__, list(fields), children]
    found = with_article("dict with keys that are neither texts nor ints" if kind is dict else kind.__name__)
    if core.is_registered(kind):
        found += ", a class that xt.tree.register knows"
    raise UnsupportedError(
        f"xt.export: {what} hold {found}; a bundle can hold dicts, lists, tuples, named tuples, dataclasses and "
        "None. Export a function that takes and returns these"
    )


def _held(check: Check, values: Iterable[Any], said: str, instead: str) -> list[Any]:
    """The values, if a reader takes them."""
    for value in values:
        try:
            check(value, said)
        except RefusedError:
            text = int_text(value) if isinstance(value, int) else f"{value!a:.60}"
            wanted = f"a text of {_MOST} characters in UTF-8 or an int of 64 bits" if check is _key else "a name"
            raise UnsupportedError(f"xt.export: {said} {text}; a bundle needs {wanted}. {instead}") from None
    return list(values)


@functools.lru_cache(maxsize=1024)
def _class(kind: str, name: str, fields: tuple[str, ...]) -> Any:
    """A class with these fields: what comes out of a loaded function, whose own classes are not there."""
    if kind == "namedtuple":
        return collections.namedtuple(name, fields)
    if (name, fields) == _RANDOM_KEY:
        return Key
    return dataclasses.make_dataclass(name, fields)


def tree(found: Any, where: str, depth: int = 0) -> Any:
    """The tree that JSON describes, "*" at its leaves: a check, as those of schema.py."""
    if found is None or found == _LEAF:
        return found
    if isinstance(found, list) and len(found) == 2 and found[0] == "static" and isinstance(found[1], str):
        try:
            return Static(value_of(found[1]))
        except ValueError:
            raise refuse(found[1], where, "a number or a text") from None
    if isinstance(found, list) and len(found) == 4 and found[0] in ("namedtuple", "dataclass") and depth < _DEEPEST:
        name, fields = _field(found[1], where), _FIELDS(found[2], where)
        inner = _PARTS(found[3], where)
        if len(set(fields)) != len(fields) or len(fields) != len(inner):
            raise refuse(found, where, "fields with one part each")
        parts = [tree(c, f"{where}.{f}", depth + 1) for c, f in zip(inner, fields, strict=True)]
        try:
            return _class(found[0], name, fields)(*parts)
        except (TypeError, ValueError):
            raise refuse(found, where, f"a {found[0]}") from None
    if isinstance(found, list) and depth < _DEEPEST and len(found) >= 2 and isinstance(found[-1], list):
        children = [tree(c, f"{where}[{i}]", depth + 1) for i, c in enumerate(found[-1])]
        if len(found) == 2 and found[0] in ("list", "tuple"):
            return children if found[0] == "list" else tuple(children)
        if len(found) == 3 and found[0] in ("dict", "dataset"):
            keys = (_KEYS if found[0] == "dict" else _NAMES)(found[1], where)
            if len(set(keys)) == len(keys) == len(children):
                by_name = dict(zip(keys, children, strict=True))
                return by_name if found[0] == "dict" else Variables(by_name)
    raise refuse(found, where, f"a tree of arrays, {_DEEPEST} deep at most")


def as_structure(found: Any) -> core.TreeDef:
    return core.structure(found)


def fitted(structure: core.TreeDef, given: Any, what: str) -> Any:
    """What is given, its static values marked as such where the exported call had the same."""
    if structure.kind is Static:
        there: Any = structure.meta
        if Static(given) != there:
            raise UnsupportedError(
                f"{what} was exported as {there.value!r}; export the function with another value to pass one"
            )
        return there
    if structure.kind in (list, tuple) and type(given) is structure.kind and len(given) == len(structure.children):
        return structure.kind(fitted(s, x, what) for s, x in zip(structure.children, given, strict=True))
    if structure.kind is Variables and isinstance(given, Mapping):  # its attributes do not matter
        names: Any = structure.meta
        if {*names} == {*(given.data_vars if hasattr(given, "data_vars") else given)}:
            return Variables({n: given[n] for n in names})
    fields = _fields(structure.kind)
    if fields is not None and _fields(type(given)) == fields:
        parts = zip(structure.children, fields, strict=True)
        return structure.kind(*(fitted(s, getattr(given, f), what) for s, f in parts))
    if structure.kind is dict and type(given) is dict and given.keys() == set(structure.meta):  # type: ignore[call-overload]
        inner = dict(zip(structure.meta, structure.children, strict=True))  # type: ignore[call-overload]
        return {k: fitted(s, given[k], what) for k, s in inner.items()}
    return given


def _fields(kind: Any) -> tuple[str, ...] | None:
    """Names of the parts of a named tuple or a dataclass."""
    if isinstance(kind, type) and issubclass(kind, tuple):
        return getattr(kind, "_fields", None)
    return tuple(f.name for f in dataclasses.fields(kind) if f.init) if dataclasses.is_dataclass(kind) else None
