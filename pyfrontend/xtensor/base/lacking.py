"""Errors about attributes that do not exist: they suggest a name with a similar spelling.

surface/hints.py says what to write instead of the names of other libraries.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .dims import closest
from .errors import AttributeError_

_REDUCTIONS = {
    "add": {"reduce": "sum", "accumulate": "cumsum"}, "multiply": {"reduce": "prod", "accumulate": "cumprod"},
    "maximum": {"reduce": "max", "accumulate": "cummax"}, "minimum": {"reduce": "min", "accumulate": "cummin"},
    "logaddexp": {"reduce": "logsumexp", "accumulate": "cumlogsumexp"},
    "logical_and": {"reduce": "all"}, "logical_or": {"reduce": "any"},
}  # fmt: skip
LOOKS = frozenset({"as_text", "cost", "explore", "lower", "memory", "trace"})  # into a jitted function
_LISTED = "it has "  # how the list of methods begins


def is_traced(x: Any) -> bool:
    return hasattr(type(x), "scope")


def lacks(x: Any, name: str, instead: str | None) -> AttributeError:
    """The error about an attribute that is not there, with what to write."""
    owner = repr(x) if is_traced(x) else f"{type(x).__name__!r} object"
    if name.startswith("_"):  # asked by libraries that can do without it
        return AttributeError(f"{owner} has no attribute {name!r}", name=name, obj=x)
    return missing(f"{owner} has no attribute {name!r}", name, x, dir(x), instead)


def missing(problem: str, name: str, owner: object, have: Iterable[str], instead: str | None) -> AttributeError_:
    """The error about a name that is not among those that `owner` has."""
    if instead and (not instead.startswith(_LISTED) or instead.startswith(f"{_LISTED}no ")):
        return AttributeError_(f"{problem}: {instead}", name, owner)
    lower = {n.lower(): n for n in have if not n.startswith("_")}
    near = closest(name.lower(), lower, cutoff=0.7)
    listed = f": {instead}" if instead else ""
    if near is None:
        return AttributeError_(f"{problem}{listed}", name, owner)
    # Without the owner: Python 3.12 would suggest the name again.
    return AttributeError_(f"{problem}{listed}; did you mean {lower[near]!r}?", name, None)


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
    return f"{_LISTED}{', '.join(m for m in dir(type(x)) if not m.startswith('_'))}"
