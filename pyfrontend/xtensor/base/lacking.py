"""Errors about attributes that do not exist.

They keep the name and its owner, so that Python suggests names with a similar spelling. surface/hints.py says what
to write instead.
"""

from __future__ import annotations

from typing import Any

from .errors import AttributeError_

_REDUCTIONS = {
    "add": {"reduce": "sum", "accumulate": "cumsum"}, "multiply": {"reduce": "prod", "accumulate": "cumprod"},
    "maximum": {"reduce": "max", "accumulate": "cummax"}, "minimum": {"reduce": "min", "accumulate": "cummin"},
    "logaddexp": {"reduce": "logsumexp", "accumulate": "cumlogsumexp"},
    "logical_and": {"reduce": "all"}, "logical_or": {"reduce": "any"},
}  # fmt: skip


def is_traced(x: Any) -> bool:
    return hasattr(type(x), "scope")


def lacks(x: Any, name: str, instead: str | None) -> AttributeError:
    """The error about an attribute that is not there, with what to write."""
    owner = repr(x) if is_traced(x) else f"{type(x).__name__!r} object"
    if name.startswith("_"):  # asked by libraries that can do without it
        return AttributeError(f"{owner} has no attribute {name!r}", name=name, obj=x)
    return AttributeError_(f"{owner} has no attribute {name!r}{f': {instead}' if instead else ''}", name, x)


def ufunc_method_instead(function: str, method: str) -> str | None:
    """What to write for a method that NumPy's function of this name has: np.maximum.accumulate."""
    if method == "at":
        return f"write x.at(time=i).{function}(v): updates of one position accumulate"
    if method == "outer":
        return f"write xt.{function}(x, y), of two arrays with different names"
    found = _REDUCTIONS.get(function, {}).get(method)
    return f'write xt.{found}(x, dim="time")' if found else None


def methods_of(x: Any) -> str:
    """The methods of an object, as an error lists them."""
    return f"it has {', '.join(m for m in dir(type(x)) if not m.startswith('_'))}"
