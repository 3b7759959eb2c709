"""Pytrees: nested dicts, lists, tuples, dataclasses, Datasets of xarray and None, whose leaves are arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .base.dims import check_name
from .base.errors import ArgumentTypeError
from .base.tree import TreeDef, flatten, leaves, map, paths, reduce, register, structure, unflatten
from .call.arrays import as_array
from .ops import astype, concat, expand_dims, isel, stack, transpose, unstack, zeros
from .ops.arguments import fail
from .trace.lift import as_tracer
from .trace.scope import tracing
from .values.array import Array as _Concrete

__all__ = [
    "TreeDef",
    "flatten",
    "leaves",
    "map",
    "paths",
    "ravel",
    "reduce",
    "register",
    "structure",
    "unflatten",
]


def __dir__() -> list[str]:
    return sorted(__all__)


def ravel(tree: Any, dim: str = "parameter") -> tuple[Any, Callable[[Any], Any]]:
    """Returns all leaves as one vector along `dim`, and a function that turns a vector back into the tree.

    Leaves are in the order of `leaves`, and elements in the order of the dims of their leaf. The vector has the dtype
    that the leaves promote to. The function restores the dtype of each leaf. Labels are lost.

    Raises:
        DTypeError: a leaf is not an array or a number.

    Example:
    >>> vector, unravel = xt.tree.ravel({"w": xt.ones(row=2, col=3), "b": 0.5})
    >>> vector.sizes, unravel(2.0 * vector)["w"].sizes
    ({'parameter': 7}, {'row': 2, 'col': 3})
    """
    check_name(dim)
    found, shape = flatten(tree)
    arrays = [_array(x) for x in found]
    sizes = [{d: _size(x, d) for d in x.dims} for x in arrays]
    dtypes = [x.dtype for x in arrays]
    lengths = [int(np.prod([*s.values()], dtype="i8")) for s in sizes]
    rows = [stack(x, {dim: tuple(x.dims)}) if x.dims else expand_dims(x, dim) for x in arrays]
    vector = (concat(rows, dim) if len(rows) > 1 else rows[0]) if rows else zeros({dim: 0})
    starts = np.cumsum([0, *lengths])

    def unravel(vector: Any) -> Any:
        if dim not in getattr(vector, "dims", ()) or vector.sizes[dim] != starts[-1]:
            raise fail(ArgumentTypeError, "tree.ravel", f"a vector with {dim!r} of size {starts[-1]} is needed", vector)
        others = [d for d in vector.dims if d != dim]
        made = []
        for start, n, size, dtype in zip(starts, lengths, sizes, dtypes, strict=False):
            part = isel(vector, {dim: slice(int(start), int(start) + n)}) if size else isel(vector, {dim: int(start)})
            part = transpose(unstack(part, {dim: size}), *others, *size) if size else part
            made.append(astype(part, dtype))
        return shape.unflatten(made)

    return vector, unravel


def _array(x: Any) -> Any:
    if tracing():
        return as_tracer(x)
    made = as_array(x)
    return made._with_meta(None) if isinstance(made, _Concrete) and made.meta is not None else made


def _size(x: Any, d: str) -> int:
    n = x.sizes[d]
    if not isinstance(n, int):
        raise fail(ArgumentTypeError, "tree.ravel", f"the size of dim {d!r} is dynamic, and must be known here", x)
    return n
