"""Functions that change the dims of an array, their names or their order. Most do not copy elements."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from types import EllipsisType
from typing import Any

import numpy as np

from .. import _native
from ..base.calls import counted, int_text
from ..base.dims import brief, by_name, check_name, describe, ordered, unknown
from ..base.errors import ArgumentError, ArgumentTypeError, DimensionError, SizeError
from ..call.arrays import as_array
from ..call.dispatch import op, tracing
from ..call.opened import LARGEST, apart, renamed, room
from ..labels.xarray import POINTS, WHOLE, is_dataarray, without_labels
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.scope import local
from ..trace.tracer import DynamicSize, Tracer
from ..values import options
from ..values.array import Array as Concrete
from ..values.array import from_values
from . import promotion as p
from .arguments import (
    Size,
    by_dim,
    dims_of,
    extend,
    fail,
    integer,
    is_static,
    names_of,
    paired_sizes,
    reorder,
    size_of,
    static_size,
)  # fmt: skip
from .types import Array, ArrayLike, Dims


def present(op_name: str, x: Tracer, names: Iterable[str], missing_dims: str) -> list[str]:
    """The names that are dims of `x`; what others do is up to `missing_dims`."""
    if missing_dims not in ("raise", "warn", "ignore"):
        raise fail(
            ArgumentError, op_name, f"missing_dims is 'raise', 'warn' or 'ignore', not {missing_dims!r}"
        )  # fmt: skip
    names = list(names)
    missing = [n for n in names if n not in x.dims]
    if missing and missing_dims == "raise":
        raise unknown(op_name, missing[0], x.dims)
    if missing and missing_dims == "warn":
        warnings.warn(f"xt.{op_name}: no dim {missing}; the dims are {x.dims}", stacklevel=4)
    return [n for n in names if n in x.dims]


@op
def transpose(x: ArrayLike, /, *dims: str | EllipsisType, missing_dims: str = "raise") -> Array:
    """Returns `x` with its dims in the given order: transpose(x, "b", "a").

    Without names the order is reversed. `...` stands for the dims that are not named. Values do not change.

    Raises:
        DimensionError: `x` does not have a dim that is named, or one is left out without `...`.
        ArgumentError: `...` is given twice, or `missing_dims` is another word.

    Example:
    >>> xt.transpose(xt.zeros(a=2, b=3, c=4), "c", ...).sizes
    {'c': 4, 'a': 2, 'b': 3}
    """
    x = as_tracer(x)
    if not dims:
        return reorder(x, x.dims[::-1])
    if len(dims) == 1 and isinstance(dims[0], (list, tuple)):
        dims = tuple(dims[0])
    if sum(d is ... for d in dims) > 1:  # == of an array is an array
        raise fail(ArgumentError, "transpose", "`...` may be given once", x)
    axes: list[Any] = [d for d in dims if isinstance(d, Integral)]
    if len(axes) == len(dims) and all(-x.ndim <= d < x.ndim for d in axes):
        names = ", ".join(repr(x.dims[int(d)]) for d in axes)
        instead = f"Write x.transpose({names})"
        raise fail(ArgumentTypeError, "transpose", "dims have names, not numbers", x, instead=instead)
    named = present("transpose", x, names_of("transpose", [d for d in dims if d is not ...]), missing_dims)
    rest = [d for d in x.dims if d not in named]
    if not any(d is ... for d in dims):
        if rest:
            raise fail(
                DimensionError, "transpose", f"the order {dims} lacks {', '.join(map(repr, rest))}", x,
                instead="Name every dim, or write ... for the rest",
            )  # fmt: skip
        return reorder(x, named)
    order: list[str] = []
    for d in dims:
        order += rest if d is ... else [d] if d in named else []
    return reorder(x, order)


def rename(x: ArrayLike, names: Mapping[str, str] | None = None, /, **keywords: str) -> Array:
    """Returns `x` with new names for some dims: rename(x, {"a": "b"}) or rename(x, a="b").

    All names change at once, so two names may be swapped.

    Raises:
        DimensionError: `x` does not have a dim that is named, or two dims would have one name.
        ArgumentTypeError: new names are not given as a dict or by keyword.

    Example:
    >>> xt.rename(xt.zeros(a=2, b=3), a="b", b="a").sizes
    {'b': 2, 'a': 3}
    """
    if isinstance(names, str) and not keywords:
        raise fail(
            ArgumentTypeError, "rename", f"new names are a dict from dims, not {names!r}", x,
            instead=f"Write x.rename(time={names!r}) for a dim; to name the array, write "
            f"xt.as_array(x.to_xarray().rename({names!r}))",
        )  # fmt: skip
    return _rename(x, by_dim("rename", names, keywords, "new names"))


@op
def _rename(x: ArrayLike, names: dict[str, str], /, name: str = "rename") -> Array:
    x = as_tracer(x)
    missing = [d for d in names if d not in x.dims]
    if missing:
        raise unknown(name, missing[0], x.dims)
    for new in names.values():
        check_name(new)
    after = [names.get(d, d) for d in x.dims]
    for d in after:
        if after.count(d) > 1:
            raise fail(
                DimensionError, name, f"two dims would be named {d!r}", x,
                instead="Give names that differ (all change at once, so names may be swapped)",
            )  # fmt: skip
    changed = {old: new for old, new in names.items() if old != new}
    if not changed:
        return x
    y = build.rename(x, changed)
    if name != "swap_dims":
        return y
    return build.labelled(y, x, {old: ("take", None, new) for old, new in changed.items()})


def swap_dims(x: ArrayLike, names: Mapping[str, str] | None = None, /, **keywords: str) -> Array:
    """Returns `x` with some dims replaced by others, as `rename`, while coordinates keep their names.

    A coordinate along the old dim that has the new dim's name becomes the labels of the new dim.

    Raises:
        DimensionError: `x` does not have a dim that is named, or two dims would have one name.

    Example:
    >>> heat = xr.DataArray([3.0, 4.0], dims="lat", coords={"lat": [10, 20], "name": ("lat", ["N", "S"])})
    >>> xt.swap_dims(heat, lat="name").sel(name="S").item()
    4.0
    """
    return _rename(x, by_dim("swap_dims", names, keywords, "new names"), name="swap_dims")


def drop_vars(x: ArrayLike, names: str | Iterable[str], /) -> Array:
    """Returns `x` without the coordinates of these names, inside of `xt.jit` too.

    Names that are not coordinates of `x` are ignored.

    Raises:
        ArgumentTypeError: `names` are not names.

    Example:
    >>> heat = xr.DataArray([3.0, 4.0], dims="lat", coords={"lat": [10, 20]})
    >>> list(xt.drop_vars(heat, "lat").coords)
    []
    """
    dropped = names_of("drop_vars", names)
    if isinstance(x, Tracer):
        return _unlabelled(x, dropped)
    if is_dataarray(x) or isinstance(x, _native.Array):
        return without_labels(x, dropped)
    return as_array(x)


@op(name="drop_vars")
def _unlabelled(x: ArrayLike, names: tuple[str, ...], /) -> Array:
    x = as_tracer(x)
    # Does the coordinate that is called as its dim go? Once the dim is gone, names tell (-1).
    steps = {d: ("drop", names, int(d in names)) for d in x.dims} | dict.fromkeys((POINTS, WHOLE), ("drop", names, -1))
    return build.labelled(build.rename(x, {}), x, steps)


@op
def as_dims(x: ArrayLike, /, *dims: str) -> Array:
    """Returns `x` with new names for all its dims, by position: as_dims(x, "time", "space").

    Raises:
        DimensionError: the number of names is not that of the dims.

    Example:
    >>> xt.as_dims(xt.zeros(a=2, b=3), "time", "space").sizes
    {'time': 2, 'space': 3}
    """
    x = as_tracer(x)
    names = names_of("as_dims", dims[0] if len(dims) == 1 else dims)
    if len(names) != len(x.dims):
        raise fail(DimensionError, "as_dims", f"{counted(len(names), 'name')} for {counted(len(x.dims), 'dim')}", x)
    changed = {old: new for old, new in zip(x.dims, names, strict=True) if old != new}
    return build.rename(x, changed) if changed else x


def expand_dims(
    x: ArrayLike,
    dim: str | Sequence[str] | Mapping[str, Any] | None = None,
    /,
    axis: int | Sequence[int] | None = None,
    **keywords: Any,
) -> Array:
    """Returns `x` with new dims, which come first unless `axis` gives their places.

    A name, or a list of names, adds dims of size 1. expand_dims(x, a=2) or {"a": 2} repeats `x` along the new dim.

    Raises:
        DimensionError: `x` has the dim already.
        SizeError: a size is negative.
        ArgumentError: `axis` does not fit.

    Example:
    >>> xt.expand_dims(xt.zeros(a=2), run=3).sizes
    {'run': 3, 'a': 2}
    """
    if dim is not None and not isinstance(dim, Mapping):
        dim = dict.fromkeys(names_of("expand_dims", dim), 1)
    sizes = by_dim("expand_dims", dim, keywords, "new dims")
    for d, size in sizes.items():
        if not isinstance(size, (Tracer, DynamicSize)):
            if isinstance(size, (list, tuple)):
                raise fail(
                    ArgumentTypeError, "expand_dims", f"the size of {d!r} is an int, not {brief(size)}",
                    instead=f"Labels come after: x.expand_dims({d}={len(size)}).assign_coords({d}={brief(size)})",
                )  # fmt: skip
            sizes[d] = integer("expand_dims", size, f"the size of {d!r}")
    axes = axis if axis is None or isinstance(axis, (list, tuple, np.ndarray)) else [axis]
    places = None if axes is None else [integer("expand_dims", a, "an axis") for a in axes]
    return _expand_dims(x, sizes, places)


def _free_name(dim: str) -> str:
    """What to write where a new dim would have the name of one that is there."""
    renamed = f'{dim}="{dim}_1"' if dim.isidentifier() else f'{{{dim!r}: "other"}}'
    return f"Give the new dim another name, or rename the old one before: x.rename({renamed})"


@op(sizes=("sizes",))
def _expand_dims(x: ArrayLike, sizes: dict[str, Any], axis: list[int] | None = None, /) -> Array:
    x = as_tracer(x)
    for d, size in sizes.items():
        check_name(d)
        if d in x.dims:
            raise fail(DimensionError, "expand_dims", f"the array has dim {d!r} already", x, instead=_free_name(d))
        check_size("expand_dims", d, size)
    rank = len(x.dims) + len(sizes)
    axes = range(len(sizes)) if axis is None else axis
    if len(axes) != len(sizes):
        found = f"{counted(len(axes), 'axis', 'axes')} for {counted(len(sizes), 'new dim')}"
        raise fail(ArgumentError, "expand_dims", found, x)
    places: dict[int, str] = {}
    for d, place in zip(sizes, axes, strict=True):
        if not -rank <= place < rank or place % rank in places:
            raise fail(ArgumentError, "expand_dims", f"axis={axis} does not fit rank {rank}", x)
        places[place % rank] = d
    kept = iter(x.dims)
    order = [places[i] if i in places else next(kept) for i in range(rank)]
    return extend(x, sizes, order)


def check_size(name: str, dim: str, size: Any) -> None:
    """A size of a dim that is to be made."""
    if isinstance(size, DynamicSize):
        return
    if isinstance(size, Tracer):
        if getattr(size.value.owner, "name", "") == "xtensor.size":
            return
        raise fail(
            ArgumentTypeError, name, f"the size of dim {dim!r} is {size!r}, which has no value while it is traced",
            instead="Make it a static argument, xt.jit(f, static=...), compiled once per size; or take the size that "
            "an array has, x.sizes[...]",
        )  # fmt: skip
    found = integer(name, size, f"the size of dim {dim!r}", wide=True)
    if found < 0:
        raise fail(SizeError, name, f"the size of dim {dim!r} is negative: {int_text(found)}")
    if found >= 2**63:
        raise fail(
            SizeError, name, f"the size of dim {dim!r} is {int_text(found)}, more than memory can hold (2**63 - 1)"
        )


def check_bytes(name: str, sizes: Mapping[str, Any], dtype: np.dtype) -> None:
    """That an array of these sizes can have an address for each byte, and strides where it is empty."""
    static = [int(s) or 1 for s in sizes.values() if not isinstance(s, (Tracer, DynamicSize))]
    if math.prod(static) * dtype.itemsize >= 2**62:
        shown = describe(tuple(sizes), tuple(sizes.values()))
        raise fail(SizeError, name, f"{dtype} {shown} is larger than the address space (2**62 - 1 bytes)")


@op
def squeeze(x: ArrayLike, dim: Dims = None, /) -> Array:
    """Returns `x` without the given dims, by default all of size 1.

    Raises:
        SizeError: the size of a named dim is not 1.
        DimensionError: `x` does not have a dim that is named.

    Example:
    >>> xt.squeeze(xt.zeros(a=1, b=3)).sizes
    {'b': 3}
    """
    x = as_tracer(x)
    if dim is None:
        dims = tuple(d for d in x.dims if is_static(x, d) and x.sizes[d] == 1)
    else:
        dims = dims_of("squeeze", x, dim)
    for d in dims:
        if not is_static(x, d) or x.sizes[d] != 1:
            raise fail(
                SizeError, "squeeze", f"dim {d!r} has size {x.sizes[d]}, not 1", x,
                instead=f"Write x.isel({{{d!r}: 0}}) to take one element",
            )  # fmt: skip
    return build.squeeze(x, dims) if dims else x


# ---- several dims as one, one as several -------------------------------------


def stack(x: ArrayLike, dim: Mapping[str, Any] | None = None, /, **keywords: Any) -> Array:
    """Returns `x` with several dims merged into one new last dim: stack(x, z=("a", "b")).

    Along the new dim, the position in the last of the given dims changes fastest.

    Raises:
        DimensionError: `x` does not have a dim that is named, or has the new one.
        ArgumentTypeError: the dims that become one are not given by the name of the new one.

    Example:
    >>> xt.stack(xt.array([[1, 2], [3, 4]], ("a", "b")), z=("b", "a"))
    <xtensor.Array (z: 4) int64>
    [1 3 2 4]
    """
    if isinstance(x, (list, tuple)):
        new = repr(dim) if isinstance(dim, str) else next((repr(d) for d in keywords.values()), '"new"')
        raise fail(
            ArgumentTypeError, "stack", "takes one array, whose dims become one",
            instead=f"To put arrays one after another along a new dim write xt.concat([x, y], {new})",
        )  # fmt: skip
    if isinstance(dim, str):
        raise fail(
            ArgumentTypeError, "stack", f"the new dim {dim!r} is a keyword, its value the dims that become one", x,
            instead=f'Write xt.stack(x, {dim}=("a", "b")); xt.concat puts arrays along a new dim',
        )  # fmt: skip
    return _stack(x, by_dim("stack", dim, keywords, "new dims"))


@op
def _stack(x: ArrayLike, groups: dict[str, Any], /) -> Array:
    x = as_tracer(x)
    for new, dims in groups.items():
        check_name(new)
        if not isinstance(dims, (str, list, tuple, type(...))):
            raise fail(
                ArgumentTypeError, "stack", f"{new!r} is made of dims, not of {brief(ordered(dims))}", x,
                instead=f'Write xt.stack(x, {new}=("a", "b"))',
            )  # fmt: skip
        listed = [dims] if isinstance(dims, str) or dims is ... else list(dims)
        if ... in listed:
            at = listed.index(...)
            rest = [d for d in x.dims if d not in listed]
            listed[at : at + 1] = rest
        merged = dims_of("stack", x, listed)
        if new in x.dims and new not in merged:
            raise fail(DimensionError, "stack", f"the array has dim {new!r} already", x, instead=_free_name(new))
        if new in merged and len(merged) > 1:
            static_size("stack", x, new)
        if local.labelled:  # the labels of the new dim repeat those of the others as often as their sizes say
            for d in merged:
                static_size("stack", x, d)
        x = build.merge(x, merged, new) if merged else extend(x, {new: 1}, (*x.dims, new))
    return x


def unstack_to(x: ArrayLike, groups: Mapping[str, Any]) -> Array:
    """`x` with dims split into several new last dims of these sizes."""
    return _unstack(x, dict(groups))


def _unstack_plan(x: Any, groups: Mapping[str, Any], /) -> Any:
    if not isinstance(x, _native.Array) or not all(x.sizes.get(d) for d in groups):
        return None
    if not all(type(sizes) is dict and all(type(n) is int for n in sizes.values()) for sizes in groups.values()):
        return None
    new = {d: _fill_in(x, d, sizes) for d, sizes in groups.items()}
    if any(d in x.dims and d != old for old, sizes in new.items() for d in sizes):
        return None
    rooms = [[room(d, n, x._device) for d, n in sizes.items()] for sizes in new.values()]
    return renamed(x, {d: apart(d) for d in groups}), {apart(d): r for d, r in zip(groups, rooms, strict=True)}


def _unstack_wide(x: ArrayLike, groups: dict[str, Any], /) -> Array:
    x = as_tracer(x)
    kept = [d for d in x.dims if d not in groups]
    indices, new = {}, []
    for old, rooms in groups.items():
        at = p.constant(0, p.I8)
        for space in map(as_tracer, rooms):
            (d,) = space.dims
            size = size_of(space, d)
            at = build.binary("add", build.binary("mul", at, p.cast(size, p.I8)), build.iota(d, size, p.I8))
            new.append(d)
        indices[old] = at
    return reorder(build.gather("clip", x, indices), (*kept, *new))


@op(wide=(_unstack_plan, _unstack_wide))
def _unstack(x: ArrayLike, groups: dict[str, Any], /) -> Array:
    x = as_tracer(x)
    for old, sizes in groups.items():
        if old not in x.dims:
            raise unknown("unstack", old, x.dims)
        if not isinstance(sizes, Mapping):
            raise fail(
                ArgumentTypeError, "unstack", f"the new dims of {old!r} come with their sizes, not as {sizes!r}",
                x, instead=f"Write x.unstack({old}={{\"a\": 2, \"b\": 3}})",
            )  # fmt: skip
        sizes = {check_name(d): integer("unstack", s, "a size") for d, s in sizes.items()}
        sizes = _fill_in(x, old, sizes)
        for d in sizes:
            if d in x.dims and d != old:
                raise fail(DimensionError, "unstack", f"the array has dim {d!r} already", x, instead=_free_name(d))
        x = build.split(x, old, sizes)
    return x


def _fill_in(x: Any, old: str, sizes: dict[str, int]) -> dict[str, int]:
    """The sizes, one -1 among them worked out; their product must be the size of `old`."""
    open_dims = [d for d, s in sizes.items() if s == -1]
    known = math.prod(s for s in sizes.values() if s != -1)
    total = static_size("unstack", x, old)
    if len(open_dims) == 1 and known > 0 and total % known == 0:
        return {**sizes, open_dims[0]: total // known}
    if open_dims or known != total or any(s < 0 for s in sizes.values()):
        raise fail(
            SizeError, "unstack", f"the sizes {sizes} do not multiply to {total}, the size of dim {old!r}", x,
            instead=f"Write sizes whose product is {total}, or cut or pad the dim first: "
            f"x.isel({old}=slice(n)), x.pad({old}=(0, n))",
        )  # fmt: skip
    return sizes


# ---- joining and cutting ----------------------------------------------------


MOST_PIECES = 8  # of these, each element of a program for all sizes looks into each


def _concat_plan(arrays: Any, /, dim: Any) -> Any:
    if type(dim) is not str or type(arrays) not in (list, tuple) or not 2 <= len(arrays) <= MOST_PIECES:
        return None
    if not all(isinstance(x, _native.Array) for x in arrays) or not any(dim in x.dims for x in arrays):
        return None
    lengths = [x.sizes.get(dim, 1) for x in arrays]
    if 0 in lengths:
        return None
    pieces = [renamed(x, {dim: apart(dim, i)}) for i, x in enumerate(arrays)]
    return pieces, room(dim, sum(lengths), arrays[0]._device), dim


def _concat_wide(arrays: Sequence[ArrayLike], space: ArrayLike, dim: str, /) -> Array:
    xs = p.promote(*[as_tracer(x) for x in arrays])
    paired_sizes("concat", xs, besides=[apart(dim, i) for i in range(len(xs))])
    order = tuple(dict.fromkeys(dim if d.startswith(f"{dim}~") else d for x in xs for d in x.dims))
    at = build.iota(dim, size_of(as_tracer(space), dim), p.I8)
    found = None
    for i, x in enumerate(xs):
        old = apart(dim, i)
        y = build.gather("clip", x, {old: at}) if old in x.dims else x
        if found is not None:
            y = build.select(build.compare("ge", at, p.constant(0, p.I8)), y, found)
        length = p.cast(size_of(x, old), p.I8) if old in x.dims else p.constant(1, p.I8)
        at, found = build.binary("sub", at, length), y
    assert found is not None
    return reorder(found, order)


def concat(arrays: Sequence[ArrayLike], /, dim: str) -> Array:
    """Returns the arrays joined along `dim`, in the given order.

    A dim that the arrays do not have is new and comes first. Other dims broadcast by name, and dtypes promote.

    Raises:
        SizeError: another dim has two sizes.
        ArgumentError: there are no arrays.

    Example:
    >>> xt.concat([xt.array([1, 2], "time"), xt.array([3], "time")], dim="time")
    <xtensor.Array (time: 3) int64>
    [1 2 3]
    """
    if are_small(arrays, dim) and _are_numpys(arrays, dim):
        return _copied(arrays, dim)
    while are_small(arrays, dim):  # by programs for few pieces, which serve all numbers of them
        arrays = [_concat(arrays[i : i + MOST_PIECES], dim) for i in range(0, len(arrays), MOST_PIECES)]
    return _concat(arrays, dim)


def are_small(arrays: Any, dim: Any) -> bool:
    """Whether these are many small arrays that differ in the size of `dim` alone, if they have it."""
    if tracing() or type(arrays) not in (list, tuple) or len(arrays) <= MOST_PIECES:
        return False
    first = arrays[0]
    return (
        all(type(x) is Concrete and x.meta is None for x in arrays)
        and type(dim) is str
        and all(x.dims == first.dims and x.dtype == first.dtype and x.device == first.device for x in arrays)
        and sum(x.size for x in arrays) <= LARGEST
    )


def _are_numpys(arrays: Sequence[Any], dim: str) -> bool:
    """Whether NumPy copies small pieces faster than programs for a few of them do."""
    first = arrays[0]
    kept = [d for d in first.dims if d != dim]
    sizes = [first.sizes[d] for d in kept]
    return (
        first.device == "cpu"
        and options.current().device is None
        and all([x.sizes[d] for d in kept] == sizes for x in arrays)
        and not any(x.type.weak for x in arrays)
    )


def _copied(arrays: Sequence[Any], dim: str) -> Array:
    dims = arrays[0].dims
    pieces = [x.values for x in arrays]
    if dim in dims:
        return from_values(np.concatenate(pieces, dims.index(dim)), dims)
    return from_values(np.stack(pieces), (check_name(dim), *dims))


@op(name="concat", wide=(_concat_plan, _concat_wide))
def _concat(arrays: Sequence[ArrayLike], /, dim: str) -> Array:
    if not isinstance(arrays, (list, tuple)):
        raise fail(
            ArgumentTypeError, "concat", "takes a list of arrays", arrays,
            instead='Write xt.concat([x, y], dim="a")',
        )  # fmt: skip
    if not arrays:
        raise fail(ArgumentError, "concat", "no arrays are given", instead='Write xt.concat([x, y], dim="a")')
    if not isinstance(dim, str):
        instead = by_name(as_tracer(arrays[0]).dims, dim) if isinstance(dim, int) else ""
        raise fail(ArgumentTypeError, "concat", f"dim is one name, not {dim!r}", instead=instead)
    check_name(dim)
    xs = p.promote(*[as_tracer(x) for x in arrays])
    sizes = paired_sizes("concat", xs, besides=(dim,))
    order = tuple(dict.fromkeys(d for x in xs for d in x.dims))
    if dim not in order:
        order = (dim, *order)
    if len(xs) > 1:
        for x in xs:
            if dim in x.dims:
                static_size("concat", x, dim)
    return join([extend(x, {**sizes, dim: 1}, order) for x in xs], dim)


def join(xs: Sequence[Tracer], dim: str) -> Tracer:
    """Pieces that differ only in the size of `dim`, in a row."""
    return xs[0] if len(xs) == 1 else build.concat(list(xs), dim)


def shape_sizes(x: Tracer) -> dict[str, Size]:
    """The sizes of all dims, dynamic ones as traced scalars."""
    return {d: size_of(x, d) for d in x.dims}
