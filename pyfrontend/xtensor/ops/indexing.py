"""Reading by position: isel, [], head, tail, thin, take, take_along and split.

Positions are ints, slices, lists, masks or named integer arrays. Index arrays that share a name are paired, also
with a dim that stays. Different names make an outer product. The order of the result's dims is that of xarray: the
dims of an index come in place of the dim that it reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from .. import _native
from ..base.calls import counted
from ..base.dims import check_name
from ..base.errors import (  # fmt: skip
    ArgumentError,
    ArgumentTypeError,
    IndexError_,
    SizeError,
)
from ..call.arrays import array, as_array
from ..call.dispatch import op, tracing
from ..call.opened import Follows, apart, renamed
from ..labels.xarray import is_dataarray
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.scope import local
from ..trace.tracer import Tracer
from ..values.array import Array as Concrete
from ..values.devices import like
from ..values.options import current
from . import promotion as p
from .arguments import by_dim, dim_of, extend, fail, integer, is_static, reorder, size_of, static_size
from .moving import read_positions
from .positions import Positions, add_sizes, at_number, check_inside, check_some, out_of_range, parts_of, read_index
from .shape import present, transpose
from .types import Array, ArrayLike

MODES = ("raise", "clip", "fill")


def isel(
    x: ArrayLike, indexers: Mapping[str, Any] | None = None, /, missing_dims: str = "raise", **keywords: Any
) -> Array:
    """Returns elements by position along dims: isel(x, {"a": 0, "b": slice(1, 3)}) or isel(x, a=0, b=slice(1, 3)).

    An int removes its dim. A slice (with any step), a list and a mask keep it. An integer array with names puts its own
    dims in place of it.

    Raises:
        DimensionError: `x` does not have a dim that is named.
        IndexError: a position is out of range.
        ArgumentError: `missing_dims` is another word.

    Example:
    >>> x = xt.array([[1, 2, 3], [4, 5, 6]], ("a", "b"))
    >>> xt.isel(x, a=0, b=slice(1, 3))
    <xtensor.Array (b: 2) int64>
    [2 3]
    """
    return read("isel", x, by_dim("isel", indexers, keywords, "indexers"), missing_dims=missing_dims)


def read(
    name: str, x: Any, indexers: Mapping[str, Any], *, missing_dims: str = "raise", mode: str | None = None,
    fill_value: Any = None,
) -> Any:  # fmt: skip
    """What all kinds of reading come down to."""
    if tracing() or isinstance(x, Tracer):
        x = x if hasattr(x, "dims") else as_tracer(x)
        there = present(name, x, indexers, missing_dims)
        return _read(x, {d: read_index(name, x, d, indexers[d]) for d in there}, name, mode, fill_value)
    if mode is None and missing_dims == "raise":
        found = _native.read_parts(x, indexers)
        if found is not None:
            return found
    if type(x) is Concrete and missing_dims == "raise" and (mode is not None or not _are_parts(indexers)):
        return _read(x, indexers, name, mode, fill_value)
    if not hasattr(x, "dims"):
        x = _concrete(x)
    if is_dataarray(x) and mode is None and current().index == "raise":
        return x.isel(_for_xarray(indexers), missing_dims=missing_dims)
    if missing_dims != "raise":
        indexers = {d: indexers[d] for d in present(name, x, indexers, missing_dims)}
    if mode is None and _are_parts(indexers):
        there = present(name, x, indexers, "raise")
        plan = {d: read_index(name, x, d, indexers[d]) for d in there}
        if not _has_labels(x) and x.device == "cpu":
            return _view(name, x, plan)
    return _read(x, indexers, name, mode, fill_value)


def _are_parts(indexers: Mapping[str, Any]) -> bool:
    """Whether there are ints and slices alone."""
    for i in indexers.values():  # noqa: SIM110 (all() takes longer)
        if not isinstance(i, (int, np.integer, slice)):
            return False
    return True


def _has_labels(x: Any) -> bool:
    return is_dataarray(x) or x.meta is not None


def _concrete(x: Any) -> Any:
    return array(x)


def _for_xarray(indexers: Mapping[str, Any]) -> dict[str, Any]:
    """The indexers with arrays of ours as xarray's, positions alone."""
    return {d: i.to_xarray() if isinstance(i, Concrete) else i for d, i in indexers.items()}


def _view(name: str, x: Any, plan: Mapping[str, int | slice]) -> Any:
    """Ints and slices of a concrete array: its own memory where the elements lie together."""
    clips = current().index == "clip"
    places = dict(plan)
    for d, i in plan.items():
        if isinstance(i, int):
            size = x.sizes[d]
            if clips and size:
                places[d] = max(-size, min(i, size - 1))
            else:
                check_inside(name, x, np.asarray(i), d)
    return _native.read_parts(x, places)


def _prepared(
    x: Any, indexers: Mapping[str, Any], name: str = "isel", mode: str | None = None, fill_value: Any = None, /
) -> Any:
    """The arguments of `_read`. Labels follow the program, which knows ints that read an array with labels."""
    plan = {d: read_index(name, x, d, indexers[d]) for d in present(name, x, indexers, "raise")}
    follows = mode is None and all(isinstance(i, (int, slice)) for i in plan.values()) and _has_labels(x)
    return (x, plan if follows else as_arguments(name, x, plan, mode), name, mode, fill_value), {}


def as_arguments(name: str, x: Any, plan: Mapping[str, Any], mode: str | None) -> dict[str, Any]:
    """The positions of a call that is not traced."""
    if any(isinstance(i, Tracer) for i in plan.values()):
        return dict(plan)  # they are of another trace: an error
    return {d: as_argument(name, x, d, i, mode) for d, i in plan.items()}


def as_argument(name: str, x: Any, dim: str, index: Any, mode: str | None) -> Any:
    """Positions as an argument of the compiled function, so that it serves other positions, too."""
    if isinstance(index, slice) or hasattr(index, "weak"):
        return index
    if isinstance(index, int):
        if (mode or current().index) == "raise" and not -x.sizes[dim] <= index < x.sizes[dim]:
            raise out_of_range(name, x, index, dim)
        index = at_number(index)
    if isinstance(index, Positions):
        if (mode or current().index) == "raise":
            check_inside(name, x, index.values, dim)
        return array(index.wide(), dims=index.dims, device=like(x))
    return index


def met(
    name: str, y: Tracer, x: Tracer, plan: Mapping[str, Any], v: Any = None, there: Sequence[tuple[str, Tracer]] = ()
) -> Tracer:
    """`y`, what `x` gives at the positions or becomes there by `v`: where arrays go together by name, their coordinates
    have to agree. `there`: elements of `x` along a dim, of which `v` takes the place."""
    chosen = {d for d, i in plan.items() if not isinstance(i, Tracer) or i.dtype != p.BOOL}
    joined = [i for i in (*plan.values(), v) if isinstance(i, Tracer) and i.dims]
    if joined:
        kept = tuple(d for d in x.dims if d not in chosen)
        along = [kept, *(i.dims for i in joined)]
        y.scope.root.join(
            y.value, name, [x, *joined, *(at for _, at in there)], along=[*along, *((d,) for d, _ in there)]
        )
    return y


def _read_plan(
    x: Any, plan: Mapping[str, Any], name: str = "isel", mode: str | None = None, fill_value: Any = None, /
) -> Any:
    """Where an index has a dim that is read, so that this dim has other sizes in the result."""
    arrays = list(plan.values())
    if not isinstance(x, Concrete) or not all(isinstance(i, Concrete) for i in arrays) or not x.size:
        return None
    if not any(d in i.dims for d in plan for i in arrays):
        return None
    mode = mode or current().index
    if mode == "raise" and x.device != "cpu":  # where no program for all sizes may raise
        for d, i in plan.items():
            check_inside(name, x, i.values, d)
        mode = "clip"
    new = {d: apart(d) for d in plan}
    return Follows((renamed(x, new), {new[d]: i for d, i in plan.items()}, name, mode, fill_value))


def _read_wide(x: ArrayLike, plan: dict[str, Any], name: str, mode: str, fill_value: Any, /) -> Array:
    reader = _Reader(as_tracer(x), name, mode)
    reader.arrays |= plan
    if mode == "fill":
        return reader.result(fill_value)
    order = reader.order()
    return reorder(reader.gathered(mode), order)  # no dim is empty


@op(name="isel", static=_prepared, wide=(_read_plan, _read_wide))
def _read(
    x: ArrayLike, plan: Mapping[str, Any], name: str = "isel", mode: str | None = None, fill_value: Any = None, /
) -> Array:
    if local.op == "isel":
        local.op = name
    reader = _Reader(as_tracer(x), name, mode or current().index)
    for dim, index in plan.items():
        reader.add(dim, index)
    y = reader.result(fill_value)
    return y if y.value == reader.x.value else met(name, y, reader.x, plan)


@dataclass
class _Reader:
    """One read, put together index by index: slices first, then one gather, then the order of dims."""

    x: Tracer
    name: str
    mode: str
    ints: dict[str, int] = field(default_factory=dict)
    slices: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    backwards: list[str] = field(default_factory=list)
    arrays: dict[str, Any] = field(default_factory=dict)

    def add(self, dim: str, index: Any) -> None:
        if self.mode not in MODES:
            raise fail(ArgumentError, self.name, f"mode is one of {MODES}, not {self.mode!r}")
        if isinstance(index, int):
            self.add_int(dim, index)
        elif isinstance(index, slice):
            self.add_slice(dim, index)
        else:
            self.arrays[dim] = index if isinstance(index, Positions) else as_tracer(index)

    def add_int(self, dim: str, index: int) -> None:
        if not is_static(self.x, dim):
            self.arrays[dim] = at_number(index)
            return
        size = int(self.x.sizes[dim])
        inside = -size <= index < size
        if not inside and self.mode == "raise":
            raise out_of_range(self.name, self.x, index, dim)
        if not inside:
            self.arrays[dim] = at_number(index)
            return
        self.ints[dim] = index % size

    def add_slice(self, dim: str, index: slice) -> None:
        if index == slice(None) or index == slice(None, None, 1):
            return
        if index == slice(None, None, -1):
            self.backwards.append(dim)
            return
        self.slices[dim], backwards = parts_of(index, static_size(self.name, self.x, dim))
        if backwards:
            self.backwards.append(dim)

    def order(self) -> tuple[str, ...]:
        """The result's dims: each dim of the source replaced, in place, by what its index brings."""
        found: dict[str, None] = {}
        for dim in self.x.dims:
            if dim in self.arrays:
                found.update(dict.fromkeys(self.arrays[dim].dims))
            elif dim not in self.ints:
                found[dim] = None
        return tuple(found)

    def result(self, fill_value: Any) -> Tracer:
        order = self.order()
        x = self.x
        if self.ints or self.slices:
            x = build.slice(x, self.slices | {d: (i, 1, 1) for d, i in self.ints.items()})
        if self.ints:
            x = build.squeeze(x, tuple(self.ints))
        if self.backwards:
            x = build.reverse(x, tuple(self.backwards))
        self.x = x
        self.check_sizes()
        if self.mode == "fill":
            return reorder(self.filled(fill_value), order)
        self.check_positions()
        return reorder(self.gathered(self.mode), order)

    def check_sizes(self) -> None:
        """Index arrays agree in size where they share a name, also with the dims that stay."""
        seen = {d: s for d, s in self.x.sizes.items() if d not in self.arrays}
        add_sizes(self.name, self.x, seen, self.arrays)

    def check_positions(self) -> None:
        for dim, index in self.arrays.items():
            if not is_static(self.x, dim):
                if self.mode == "clip":
                    check_some(self.x, dim, index)
                continue
            size = int(self.x.sizes[dim])
            if size == 0 and all(isinstance(n, int) and n > 0 for n in index.sizes.values()):
                known = isinstance(index, Positions)
                raise out_of_range(self.name, self.x, int(index.values.flat[0]) if known else 0, dim)
            if isinstance(index, Positions):
                if self.mode == "raise":
                    check_inside(self.name, self.x, index.values, dim)
                last = max(size - 1, 0)
                at = np.minimum(index.values, last).astype("i8")  # first, as uint64 goes beyond int64
                self.arrays[dim] = Positions(np.clip(np.where(at < 0, at + size, at), 0, last), index.dims)

    def gathered(self, mode: str) -> Tracer:
        for dim in [d for d in self.arrays if self.is_plain(d)]:
            index = self.arrays.pop(dim)
            y = read_positions(self.x, dim, index.values)
            own = index.dims[0]
            if own != dim:
                y = build.rename(y, {dim: own})
            step = ("take", tuple(map(int, index.values)), None if own == dim else own)
            self.x = build.labelled(y, self.x, {dim: step}) if self.mode == "raise" else y
        if not self.arrays:
            return self.x
        traced = {d: i.traced() if isinstance(i, Positions) else i for d, i in self.arrays.items()}
        return build.gather(mode, self.x, traced)

    def is_plain(self, dim: str) -> bool:
        """Whether the index is known, has one dim, and shares its name with nothing else."""
        index = self.arrays[dim]
        if not isinstance(index, Positions) or len(index.dims) != 1 or not is_static(self.x, dim):
            return False
        (own,) = index.dims
        others = [i for d, i in self.arrays.items() if d != dim]
        shared = any(own in i.dims for i in others) or (own != dim and own in self.x.dims)
        return not shared

    def filled(self, fill_value: Any) -> Tracer:
        """What lies outside is `fill_value`: by default NaN, or the least integer (the largest unsigned)."""
        valid: Tracer | None = None
        empty = False
        for dim, index in list(self.arrays.items()):
            index = self.arrays[dim] = index.traced() if isinstance(index, Positions) else index
            index = p.cast(index, p.U8 if index.dtype.kind == "u" else p.I8)
            size = p.cast(size_of(self.x, dim), index.dtype)
            empty = empty or (is_static(self.x, dim) and self.x.sizes[dim] == 0)
            inside = build.compare("lt", index, size)
            if index.dtype != p.U8:
                inside = build.binary("and", inside, build.compare("ge", index, build.unary("neg", size)))
            valid = inside if valid is None else build.binary("and", valid, inside)
        x = self.x
        fill = p.cast(_least(x.dtype) if fill_value is None else fill_value, x.dtype)
        if empty:
            sizes = {d: size_of(x, d) for d in x.dims if d not in self.arrays}
            for index in self.arrays.values():
                sizes |= {d: size_of(index, d) for d in index.dims}
            return extend(fill, sizes, tuple(sizes))
        y = self.gathered("clip")
        return y if valid is None else build.select(valid, y, fill)


def _least(dtype: np.dtype) -> Any:
    if p.is_inexact(dtype):
        return float("nan")
    if dtype == p.BOOL:
        return False
    return int(np.iinfo(dtype).max if dtype.kind == "u" else np.iinfo(dtype).min)


# ---- positional -------------------------------------------------------------


def getitem(x: Any, key: Any, /) -> Array:
    """x[key]: a dict from dims to positions, or positions in the order of dims, with at most one `...`."""
    return read("isel", x, keyed(x, key))


def keyed(x: Any, key: Any) -> dict[str, Any]:
    """The indexers by dim that a key in brackets means."""
    if isinstance(key, (_native.Array, int, list)) and x.dims:
        return {x.dims[0]: key}
    if isinstance(key, Mapping):
        return {check_name(d): v for d, v in key.items()}
    if isinstance(key, str):
        labels = f"; its labels, if there are any, are x.coords[{key!r}]" if key in x.dims else ""
        raise fail(ArgumentTypeError, "isel", f"{key!r} is not an index", instead=f"Write x[{{{key!r}: 0}}]{labels}")
    parts = list(key) if isinstance(key, tuple) else [key]
    dots = [i for i, part in enumerate(parts) if part is ...]
    if len(dots) > 1:
        raise fail(IndexError_, "isel", "`...` may be given once")
    if any(part is None for part in parts):
        raise fail(IndexError_, "isel", "None is not an index", instead='Write x.expand_dims("new")')
    dims = tuple(x.dims)
    count = len(parts) - len(dots)
    if count > len(dims):
        raise fail(
            IndexError_, "isel", f"{counted(count, 'index', 'indices')} for {counted(len(dims), 'dim')} {dims}", x,
            instead="Give each dim one index at most, or name the dims: x.isel(dim=..)",
        )  # fmt: skip
    if dots:
        parts[dots[0] : dots[0] + 1] = [slice(None)] * (len(dims) - count)
    return {d: part for d, part in zip(dims, parts, strict=False) if not _is_full(part)}


def _is_full(part: Any) -> bool:
    return isinstance(part, slice) and part == slice(None)


# ---- shorthands -------------------------------------------------------------


def _ends(name: str, x: Any, indexers: Any, keywords: Mapping[str, Any], part: Any) -> Array:
    if indexers is None and not keywords:
        indexers = 5
    x = x if hasattr(x, "dims") else as_array(x)
    if not isinstance(indexers, Mapping) and indexers is not None:
        indexers = dict.fromkeys(x.dims, indexers)
    counts = by_dim(name, indexers, keywords, "counts")
    least = 1 if name == "thin" else 0
    for d, n in counts.items():
        if integer(name, n, f"the count along {d!r}") < least:
            raise fail(ArgumentError, name, f"the count along {d!r} is {n}", instead=f"Give {least} or more")
    return read(name, x, {d: part(int(n)) for d, n in counts.items()})


def head(x: ArrayLike, indexers: Mapping[str, int] | int | None = None, /, **keywords: int) -> Array:
    """Returns the first elements along dims: head(x, a=2). Without arguments it keeps 5 along every dim.

    Raises:
        DimensionError: `x` does not have a dim that is named.
        ArgumentError: a count is too small.

    Example:
    >>> xt.head(xt.arange(9, dim="time"), time=2)
    <xtensor.Array (time: 2) int64>
    [0 1]
    """
    return _ends("head", x, indexers, keywords, slice)


def tail(x: ArrayLike, indexers: Mapping[str, int] | int | None = None, /, **keywords: int) -> Array:
    """Returns the last elements along dims: tail(x, a=2). Without arguments it keeps 5 along every dim.

    Raises:
        DimensionError: `x` does not have a dim that is named.
        ArgumentError: a count is too small.

    Example:
    >>> xt.tail(xt.arange(9, dim="time"), time=2)
    <xtensor.Array (time: 2) int64>
    [7 8]
    """
    return _ends("tail", x, indexers, keywords, lambda n: slice(-n, None) if n else slice(0))


def thin(x: ArrayLike, indexers: Mapping[str, int] | int | None = None, /, **keywords: int) -> Array:
    """Returns every n-th element along dims: thin(x, a=2).

    Raises:
        DimensionError: `x` does not have a dim that is named.
        ArgumentError: a count is too small.

    Example:
    >>> xt.thin(xt.arange(9, dim="time"), time=4)
    <xtensor.Array (time: 3) int64>
    [0 4 8]
    """
    if indexers is None and not keywords:
        raise fail(ArgumentError, "thin", "no step is given", instead="Write xt.thin(x, a=2)")
    return _ends("thin", x, indexers, keywords, lambda n: slice(None, None, n))


def take(x: ArrayLike, indices: Any, /, dim: str) -> Array:
    """Returns the elements of `x` at the positions `indices` along `dim`.

    `indices` is a list, or an integer array whose dims come in place of `dim`.

    Raises:
        DimensionError: `x` does not have `dim`.
        IndexError: a position is out of range.

    Example:
    >>> xt.take(xt.array([10, 20, 30], "a"), xt.array([2, 0], "event"), "a")
    <xtensor.Array (event: 2) int64>
    [30 10]
    """
    if not hasattr(x, "dims"):
        x = _concrete(x)
    return read("take", x, {dim_of("take", x, dim): indices})


def take_along(x: ArrayLike, indices: Any, /, dim: str) -> Array:
    """Returns the elements of `x` along `dim` at positions that vary along its other dims.

    `indices` is an integer array. Dims that it shares with `x` are paired by name. The result has the other dims of
    `x`, then those that `indices` alone has.

    Raises:
        DimensionError: `x` does not have `dim`.
        IndexError: a position is out of range.

    Example:
    >>> x = xt.array([[1, 5], [7, 2]], ("a", "b"))
    >>> xt.take_along(x, xt.argmax(x, "b"), "b")
    <xtensor.Array (a: 2) int64>
    [5 7]
    """
    return _take_along(x if hasattr(x, "dims") else _concrete(x), indices, dim)


def _take_along(x: Any, indices: Any, dim: str) -> Any:
    y = read("take_along", x, {dim_of("take_along", x, dim): indices})
    order = [d for d in x.dims if d in y.dims]
    if tuple(order) == tuple(y.dims)[: len(order)]:
        return y
    return transpose(y, *order, ...)


def split(x: ArrayLike, parts: int | Sequence[int], /, dim: str) -> tuple[Array, ...]:
    """Returns `x` cut into pieces along `dim`, as a tuple.

    `parts` is a number of equal pieces, or a list of the positions to cut at.

    Raises:
        DimensionError: `x` does not have `dim`.
        SizeError: the size of `dim` is not a multiple of `parts`.

    Example:
    >>> [piece.values for piece in xt.split(xt.arange(5, dim="time"), [2], "time")]
    [array([0, 1]), array([2, 3, 4])]
    """
    if not hasattr(x, "dims"):
        x = as_tracer(x) if tracing() else _concrete(x)
    if isinstance(parts, str):
        raise fail(
            ArgumentTypeError, "split", f"parts are a number or cut points, not {parts!r}", x,
            instead=f"Write xt.split(x, 2, dim={parts!r})",
        )  # fmt: skip
    array: Any = x
    dim = dim_of("split", array, dim)
    size = static_size("split", array, dim)
    if isinstance(parts, Iterable) and not isinstance(parts, Tracer):
        cuts = [0, *(slice(None, integer("split", c, "a cut point")).indices(size)[1] for c in parts), size]
    else:
        pieces = integer("split", parts, "the number of pieces")
        if pieces < 1:
            raise fail(SizeError, "split", f"the number of pieces is 1 or more, not {pieces}", x)
        if size % pieces:
            raise fail(
                SizeError, "split", f"size {size} of dim {dim!r} is not a multiple of {pieces}", x,
                instead="Give the cut points as a list",
            )  # fmt: skip
        cuts = [size // pieces * i for i in range(pieces + 1)]
    return tuple(read("split", x, {dim: slice(start, max(start, stop))}) for start, stop in pairwise(cuts))
