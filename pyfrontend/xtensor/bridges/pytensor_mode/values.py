"""PyTensor's tensors, whose axes have numbers, as arrays with named dims.

Axis i is dim "axis<i>". An axis is left out if the type of the variable knows that its size is 1. PyTensor broadcasts
along these axes and no others, and named dims broadcast where they are missing. So an elementwise op of PyTensor is
one of ours, and a DimShuffle is a rename. Dims with other names, such as those of a batch, pass through every op.

A value inside of a graph is such an array, or it is *known* while tracing: a NumPy array or number, None, a slice.
Sizes are known, and so is what PyTensor computes of sizes alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ... import ops
from ...call.arrays import array
from ...trace.tracer import Tracer
from ...values.array import Array


def axis(i: int) -> str:
    return f"axis{i}"


def is_array(x: Any) -> bool:
    return isinstance(x, (Tracer, Array))


def kept(type_: Any) -> list[int]:
    """The axes that have a dim."""
    return [i for i, n in enumerate(getattr(type_, "shape", ())) if n != 1]


def named(x: Any, type_: Any) -> Any:
    """A value of a variable of this type as an array."""
    if is_array(x):
        return x
    x = np.asarray(x, type_.dtype)
    if not x.ndim:
        return ops.full({}, x.item(), dtype=x.dtype)
    axes = kept(type_)
    return array(x.reshape([x.shape[i] for i in axes]), dims=[axis(i) for i in axes])


def full(x: Any, type_: Any, axes: Iterable[int] | None = None) -> Any:
    """`x` with all axes as dims, also those of size 1; or with these axes."""
    x = named(x, type_)
    missing = {axis(i): 1 for i in (range(type_.ndim) if axes is None else axes) if axis(i) not in x.dims}
    return ops.expand_dims(x, missing) if missing else x


def fit(x: Any, type_: Any) -> Any:
    """A result as the value of a variable of this type: its dtype, and dims for the axes that the type keeps."""
    if not is_array(x) or not hasattr(type_, "dtype"):
        return x
    if x.dtype != np.dtype(type_.dtype):
        x = cast(x, type_.dtype)
    axes = set(kept(type_))
    gone = [axis(i) for i in range(type_.ndim) if i not in axes and axis(i) in x.dims]
    if gone:
        x = ops.squeeze(x, gone)
    return full(x, type_, axes)


def cast(x: Any, dtype: Any) -> Any:
    if x.dtype == np.dtype(dtype):
        return x
    return ops.not_equal(x, 0) if np.dtype(dtype) == np.bool_ else ops.astype(x, dtype)


def renamed(x: Any, names: dict[str, str]) -> Any:
    names = {a: b for a, b in names.items() if a in x.dims and a != b}
    return ops.rename(x, names) if names else x


def longest(arrays: Iterable[Any]) -> dict[str, int]:
    """The size of each dim of arrays that stretch as in NumPy, also where only the call knows that a size is 1."""
    sizes: dict[str, int] = {}
    for x in arrays:
        for d, n in x.sizes.items():
            sizes[d] = n if sizes.get(d, 1) == 1 else sizes[d]
    return sizes


def squeezed(x: Any, longest: Mapping[str, int]) -> Any:
    """`x` without the dims of size 1 that are longer in others: these broadcast."""
    gone = [d for d, n in x.sizes.items() if n == 1 and longest.get(d, 1) != 1]
    return ops.squeeze(x, gone) if gone else x


def stretching(x: Any, type_: Any) -> Any:
    """A value of a variable of this type, without the axes whose size is 1 in this call."""
    x = named(x, type_)
    single = [axis(i) for i in range(type_.ndim) if axis(i) in x.dims and size(x, i) == 1]
    return ops.squeeze(x, single) if single else x


def numbered(x: Any, order: Sequence[str | None]) -> Any:
    """`x` with dim order[i] as axis i; None: an axis without a dim."""
    return renamed(x, {d: axis(i) for i, d in enumerate(order) if d is not None})


def in_order(x: Any, type_: Any) -> Any:
    """The dims in the order of the axes."""
    dims = [axis(i) for i in kept(type_)]
    return x if list(x.dims) == dims else ops.transpose(x, *dims)


def size(x: Any, i: int) -> int:
    """The size of an axis."""
    if not is_array(x):
        return int(np.shape(x)[i])
    return int(x.sizes[axis(i)]) if axis(i) in x.dims else 1


def shape(x: Any, ndim: int) -> tuple[int, ...]:
    return tuple(size(x, i) for i in range(ndim))
