"""What an index says: ints, slices, lists, masks and named integer arrays, made one of int, slice, `Positions` or a
tracer, with the errors about positions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.calls import int_text
from ..base.errors import (  # fmt: skip
    ArgumentError,
    ArgumentTypeError,
    DimensionError,
    IndexError_,
    SizeError,
    UnsupportedError,
    which_positions,
)
from ..trace import build
from ..trace.tracer import Tracer
from . import promotion as p
from .arguments import extend, fail, integer, is_static, size_of


@dataclass(frozen=True, eq=False)
class Positions:
    """Positions known while tracing, with the dims they bring to the result."""

    values: np.ndarray
    dims: tuple[str, ...]

    @property
    def sizes(self) -> dict[str, int]:
        return dict(zip(self.dims, self.values.shape, strict=True))

    def wide(self) -> np.ndarray:
        """In 64 bits, so that one program serves positions of all dtypes, but that of uint64."""
        return self.values.astype("u8" if self.values.dtype == np.uint64 else "i8")

    def traced(self) -> Tracer:
        return build.constant(self.wide(), self.dims)


def at_number(index: int) -> Positions:
    """One position. Beyond 64 bits it is as far outside as a position can be."""
    return Positions(np.asarray(max(-(2**63), min(index, 2**63 - 1))), ())


def out_of_range(name: str, x: Any, index: int, dim: str) -> Exception:
    """The error about a position in `x` known to lie outside."""
    return fail(
        IndexError_, name, f"index {int_text(index)} is out of range for dim {dim!r} of size {x.sizes[dim]}", x,
        instead=which_positions(name),
    )  # fmt: skip


def add_sizes(name: str, x: Any, sizes: dict[str, Any], indices: Mapping[str, Any]) -> None:
    """Adds the sizes of the dims of index arrays of `x`: they agree where they share a name, also with `sizes`."""
    for dim, index in indices.items():
        for d, size in index.sizes.items():
            if isinstance(sizes.get(d), int) and isinstance(size, int) and sizes[d] != size:
                raise fail(
                    SizeError, name, f"the index of dim {dim!r} has {d!r} of size {size}, not {sizes[d]}", x,
                    instead="Rename the index's dim for an outer product",
                )  # fmt: skip
            sizes[d] = size


def _sliding(name: str, x: Any, dim: str, index: slice) -> str:
    """What to write for a slice with bounds that are known only when the program runs."""
    if isinstance(index.step, Tracer):
        return ""
    if isinstance(index.start, Tracer) and isinstance(index.stop, Tracer):
        function = "isel" if not name.startswith("at.") else "at"
        return f"Of 3 elements from i on, write x.{function}({dim}=xt.arange(3, dim={dim!r}) + i)"
    place = f"xt.arange({x.sizes[dim]}, dim={dim!r})"
    sign = ">=" if isinstance(index.start, Tracer) else "<"
    return f"Sizes do not depend on values: xt.where({place} {sign} i, x, 0.0) leaves the rest out of a sum"


_LABELS = "Positions are counted. Labels of an array that has coordinates are for x.sel"


def read_index(name: str, x: Any, dim: str, index: Any) -> Any:
    if isinstance(index, slice):
        parts = (index.start, index.stop, index.step)
        if any(isinstance(part, str) for part in parts):
            raise fail(ArgumentTypeError, name, f"a bound along {dim!r} is an int, not a label", instead=_LABELS)
        instead = _sliding(name, x, dim, index)
        start, stop, step = (
            None if v is None else integer(name, v, f"a bound along {dim!r}", instead=instead) for v in parts
        )
        if step == 0:
            raise fail(ArgumentError, name, f"the step of the slice along {dim!r} is 0")
        return slice(start, stop, step)
    if isinstance(index, str):
        raise fail(ArgumentTypeError, name, f"{index!r} is not an index for dim {dim!r}", instead=_LABELS)
    if isinstance(index, (bool, np.bool_)) or index is None:
        raise fail(
            ArgumentTypeError, name, f"{index!r} is not an index for dim {dim!r}",
            instead="Use ints, slices, lists, masks or named integer arrays",
        )  # fmt: skip
    if isinstance(index, (int, np.integer)):
        return int(index)
    if isinstance(index, tuple) and len(index) == 2 and isinstance(index[0], (str, tuple)):
        return _read_named(name, x, dim, np.asarray(index[1]), index[0])
    if isinstance(index, (list, tuple, np.ndarray, range)):
        values = np.asarray(index)
        if values.ndim == 0 and values.dtype.kind in "iu":
            return int(values)
        if values.ndim > 1:
            raise fail(
                DimensionError, name, f"the index of dim {dim!r} has {values.ndim} axes without names",
                instead='Name them: xt.array(index, dims=("a", "b"))',
            )  # fmt: skip
        return _read_named(name, x, dim, values, (dim,))
    if hasattr(index, "dims") and hasattr(index, "dtype"):
        return _read_array(name, x, dim, index)
    whole = isinstance(index, float) and index.is_integer()
    raise fail(
        ArgumentTypeError,
        name,
        f"{index!r} is not an index for dim {dim!r}",
        instead=f"Write {index:.0f}" if whole else "Use ints, slices, lists, masks or named integer arrays",
    )


def _read_named(name: str, x: Any, dim: str, values: np.ndarray, dims: Any) -> Positions:
    dims = (dims,) if isinstance(dims, str) else tuple(dims)
    if len(dims) != values.ndim:
        raise fail(DimensionError, name, f"the index of dim {dim!r} has {values.ndim} axes but names {dims}")
    if values.dtype.kind == "b":
        return Positions(_mask_positions(name, x, dim, values, dims), dims)
    if values.size == 0:
        values = values.astype("i8")
    if values.dtype.kind not in "iu":
        raise fail(
            ArgumentTypeError, name, f"positions along {dim!r} are integers, not {values.dtype}",
            instead='Write index.astype("i8")',
        )  # fmt: skip
    return Positions(values, dims)


def _mask_positions(name: str, x: Any, dim: str, mask: np.ndarray, dims: tuple[str, ...]) -> np.ndarray:
    if dims != (dim,):
        raise fail(
            DimensionError, name, f"a mask over {dims} cannot index dim {dim!r}",
            instead=f"A mask has one dim, named {dim!r}; x.where(mask) keeps the shape",
        )  # fmt: skip
    if x.sizes[dim] != mask.size:
        raise fail(
            SizeError, name, f"the mask has size {mask.size}, dim {dim!r} has {x.sizes[dim]}", x,
            instead=f"A mask has one element for each of dim {dim!r}",
        )  # fmt: skip
    return np.flatnonzero(mask)


def _read_array(name: str, x: Any, dim: str, index: Any) -> Any:
    kind = np.dtype(index.dtype).kind
    if kind == "b":
        if isinstance(index, Tracer):
            raise fail(
                UnsupportedError, name, f"how many elements a mask over {dim!r} keeps is unknown while tracing",
                index, instead="Write xt.where(mask, x, other), or index outside of the traced function",
            )  # fmt: skip
        dims = tuple(index.dims)
        return Positions(_mask_positions(name, x, dim, np.asarray(index.values), dims), dims)
    if kind not in "iu":
        raise fail(
            ArgumentTypeError, name, f"positions along {dim!r} are integers, not {index.dtype}",
            instead='Write index.astype("i8")',
        )  # fmt: skip
    return index


def parts_of(index: slice, size: int) -> tuple[tuple[int, int, int], bool]:
    """(offset, length, positive step) of a slice, and whether it runs backwards."""
    start, stop, step = index.indices(size)
    length = len(range(start, stop, step))
    if length == 0:
        return (0, 0, 1), False
    if length == 1:  # whatever the step is: it may not fit into 64 bits
        return (start, 1, 1), step < 0
    if step > 0:
        return (start, length, step), False
    return (start + (length - 1) * step, length, -step), True


def check_inside(name: str, x: Any, values: np.ndarray, dim: str) -> None:
    size = x.sizes[dim]
    outside = values[(values < -size) | (values >= size)]
    if outside.size:
        raise out_of_range(name, x, int(outside.flat[0]), dim)


def check_some(x: Tracer, dim: str, index: Positions | Tracer) -> None:
    """Positions are clipped to those that there are: none in a dim to which the call gives size 0."""
    index = index.traced() if isinstance(index, Positions) else index
    # Of which there may be none: the others say nothing of that.
    sizes = {d: size_of(index, d) for d in index.dims if not is_static(index, d) or index.sizes[d] == 0}
    build.gather("raise", x, {dim: extend(p.constant(0, p.I8), sizes, tuple(sizes))})
