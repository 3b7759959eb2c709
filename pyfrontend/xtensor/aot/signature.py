"""The parameters of an exported function: their form in a manifest, and their `inspect.signature`."""

from __future__ import annotations

import inspect
from typing import Any

from ..call.dispatch import Op
from .literal import KINDS, LONGEST, is_literal, value_of, written
from .manifest import Exported
from .schema import printable

_KINDS = {k.name: k for k in inspect._ParameterKind}


def described(signature: inspect.Signature | None) -> list[dict[str, Any]]:
    """JSON of the parameters. Numbers, texts and None stay what they are; other defaults are shown and no more."""
    found = []
    for p in signature.parameters.values() if signature else ():
        one: dict[str, Any] = {"name": p.name, "kind": p.kind.name}
        if p.default is not p.empty:
            text = _default_text(p.default)
            one["plain"] = is_literal(p.default)
            one["default"] = text[:LONGEST]
        found.append(one)
    return found


def _default_text(default: Any) -> str:
    """The same in every process: no addresses, and no order of a set."""
    if type(default) in KINDS:
        return written(default)
    if type(default) in (tuple, list) and all(map(is_literal, default)):
        return repr(default)
    name = getattr(default, "__name__", None)
    if isinstance(default, Op):
        return f"xt.{name}"
    return name if isinstance(name, str) else f"<{type(default).__name__}>"


def signature(f: Exported) -> inspect.Signature:
    """Of the loaded function; ValueError where the manifest describes none."""
    found = f.python.parameters
    if found is None:
        return inspect.Signature([inspect.Parameter(p.name, _KINDS["POSITIONAL_OR_KEYWORD"]) for p in f.arguments])
    parameters = []
    for p in found:
        default: Any = inspect.Parameter.empty
        if "default" in p:
            default = value_of(p["default"]) if p.get("plain") else Unknown(p["default"])
        parameters.append(inspect.Parameter(p["name"], _KINDS[p["kind"]], default=default))
    return inspect.Signature(parameters)


class Unknown:
    """A default that is neither a number nor a text: it is shown as it was, and cannot be passed."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return printable(self.text)
