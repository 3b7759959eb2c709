"""Parameters of an exported function: as a manifest says them, and as `inspect.signature` shows them again."""

from __future__ import annotations

import ast
import inspect
import re
from typing import Any

from .manifest import Exported
from .schema import printable

_KINDS = {k.name: k for k in inspect._ParameterKind}
_LONGEST = 1000  # of a default's text
# Numbers and texts as repr writes them. Nothing nests: what parses it cannot run out of stack.
_PLAIN = re.compile(
    r"""None|True|False|-?\d+|-?\d+\.\d+|-?\d(?:\.\d+)?e[+-]\d+|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*\"""", re.ASCII
)
_NO_NUMBERS = ("inf", "-inf", "nan")


def described(signature: inspect.Signature | None) -> list[dict[str, Any]]:
    """JSON of the parameters. Numbers, texts and None stay what they are; other defaults are shown and no more."""
    found = []
    for p in signature.parameters.values() if signature else ():
        one: dict[str, Any] = {"name": p.name, "kind": p.kind.name}
        if p.default is not p.empty:
            text = _default_text(p.default)
            one["plain"] = _is_plain(p.default) and len(text) <= _LONGEST
            one["default"] = text[:_LONGEST]
        found.append(one)
    return found


def _is_plain(default: Any) -> bool:
    return default is None or type(default) in (bool, int, float, str)


def _default_text(default: Any) -> str:
    """The same in every process: no addresses, and no order of a set."""
    if _is_plain(default) or (type(default) in (tuple, list) and all(_is_plain(x) for x in default)):
        return repr(default)
    name = getattr(default, "__name__", None)
    return name if isinstance(name, str) else f"<{type(default).__name__}>"


def signature(f: Exported) -> inspect.Signature:
    """Of the loaded function; ValueError where the manifest describes none."""
    found = f.python.parameters
    if found is None:
        return inspect.Signature([inspect.Parameter(p.name, _KINDS["POSITIONAL_OR_KEYWORD"]) for p in f.arguments])
    parameters = []
    for p in found:
        default = _default(p["default"], p.get("plain", False)) if "default" in p else inspect.Parameter.empty
        parameters.append(inspect.Parameter(p["name"], _KINDS[p["kind"]], default=default))
    return inspect.Signature(parameters)


def _default(text: str, plain: bool) -> Any:
    if not plain:
        return _Shown(text)
    if text in _NO_NUMBERS:
        return float(text)
    if len(text) > _LONGEST or not _PLAIN.fullmatch(text):
        raise ValueError(f"no default: {text!a:.60}")
    try:
        found = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        raise ValueError(f"no default: {text!a:.60}") from None
    if isinstance(found, str) and any("\ud800" <= c <= "\udfff" for c in found):
        raise ValueError(f"no default: {text!a:.60}")
    return found


class _Shown:
    """A default that is no number or text: it is shown as it was, and cannot be passed."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return printable(self.text)
