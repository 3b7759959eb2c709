"""Errors about values that are not arrays, or that do not have names, with what to write instead."""

from __future__ import annotations

from typing import Any

from .errors import ArgumentTypeError, DimensionError, Error


def unnamed(x: Any, what: str = "an array", read: str = "") -> DimensionError:
    """The error about a bare array, as of NumPy; it says how to name its axes. `read`: what gives its values."""
    shape = tuple(x.shape)
    names = ", ".join(f'"{n}"' for n in ("row", "col", "depth", "time", "batch")[: len(shape)])
    comma = "," if len(shape) == 1 else ""
    return DimensionError(
        f"{what} of shape {shape} has no named dims. Name its axes: xt.array(x{read}, dims=({names}{comma}))"
    )


def not_an_array(x: Any, what: str = "") -> Error:
    """The error about an object that cannot be made an array."""
    if isinstance(x, (list, tuple)):
        if any(hasattr(item, "dims") for item in x):
            instead = 'A list of arrays becomes one by xt.concat([x, y], "new"), along a dim of that name'
        else:
            instead = f"Name its dims: xt.array({x!r:.60}, dims=...)"
        return ArgumentTypeError(f"{what}a {type(x).__name__} is not an array. {instead}")
    if type(x).__name__ == "Dataset":
        return ArgumentTypeError(
            f"{what}a Dataset holds several arrays. Take one by its name, dataset[name], or go "
            "through all of them: xt.tree.map(f, dataset)"
        )
    kind = f"{type(x).__module__}.{type(x).__qualname__}"
    if kind.startswith("pandas.") and hasattr(x, "shape"):
        return unnamed(x, f"{what}a {kind}", ".values")
    if hasattr(x, "__dlpack__"):
        return unnamed(x, f"{what}a {kind}")
    if hasattr(x, "__next__") or isinstance(x, (range, set, frozenset)):
        return ArgumentTypeError(f"{what}a {type(x).__name__} is not an array. Write xt.array(list(..), dims=...)")
    text = " ".join(repr(x).split())
    return ArgumentTypeError(f"{what}expected an array, a DataArray or a number, got {kind}: {text:.80}")
