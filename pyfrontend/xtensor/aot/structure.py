"""Pytrees in a manifest: dicts, lists, tuples and None as JSON."""

from __future__ import annotations

from typing import Any

from ..core import tree
from ..core.errors import BundleError, UnsupportedError

_LEAF = "*"


def to_json(structure: tree.TreeDef, what: str) -> Any:
    """A leaf is "*", None is null, [kind, children] or ["dict", keys, children] is the rest."""
    kind, children = structure.kind, [to_json(c, what) for c in structure.children]
    if structure == tree.structure(0):
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


def from_json(found: Any, depth: int = 0) -> Any:
    """A tree with "*" at its leaves."""
    if found is None or found == _LEAF:
        return found
    if isinstance(found, list) and depth < 64 and len(found) >= 2 and isinstance(found[-1], list):
        children = [from_json(c, depth + 1) for c in found[-1]]
        if len(found) == 2 and found[0] in ("list", "tuple"):
            return children if found[0] == "list" else tuple(children)
        if len(found) == 3 and found[0] == "dict" and isinstance(found[1], list):
            keys = found[1]
            if all(isinstance(k, str) for k in keys) and len(set(keys)) == len(keys) == len(children):
                return dict(zip(keys, children, strict=True))
    raise BundleError(f"manifest.json describes no tree of arrays: {found!r:.80}")


def as_structure(found: Any) -> tree.TreeDef:
    return tree.structure(from_json(found))
