"""DataArrays are accepted wherever arrays are, and a result is a DataArray if an argument was one.

Which coordinates still apply to a result follows from the program: origins.py follows each dim to the arguments.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import sys
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _native
from ..base import dtypes
from ..base.dims import describe
from ..base.errors import DimensionError, DTypeError, UnsupportedError, user_line
from ..values import options
from ..values.array import Array, from_values
from ..values.kinds import Kind, register, type_of
from ..values.shared import copies, made_over

if TYPE_CHECKING:
    import xarray

    from ..values.spec import Spec


_AS_IT_IS = frozenset(dtypes.ALL)


def is_dataarray(x: Any) -> bool:
    """Does not import xarray: a program that has a DataArray has imported it."""
    module = sys.modules.get("xarray")
    return module is not None and isinstance(x, module.DataArray)


@dataclass(frozen=True)
class Labels:
    """What a DataArray has besides its data; travels on `Array.meta`."""

    coords: Mapping[str, xarray.Variable] = field(default_factory=dict)
    name: Any = None
    attrs: Mapping[Any, Any] = field(default_factory=dict)
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of dims with a MultiIndex

    def __bool__(self) -> bool:
        return bool(self.coords or self.attrs or self.name is not None)

    def copy(self) -> Labels:
        """Labels that stay as they are whatever becomes of the DataArray."""
        return replace(self, coords={k: _own(v) for k, v in self.coords.items()})


def digests(labels: Labels, dims: Collection[str]) -> dict[str, str]:
    """The `digest` of each coordinate along these dims."""
    return {str(k): digest(v) for k, v in labels.coords.items() if not {*dims}.isdisjoint(map(str, v.dims))}


def digest(variable: xarray.Variable) -> str:
    """A SHA-256 of a coordinate: equal for equal labels, whatever their number of bits."""
    values = np.asarray(variable.values)
    kind = "f" if values.dtype.kind in "biu" else values.dtype.kind
    found = hashlib.sha256(f"{kind} {variable.dims} {values.shape} ".encode())
    if kind == "f":
        found.update((values.astype("f8") + 0.0).tobytes())  # 0.0: there are two zeros
    elif kind in "mM":
        found.update(values.astype(f"{kind}8[ns]").tobytes())
    else:
        found.update("\0".join(map(str, values.ravel().tolist())).encode())
    return found.hexdigest()


def _own(variable: xarray.Variable) -> xarray.Variable:
    """A copy; the labels of an index do not change."""
    import xarray

    return variable.copy(deep=not isinstance(variable, xarray.IndexVariable))


def labels_of(x: Any) -> Labels:
    if is_dataarray(x):
        coords, levels = coordinates_of(x)
        return Labels(coords, x.name, dict(x.attrs), levels)
    return x.meta if isinstance(x.meta, Labels) else Labels()


def coordinates_of(x: xarray.DataArray | xarray.Dataset) -> tuple[dict[str, xarray.Variable], dict[str, Any]]:
    """The coordinates of an object of xarray, and the levels of those with a MultiIndex."""
    coords = {str(k): v for k, v in x.coords.variables.items()}
    # Labels of several levels are tuples, where they are at all.
    made_up = [d for d in map(str, x.dims) if d in coords and coords[d].dtype == object]
    levels = {d: tuple(map(str, x.indexes[d].names)) for d in made_up if x.indexes[d].nlevels > 1}
    return coords, levels


def from_xarray(x: xarray.DataArray, copy: bool | None = None) -> Array:
    """The array over a DataArray's memory, or of a copy. Its coordinates, name and attributes travel along, as they are
    now."""
    made, labels = values_of(x, copy), labels_of(x)
    return made._with_meta(labels.copy()) if labels else made


def values_of(x: xarray.DataArray, copy: bool | None = None) -> Array:
    """The array over a DataArray's memory, or of a copy, without labels."""
    try:
        return _values_of(x, copy)
    except ValueError:
        twice = sorted({str(d) for d in x.dims if x.dims.count(d) > 1})
        if not twice:
            raise
        raise DimensionError(
            f"the DataArray has dim {twice[0]!r} twice, in {x.dims}. Names of dims differ: give the data other names, "
            f'xr.DataArray(x.values, dims=("row", "col"))'
        ) from None


def _values_of(x: xarray.DataArray, copy: bool | None) -> Array:
    if copy is None:
        over = memory_of(x)
        if over is not None:
            return over
    dims: tuple[Any, ...] = x.dims
    if x.chunks is not None:
        _tell(x)
    values = x.values
    for d in dims:
        if not isinstance(d, str):
            raise DimensionError(f"the DataArray's dim {d!r} is not a string; rename it")
    if values.dtype in _AS_IT_IS and options.current().device is None and not copies(copy):
        made: Array = _native.from_buffer(values, dims)
        return made_over(made, values)
    return from_values(values, dims, copy=copy)


def _tell(x: xarray.DataArray) -> None:
    """Says that an array in chunks is computed."""
    file, _, line = (user_line() or "xtensor:1").rpartition(":")
    shape = describe([str(d) for d in x.dims], x.shape)
    text = (
        f"a DataArray in chunks, {x.dtype.name} {shape}, is computed here, and its values are held in memory. Write "
        "x.compute() where that is meant. Else call the function by xr.map_blocks(f, x) or xt.blocks(f)(x), one "
        "chunk at a time"
    )
    warnings.warn_explicit(text, UserWarning, file, int(line))


def memory_of(x: Any) -> Array | None:
    """The array over a DataArray's memory, without labels. None: the values are not NumPy's yet, or are to be copied,
    cast or moved."""
    variable = getattr(x, "_variable", None)  # both are private to xarray, whose `values` also loads
    data = getattr(variable, "_data", None)
    if type(data) is not np.ndarray or data.dtype not in _AS_IT_IS:
        return None
    option, dims = options.current(), x.dims
    if option.device is not None or option.copy:
        return None
    for d in dims:
        if not isinstance(d, str):
            return None
    made: Array = _native.from_buffer(data, dims)
    return made_over(made, data)


def announce() -> None:
    """From now on C++ takes DataArrays as arguments, if xarray is imported."""
    module = sys.modules.get("xarray")
    if module is not None:
        _native.set_dataarrays(module.DataArray, memory_of)


register(is_dataarray, Kind(from_xarray, values_of, told=type_of, labelled=is_dataarray))


def to_xarray(x: Array) -> xarray.DataArray:
    """A DataArray over the memory of `x`, with what came along from another one."""
    labels = labels_of(x)
    made = dataarray(x.values, x.dims, labels)
    made.name, made.attrs = labels.name, dict(labels.attrs)
    return made


def dataarray(values: np.ndarray[Any, Any], dims: Sequence[str], labels: Labels) -> xarray.DataArray:
    """A DataArray with these coordinates."""
    import xarray

    coords = dict(labels.coords)
    levels = {d: n for d, n in labels.levels.items() if all(k in coords and coords[k].dims == (d,) for k in (d, *n))}
    whole = {}
    for d, names in list(levels.items()):
        index = coords[d].to_index() if isinstance(coords[d], xarray.IndexVariable) else None
        if index is not None and index.nlevels > 1:
            whole[d] = index
            del levels[d]
            for name in names:
                del coords[name]
        del coords[d]  # made anew of its levels
    made = xarray.DataArray(values, dims=dims, coords=coords)
    made = made.set_index(levels) if levels else made
    for d, index in whole.items():
        made = made.assign_coords(xarray.Coordinates.from_pandas_multiindex(index, d))
    return made


def bare(x: Array) -> xarray.DataArray:
    """A DataArray with the coordinates of `x` alone: without memory, and nothing is read from a device."""
    return dataarray(np.broadcast_to(np.int8(0), x.shape), x.dims, labels_of(x))


def labels_at(op: str, x: Any, dim: str, position: Any) -> Any:
    """The labels of a dim of `x` at positions that `op` found in it; the positions where it has none."""
    variable = labels_of(x).coords.get(dim)
    if variable is None:
        return position
    if not isinstance(position, Array) and not is_dataarray(position):
        raise no_labels(op, dim)
    found = variable.values[np.asarray(position.values)]
    if is_dataarray(position):
        return position.copy(data=found).rename(dim)
    if found.dtype.kind not in "biuf":
        raise DTypeError(
            f"xt.{op}: the labels of dim {dim!r} are {found.dtype}, which arrays do not hold. "
            f"Write xt.{op}(x.to_xarray(), {dim!r})"
        )
    made = from_values(found, position.dims, device=position.device)
    return made._with_meta(replace(labels_of(position), name=dim))


def without_labels(x: Any, names: Sequence[str]) -> Any:
    """A DataArray or an Array without some of its coordinates."""
    if is_dataarray(x):
        return x.drop_vars(names, errors="ignore")
    labels = labels_of(x)
    return x._with_meta(replace(labels, coords={k: v for k, v in labels.coords.items() if k not in names}))


# -- which coordinates still apply ------------------------------------------------------------------------------------

# A dim of a value comes from a dim of an argument, unchanged or through steps: (argument, dim, steps).
Origin = tuple[int, str, tuple[Any, ...]]
POINTS = "~points"  # under this name: dims that an int picked one position of
WHOLE = "~whole"  # under this name: every argument that has a part in the value, with what was dropped of it
# A step that drops nothing: of an array whose positions are read. The result does not have its name and attributes.
AS_INDEX = ("drop", (), -1)
# Of a condition: the result has its name and attributes only if nothing that it chooses from has labels.
AS_CONDITION = ("drop", (), 0)
OWNER = "~owner"  # under this name: the argument that a gradient is by


class Given(dict[int, Labels]):
    """The labels of a call's arguments, by number; and all arguments, as positions may be among them."""

    def __init__(self, labels: Mapping[int, Labels], arrays: Sequence[Array]) -> None:
        super().__init__(labels)
        self.arrays = arrays


@dataclass(frozen=True)
class Meeting:
    """Where a public function joined arrays whose positions come from different places: their coordinates have to
    agree, which only a call can tell. Of one operand: the function gives positions along a dim in place of labels, of
    which there must be none."""

    op: str
    line: str | None
    operands: tuple[tuple[Spec, dict[str, frozenset[Origin]]], ...]

    def check(self, labels: Given) -> None:
        """Refuses coordinates that differ along a dim."""
        found: dict[str, xarray.Variable] = {}
        for spec, where in self.operands:
            coords = coordinates(where, spec.sizes, labels)
            if len(self.operands) == 1 and any(d in coords for d in where):
                raise no_labels(self.op, next(d for d in where if d in coords), self.line)
            for d in spec.dims:
                if d in coords and not found.setdefault(d, coords[d]).equals(coords[d]):  # type: ignore[no-untyped-call]
                    operands = ", ".join(f"{s.dtype.name} {describe(s.dims, s.shape)}" for s, _ in self.operands)
                    froms = {(i, x) for _, where in self.operands for i, x, _ in where.get(d, ())}
                    raise DimensionError(
                        f"xt.{self.op}: {_differ(d, len(froms) == 1)} (operands: {operands})", self.line
                    )


def no_labels(op: str, dim: str, line: str | None = None) -> UnsupportedError:
    """The error about a function that would give positions where labels are meant."""
    find = op.replace("idx", "arg")
    return UnsupportedError(
        f"xt.{op}: dim {dim!r} has coordinates, and compiled code returns positions, not coordinates. Write "
        f"i = xt.{find}(x, {dim!r}) in it, and x[{dim!r}].isel({dim}=i) with the DataArray afterwards; or call "
        f"xt.{op} outside of compiled code",
        line,
    )


def _differ(dim: str, is_one_array: bool = False) -> str:
    """`is_one_array`: the operands are different parts of one array."""
    drop = f"a.drop_vars({dim!r})"
    what = f"the coordinates of dim {dim!r} differ between the operands"
    if is_one_array:
        return (
            f"{what}, which are different parts of one array. Write {drop} for the part whose labels the result "
            f"shall not have; neighbours are subtracted by a.diff({dim!r})"
        )
    return (
        f"{what}. Pair elements by label, before the call: "
        'a, b = xarray.align(a, b, join="inner"), of DataArrays (x.to_xarray()); or pair them by position and leave '
        f"out the labels of one, inside of xt.jit too: {drop}"
    )


@dataclass(frozen=True)
class Followed:
    """Of a program: for each result, where its dims come from; and the meetings on the way."""

    results: list[dict[str, frozenset[Origin]]]
    meetings: list[Meeting]
    own: Mapping[int, Labels] = field(default_factory=dict)  # labels that the program made, by a number below 0
    # Of arguments whose labels decided what the program reads: `digests` of these labels.
    consulted: Mapping[int, Mapping[str, str]] = field(default_factory=dict)


def _take(
    name: str, variable: xarray.Variable, dim: str, steps: tuple[Any, ...], labels: Given
) -> xarray.Variable | None:
    """What the steps make of a coordinate along `dim`; None if it has no place or an array lacks what they need."""
    import xarray

    for kind, *parameters in steps:
        if kind == "concat":
            pieces = [_piece(name, variable, dim, piece, labels) for piece in parameters[0]]
            if any(p is None for p in pieces):
                return None
            variable = xarray.Variable.concat([p for p in pieces if p is not None], dim)  # type: ignore[no-untyped-call]
            continue
        if kind == "windows":
            return None
        if kind == "stack":
            variable = _as_level(variable, dim, *parameters)
            continue
        if kind == "drop":
            dropped, own = parameters
            if name in dropped if name != dim or own < 0 else own:
                return None
            continue
        if kind == "only":  # the labels of the dim itself
            if name != dim:
                return None
            continue
        if kind == "take" and parameters[0] is None:
            continue
        if kind == "take":
            where = labels.arrays[parameters[0]].values if isinstance(parameters[0], int) else parameters[0]
            variable = variable.isel({dim: np.atleast_1d(np.asarray(where)).astype("i8")})
            continue
        if kind == "coarsen":
            n, boundary, side = parameters
            if variable.dtype.kind not in "biufmM":
                return None  # labels that have no mean
            if variable.dtype.kind in "mM" and variable.sizes[dim] < n:  # xarray has no mean of no dates
                variable = variable.isel({dim: slice(0)})
            else:
                variable = variable.coarsen({dim: n}, "mean", boundary, side)  # type: ignore[no-untyped-call]
            continue
        if kind == "pad":
            low, high, mode = parameters
            variable = variable.pad({dim: (low, high)}, mode=mode)
            continue
        offset, n, stride = parameters
        where = (
            slice(None, None, -1)
            if n is None
            else slice(offset, offset + (n - 1) * stride + 1 if n else offset, stride)
        )
        variable = variable.isel({dim: where})
    return variable


def _as_level(variable: xarray.Variable, dim: str, sizes: tuple[tuple[str, int], ...], level: str) -> xarray.Variable:
    """A coordinate along one of several dims, as one along the dim that these become."""
    where = [d for d, _ in sizes].index(level)
    before = math.prod(n for _, n in sizes[:where])
    after = math.prod(n for _, n in sizes[where + 1 :])
    positions = np.tile(np.repeat(np.arange(sizes[where][1]), after), before)
    return variable.isel({dim: positions})


def _stacked(steps: tuple[Any, ...]) -> Any:
    """The last step on the way that made one dim of several."""
    return next((s for s in reversed(steps) if s[0] == "stack"), None)


def _makes_one(steps: tuple[Any, ...]) -> bool:
    """Whether a dim became a part of another: stacked, or read at the positions of that one."""
    return any(kind == "stack" or (kind == "take" and rest[1] is not None) for kind, *rest in steps)


def with_levels(
    where: Mapping[str, frozenset[Origin]],
    coords: dict[str, xarray.Variable],
    sizes: Mapping[str, int | None],
    labels: Given,
) -> tuple[dict[str, xarray.Variable], dict[str, tuple[str, ...]]]:
    """The coordinates, with a MultiIndex for each dim that several became, and the levels of these."""
    import pandas
    import xarray

    levels: dict[str, tuple[str, ...]] = {}
    for d, size in sizes.items():
        ways = {s[2]: (i, x, steps, s) for i, x, steps in sorted(where.get(d, ()), key=repr) if (s := _stacked(steps))}
        names = tuple(n for n, _ in next(iter(ways.values()))[3][1]) if ways else ()
        found = [_level(*ways[n], labels) for n in names if n in ways]
        if not names or d in names or len(found) != len(names) or any(len(codes) != size for _, codes in found):
            continue
        if all(len(set(values.tolist())) == len(values) for values, _ in found):
            index = pandas.MultiIndex([v for v, _ in found], [codes for _, codes in found], names=names)
        else:
            index = pandas.MultiIndex.from_arrays([v[codes] for v, codes in found], names=names)
        made = xarray.Coordinates.from_pandas_multiindex(index, d)
        coords.update({str(k): v for k, v in made.variables.items()})
        levels[d] = names
    return coords, levels


def _level(i: int, x: str, steps: tuple[Any, ...], step: Any, labels: Given) -> tuple[Any, Any]:
    """The labels of a level, and which of them each position has. A dim without labels has its positions."""
    import xarray

    at, level = steps.index(step), step[2]
    count = dict(step[1])[level]
    own = labels[i].coords.get(x) if i in labels else None
    own = None if own is None or own.dims != (x,) else _take(x, _renamed(own, x, x), x, steps[:at], labels)
    codes = _take(level, xarray.Variable([level], np.arange(count)), level, steps[at:], labels)
    values = np.arange(count) if own is None or own.sizes[x] != count else own.values
    return values, np.arange(0) if codes is None else codes.values


def _piece(name: str, like: xarray.Variable, dim: str, origin: Origin, labels: Given) -> xarray.Variable | None:
    """The coordinate of one of the arrays in a row."""
    i, x, steps = origin
    found = labels[i].coords.get(x if name == dim else name) if i in labels else None
    if found is None or found.ndim != like.ndim:
        return None
    found = _renamed(found, x, dim)
    return _take(name, found, dim, steps, labels) if set(found.dims) == set(like.dims) else None


def _renamed(variable: xarray.Variable, old: str, new: str) -> xarray.Variable:
    """`variable` as no index, with one dim under another name."""
    import xarray

    return xarray.Variable([new if d == old else d for d in variable.dims], variable.data, variable.attrs)


_Place = tuple[str, tuple[Any, ...]]  # a dim of the result, and how it came there
_MOST_WAYS = 64  # of one coordinate: what met itself more often loses it


def _places(origins: Mapping[str, frozenset[Origin]], argument: int) -> dict[str, set[_Place]]:
    """For each dim of an argument, the dims of the result that it became."""
    places: dict[str, set[_Place]] = {}
    for d, froms in origins.items():
        for j, x, steps in froms:
            if j == argument:
                places.setdefault(x, set()).add((d, steps))
    return places


def _ways(variable: xarray.Variable, places: Mapping[str, set[_Place]]) -> list[dict[str, _Place]]:
    """Where the dims of a coordinate are in the result: all ways. A dim that met itself, as in a - a.drop_vars("t"), or
    that became two, as in a * a.rename(t="u"), has several."""
    dims = [str(d) for d in variable.dims]
    found = [sorted(places.get(d, ()), key=repr) for d in dims]
    if math.prod(map(len, found)) > _MOST_WAYS:
        return []
    return [dict(zip(dims, way, strict=True)) for way in itertools.product(*found)]


def _moved(
    name: str, variable: xarray.Variable, here: Mapping[str, tuple[str, tuple[Any, ...]]], labels: Given
) -> xarray.Variable | None:
    """A coordinate of an argument as one of the result."""
    import xarray

    if all(new == d and not steps for d, (new, steps) in here.items()):
        return variable
    variable, here = _as_one(name, variable, here, labels)
    dims: list[str] = []
    for d in map(str, variable.dims):
        new, steps = here[d]
        taken = _take(name, variable, d, steps, labels)
        if taken is None:
            return None
        variable = taken.isel({d: 0}) if new == POINTS else taken
        if new != POINTS:
            dims.append(new)
    if len(set(dims)) != len(dims):
        return None  # read point by point along several dims
    if tuple(dims) == variable.dims:
        return variable  # an index stays one
    return xarray.Variable(dims, variable.data, variable.attrs)


def _as_one(
    name: str, variable: xarray.Variable, here: Mapping[str, _Place], labels: Given
) -> tuple[xarray.Variable, Mapping[str, _Place]]:
    """A coordinate along several dims that became one: each position of this dim has one position along each."""
    import xarray

    found = dict(here)
    for into in {new for new, _ in here.values()}:
        dims = [d for d in map(str, variable.dims) if d in found and found[d][0] == into]
        if into == POINTS or len(dims) < 2 or not all(map(_makes_one, (found[d][1] for d in dims))):
            continue
        taken = [_take(name, xarray.Variable([d], np.arange(variable.sizes[d])), d, found[d][1], labels) for d in dims]
        there = [at.values for at in taken if at is not None and at.dtype.kind == "i"]
        if len(there) < len(dims) or len({len(at) for at in there}) != 1:
            continue
        variable = variable.isel({d: xarray.Variable([into], at) for d, at in zip(dims, there, strict=True)})
        found = {d: place for d, place in found.items() if d not in dims} | {into: (into, ())}
    return variable, found


def coordinates(
    origins: Mapping[str, frozenset[Origin]], sizes: Mapping[str, int | None], labels: Given
) -> dict[str, xarray.Variable]:
    # What labels a dim goes before what only has its name, as a position that was picked of it.
    kinds: dict[bool, dict[str, xarray.Variable]] = {False: {}, True: {}}
    conflicting: set[tuple[str, bool]] = set()
    touched: set[str] = set()
    for i, label in labels.items():
        places = _places(origins, i)
        wholes = [steps for j, _, steps in origins.get(WHOLE, ()) if j == i]
        for name, variable, here in ((n, v, way) for n, v in label.coords.items() for way in _ways(v, places)):
            if not here and all(_take(name, variable, WHOLE, steps, labels) is None for steps in wholes):
                continue
            moved = _moved(name, variable, here, labels)
            if moved is None:
                continue
            new_dims = list(map(str, moved.dims))
            if any(step[0] != "only" for d in variable.dims for step in here[str(d)][1]):
                touched.add(name)
            if any(sizes[d] not in (None, moved.sizes[d]) for d in new_dims):
                continue
            # What another dim brings to a place keeps its name there.
            is_brought = name in here and any(s[0] == "take" and s[2] for s in here[name][1])
            level = _stacked(here[name][1]) if name in here else None
            new = here[name][0] if name in here and here[name][0] != POINTS and not is_brought else name
            new = level[2] if level else new
            labels_it = new_dims == [new]
            first = kinds[labels_it].setdefault(new, moved)
            if first is moved or first.equals(moved):  # type: ignore[no-untyped-call]
                continue
            if labels_it and name not in touched:
                raise DimensionError(_differ(new))
            conflicting.add((new, labels_it))
    found = {k: v for k, v in kinds[False].items() if k not in sizes and (k, False) not in conflicting}
    return found | {k: v for k, v in kinds[True].items() if (k, True) not in conflicting}
