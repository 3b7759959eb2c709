"""Pytrees in a manifest: dicts, lists, tuples and None as JSON."""

from __future__ import annotations

from typing import Any

from ..core import tree as core
from ..core.errors import UnsupportedError
from .schema import items, refuse, text

_LEAF = "*"
_DEEPEST = 64
_KEYS = items(text(1024, is_line=False), most=1 << 16)


def to_json(structure: core.TreeDef, what: str) -> Any:
    """A leaf is "*", None is null, [kind, children] or ["dict", keys, children] is the rest."""
    kind, children = structure.kind, [to_json(c, what) for c in structure.children]
    if structure == core.structure(0):
        return _LEAF
    if kind is type(None):
        return None
    if kind in (list, tuple):
        return [kind.__name__, children]
    keys: Any = structure.meta
    if kind is dict and all(isinstance(k, str) for k in keys):
        return ["dict", list(keys), children]
    raise UnsupportedError(
        f"xt.export: {what} hold a {kind.__name__}; a bundle has dicts with text as keys, lists, tuples and None. "
        "Export a function that takes and returns these"
    )


def tree(found: Any, where: str, depth: int = 0) -> Any:
    """The tree that JSON describes, "*" at its leaves: a check, as those of schema.py."""
    if found is None or found == _LEAF:
        return found
    if isinstance(found, list) and depth < _DEEPEST and len(found) >= 2 and isinstance(found[-1], list):
        children = [tree(c, f"{where}[{i}]", depth + 1) for i, c in enumerate(found[-1])]
        if len(found) == 2 and found[0] in ("list", "tuple"):
            return children if found[0] == "list" else tuple(children)
        if len(found) == 3 and found[0] == "dict":
            keys = _KEYS(found[1], where)
            if len(set(keys)) == len(keys) == len(children):
                return dict(zip(keys, children, strict=True))
    raise refuse(found, where, f"a tree of arrays, {_DEEPEST} deep at most")


def as_structure(found: Any) -> core.TreeDef:
    return core.structure(found)
