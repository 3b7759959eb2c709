"""Checks that the arguments of a call have the types with which a function was exported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.calls import int_text, shown
from ..base.dims import batched
from ..base.dtypes import is_integer
from ..base.errors import ArgumentError, ArgumentTypeError, DTypeError
from ..base.ranges import fits
from ..values.kinds import NUMBERS, number_class
from ..values.spec import Spec

# Of Python numbers, by what they arrive as: a float as float32 where a device has no float64.
CLASSES: dict[str, type] = {name: cls for cls, name in NUMBERS.items()} | {"float32": float, "complex64": complex}


def beyond(needed: Sequence[str], there: Sequence[str]) -> str:
    """What to do about dims that an exported function does not know, or that vectorize took."""
    taken = [d for d in needed if d not in there and d in batched.names]
    if taken:
        other = "batch" if "batch" not in (*needed, *there, *batched.names) else "outer"
        return (
            f". {taken[0]!r} is batched outside, by xt.vectorize, and the function has a dim of this name itself: call "
            f"it without xt.vectorize, it takes all of them at once, or rename the batch, "
            f"x.rename({{{taken[0]!r}: {other!r}}})"
        )
    more, missing = [d for d in there if d not in needed], [d for d in needed if d not in there]
    if more and len(more) == len(missing):
        names = ", ".join(f"{a!r}: {b!r}" for a, b in zip(more, missing, strict=True))
        return f". If it is {'the same dim' if len(more) == 1 else 'the same dims'}, write x.rename({{{names}}})"
    if more and set(needed) <= set(there):
        return f". Dims of a batch go through xt.vectorize(f, {more[0]!r})"
    return ""


def as_number(x: Any, spec: Spec, what: str) -> Any:
    """A Python number as the exported argument without dims, in NumPy's form; an error where it is another one."""
    kind = np.dtype(NUMBERS[number_class(x)])
    needed = CLASSES.get(spec.dtype.name) if spec.weak else None
    if needed and needed is not CLASSES[kind.name]:
        raise ArgumentTypeError(
            f"{what} is {shown(x)}; {needed.__name__} is needed, as it was exported with one. Write "
            f"{needed.__name__}(..), or export the function with {CLASSES[kind.name].__name__}"
        )
    if not casts(kind, spec):
        raise wrong_dtype(what, kind, spec)
    if is_integer(spec.dtype) and not fits(x, spec.dtype):
        if spec.weak:
            raise ArgumentError(f"{what}: the int {int_text(int(x))} does not fit into 64 bits")
        info = np.iinfo(spec.dtype)
        raise ArgumentError(
            f"{what} is {int_text(int(x))}, which does not fit {spec.dtype.name} ({info.min} to {info.max})"
        )
    try:
        return np.asarray(x, dtype=spec.dtype)
    except OverflowError:
        raise ArgumentError(f"{what} is an int that does not fit {spec.dtype.name}") from None


def casts(kind: Any, spec: Spec) -> bool:
    """Whether a Python number of this dtype may become one of `spec`."""
    if spec.dtype.kind == "c":
        return True
    if spec.dtype.kind in "fV":
        return bool(kind.kind != "c")
    return kind.kind == "b" if spec.dtype.kind == "b" else kind.kind in "bi"


def wrong_dtype(what: str, there: Any, spec: Spec) -> DTypeError:
    return DTypeError(
        f"{what} has dtype {there.name}; {spec.dtype.name} is needed. Write x.astype({spec.dtype.name!r})"
    )
