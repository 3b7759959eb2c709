"""Reading by label: sel, loc, drop_sel, reindex, interp and sortby, as in xarray.

xarray works out which positions the labels mean; compiled code reads them. So all of this is differentiable by the
values. Inside of a compiled function, the labels that the arguments bring are part of what it is compiled for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..base.calls import counted, in_words
from ..base.dims import brief, unknown
from ..base.dtypes import real_of
from ..base.errors import ArgumentError, ArgumentTypeError, DTypeError, Error, LabelError
from ..call.arrays import as_array
from ..trace.scope import tracing
from ..trace.tracer import Tracer
from ..values.array import Array as Concrete
from ..values.array import from_values
from ..values.devices import like
from . import promotion as p
from .absent import absent, check_method
from .arguments import by_dim, fail
from .elementwise import astype
from .indexing import read
from .operators import where
from .shape import transpose, unstack_to
from .standin import StandIn, place
from .types import Array, ArrayLike


def _for_xarray(op: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Labels with arrays of ours as xarray's."""
    for d, label in given.items():
        if isinstance(label, Tracer):
            raise fail(
                ArgumentTypeError, op, f"the labels along {d!r} have no values while they are traced", label,
                instead=f"Work out positions, and write x.isel({d}=positions); or make them a static argument",
            )  # fmt: skip
    return {d: label.to_xarray() if isinstance(label, Concrete) else label for d, label in given.items()}


def _indexer(found: Any, dim: str) -> Any:
    """The positions along `dim` in a stand-in, as `isel` takes them."""
    positions = found[place(dim)]
    values = positions.values
    if not positions.dims:
        return int(values)
    if positions.dims != (dim,) or not len(values):
        return (tuple(map(str, positions.dims)), values.astype("i8"))
    step = int(values[1] - values[0]) if len(values) > 1 else 1
    if step > 0 and (np.diff(values) == step).all():
        return slice(int(values[0]), int(values[-1]) + 1, step)
    return ((dim,), values.astype("i8"))


def _array(x: Any, values: np.ndarray, dims: Sequence[Any]) -> Any:
    """Values beside `x`, on its device."""
    return from_values(values, tuple(map(str, dims)), device=None if tracing() else like(x))


def sel(
    x: ArrayLike,
    indexers: Mapping[str, Any] | None = None,
    /,
    method: str | None = None,
    tolerance: Any = None,
    drop: bool = False,
    **keywords: Any,
) -> Array:
    """Returns elements by label along dims: sel(x, time="2020-01", lat=slice(10, 20)), sel(x, {"lat": [10, 30]}).

    An indexer is a label, a list of labels, or a slice of labels, which includes both ends. For dates, it may be a part
    of a date ("2020-01"). A named array of labels puts its own dims in place of the dim. Dims without labels are read
    by position. method: if a label does not exist, "nearest", "ffill" or "bfill" takes a neighbour that is at most
    `tolerance` away, in units of the labels. drop: leaves out the coordinates that become single numbers. The result is
    differentiable with respect to `x`.

    Raises:
        DimensionError: `x` does not have a dim that is named.
        LabelError: a label does not exist.
        ArgumentError: `method` is another one.

    Example:
    >>> heat = xr.DataArray([3.0, 4.0, 6.0], dims="lat", coords={"lat": [10, 20, 30]})
    >>> xt.sel(heat, lat=slice(20, 30)).values
    array([4., 6.])
    """
    given = _for_xarray("sel", by_dim("sel", indexers, keywords, "labels"))
    at = StandIn("sel", x)
    for d in given:
        if d not in at.dataset.dims and d not in at.dataset.coords:
            raise unknown("sel", d, at.x.dims)
    at.needs(given, "Write x.isel(..), by position")
    check_method("sel", method, at.x)
    try:
        found = at.asked(lambda s: s.sel(given, method=method, tolerance=tolerance, drop=drop))
    except Error as error:
        raise absent(at, given, method, tolerance) or error from None
    return _read(at, found)


def _read(at: StandIn, found: Any) -> Any:
    """What is at the positions that were found."""
    # A dim of a dynamic size is whole: `needs` has refused what reads along it.
    indexers = {d: _indexer(found, d) for d, n in at.x.sizes.items() if isinstance(n, int)}
    moved = {d: i for d, i in indexers.items() if i != slice(0, at.dataset.sizes[d], 1)}
    y = read(at.op, at.bare, moved) if moved else at.bare
    return at.labelled(y, found)


def unstack(
    x: ArrayLike, dim: str | Mapping[str, Mapping[str, int]] | None = None, /, fill_value: Any = None, **keywords: Any
) -> Array:
    """Returns `x` with one dim split into several new last dims: unstack(x, z={"a": 2, "b": 3}).

    Along the old dim, the position in the last of the new dims changes fastest. The product of the new sizes is the old
    size. Of a dim whose labels have several levels, as `stack` makes them, the name is enough: unstack(x, "z"). There,
    combinations of labels that do not occur get `fill_value`, by default NaN.

    Raises:
        DimensionError: `x` does not have a dim that is named.
        SizeError: the new sizes do not multiply to that of the dim.

    Example:
    >>> xt.unstack(xt.arange(4, dim="z"), z={"a": 2, "b": 2})
    <xtensor.Array (a: 2, b: 2) int64>
    [[0 1]
     [2 3]]
    """
    if not isinstance(dim, str):
        return unstack_to(x, by_dim("unstack", dim, keywords, "dims"))
    at = StandIn("unstack", x)
    if dim not in at.x.dims:
        raise unknown("unstack", dim, at.x.dims)
    if dim not in at.labels.levels or keywords:
        raise fail(
            ArgumentTypeError, "unstack", f"the labels of dim {dim!r} have no levels: give new dims with sizes", x,
            instead=f'Write x.unstack({dim}={{"a": 2, "b": 3}})',
        )  # fmt: skip
    at.consult((dim,))
    found = at.asked(lambda s: s.unstack(dim, fill_value={place(dim): -1}))
    positions = found[place(dim)]
    new = tuple(map(str, positions.dims))
    rest = [d for d in at.x.dims if d != dim]
    if (positions.values.ravel() == np.arange(positions.size)).all():
        y = unstack_to(at.bare, {dim: dict(zip(new, positions.shape, strict=True))})
    else:
        y = _placed(at, at.bare, dim, new, np.maximum(positions.values, 0).astype("i8"))
        if (positions.values < 0).any():
            y = where(_array(at.bare, positions.values >= 0, new), y, np.nan if fill_value is None else fill_value)
    return at.labelled(transpose(y, *rest, *new), found)


class Loc:
    """Elements by label, in the order of the dims: x.loc["2020-01", 10:20], or by a dict: x.loc[{"lat": 10}]."""

    __slots__ = ("_x",)

    def __init__(self, x: Any) -> None:
        self._x = x

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, Mapping):
            return sel(self._x, key)
        keys = key if isinstance(key, tuple) else (key,)
        if sum(k is ... for k in keys) > 1:
            raise fail(ArgumentError, "loc", "`...` may be given once", self._x)
        dims = self._x.dims
        at = next((i for i, k in enumerate(keys) if k is ...), None)
        if at is not None:
            rest = len(dims) - len(keys) + 1
            keys = (*keys[:at], *[slice(None)] * rest, *keys[at + 1 :])
        if len(keys) > len(dims):
            raise fail(ArgumentError, "loc", f"{counted(len(keys), 'label')} for {counted(len(dims), 'dim')}", self._x)
        whole = slice(None)
        given = {d: k for d, k in zip(dims, keys, strict=False) if not (isinstance(k, slice) and k == whole)}
        return sel(self._x, given)


def drop_sel(
    x: ArrayLike, labels: Mapping[str, Any] | None = None, /, *, errors: Any = "raise", **keywords: Any
) -> Array:
    """Returns `x` without the elements that have these labels: drop_sel(x, time=["2020-01-01"]).

    Raises LabelError for a label that does not exist, unless errors="ignore".

    Raises:
        DimensionError: `x` does not have a dim that is named.
        LabelError: a label does not exist, unless errors="ignore".
        ArgumentError: `errors` is another word.

    Example:
    >>> heat = xr.DataArray([3.0, 4.0, 6.0], dims="lat", coords={"lat": [10, 20, 30]})
    >>> xt.drop_sel(heat, lat=[20]).values
    array([3., 6.])
    """
    given = _for_xarray("drop_sel", by_dim("drop_sel", labels, keywords, "labels"))
    if errors not in ("raise", "ignore"):
        raise fail(ArgumentError, "drop_sel", f"errors is 'raise' or 'ignore', not {errors!r}")
    at = StandIn("drop_sel", x)
    for d in given:
        if d not in at.x.dims:
            raise unknown("drop_sel", d, at.x.dims)
    at.needs(given, "Write x.isel(..) with the positions to keep")
    try:
        found = at.asked(lambda s: s.drop_sel(given, errors=errors))
    except Error as error:
        raise absent(at, given) or error from None
    return _read(at, found)


def sortby(x: ArrayLike, by: str | Sequence[Any], /, ascending: bool = True) -> Array:
    """Returns `x` in the order of the labels of coordinates: sortby(x, "lat"), sortby(x, ["year", "month"]).

    `by` is a name or several, of dims or of coordinates with one dim, or DataArrays. The order is stable.

    Raises:
        LabelError: `by` names no coordinate.

    Example:
    >>> heat = xr.DataArray([3.0, 4.0], dims="lat", coords={"lat": [20, 10]})
    >>> xt.sortby(heat, "lat").values
    array([4., 3.])
    """
    keys = [k.to_xarray() if isinstance(k, Concrete) else k for k in ([by] if _is_key(by) else by)]
    for k in keys:
        if isinstance(k, Tracer):
            raise fail(
                ArgumentTypeError, "sortby", "the order of values is not known while they are traced", k,
                instead="Write x.isel(time=key.argsort())",
            )  # fmt: skip
        if not _is_one(k):
            raise fail(
                ArgumentTypeError, "sortby", f"a key is the name of a coordinate or a DataArray, not {in_words(k)}", x,
                instead='Write x.sortby("lat"), or x.sortby(["year", "month"])',
            )  # fmt: skip
    at = StandIn("sortby", x)
    at.needs([k for k in keys if isinstance(k, str)], "Write x.isel(time=key.argsort())")
    return _read(at, at.asked(lambda s: s.sortby(keys, ascending=ascending)))


def _is_key(by: Any) -> bool:
    return not isinstance(by, (list, tuple))


def _is_one(by: Any) -> bool:
    return isinstance(by, str) or hasattr(by, "dims")


def reindex(
    x: ArrayLike,
    indexers: Mapping[str, Any] | None = None,
    /,
    method: str | None = None,
    tolerance: Any = None,
    fill_value: Any = None,
    **keywords: Any,
) -> Array:
    """Returns `x` with other labels along dims: the elements of labels that it has, `fill_value` for the others.

    reindex(x, time=days). method: "nearest", "ffill" or "bfill" fills with a neighbour, if it is at most `tolerance`
    away. fill_value: by default NaN, for which integers become floats.

    Raises:
        DimensionError: `x` does not have a dim that is named.
        ArgumentError: labels occur twice, or `method` is another one.

    Example:
    >>> heat = xr.DataArray([3.0, 4.0], dims="lat", coords={"lat": [10, 20]})
    >>> xt.reindex(heat, lat=[20, 30]).values
    array([ 4., nan])
    """
    given = _for_xarray("reindex", by_dim("reindex", indexers, keywords, "labels"))
    at = StandIn("reindex", x)
    for d in given:
        if d not in at.x.dims:
            raise unknown("reindex", d, at.x.dims)
    at.needs(given, "Write x.isel(..), by position")
    check_method("reindex", method, at.x)
    none = {place(d): -1 for d in at.x.dims}
    how: Any = method
    found = at.asked(
        lambda s: s.reindex(given, method=how, tolerance=tolerance, fill_value={**_gaps(s, fill_value), **none})
    )
    y, there = at.bare, None
    for d in given:
        positions = found[place(d)].values.astype("i8")
        y = _placed(at, y, d, (d,), np.maximum(positions, 0))
        if (positions < 0).any():
            here = _array(at.bare, positions >= 0, (d,))
            there = here if there is None else there & here
    if there is not None:
        y = where(there, y, np.nan if fill_value is None else fill_value).transpose(*y.dims)
    return at.labelled(y, found)


def _gaps(stand_in: Any, fill_value: Any) -> dict[Any, Any]:
    """What coordinates have where there is no label: as xarray fills them."""
    from xarray.core import dtypes

    return dict.fromkeys(stand_in.coords, dtypes.NA if fill_value is None else fill_value)


def _placed(at: StandIn, y: Any, dim: str, dims: Sequence[str], positions: np.ndarray) -> Any:
    """Elements at positions along `dim`, of which there is one at least unless none is read."""
    if not at.dataset.sizes[dim] and positions.size:
        raise fail(ArgumentError, at.op, f"dim {dim!r} has size 0: there is nothing to read", at.x)
    return read(at.op, y, {dim: (tuple(dims), positions)})


def reindex_like(
    x: ArrayLike, other: Any, /, method: str | None = None, tolerance: Any = None, fill_value: Any = None
) -> Array:
    """Returns `x` with the labels that `other` has along the dims of both, as `reindex`.

    Raises:
        ArgumentError: labels occur twice, or `method` is another one.

    Example:
    >>> heat = xr.DataArray([3.0, 4.0], dims="lat", coords={"lat": [10, 20]})
    >>> xt.reindex_like(heat, xr.DataArray([0, 0], dims="lat", coords={"lat": [20, 30]})).values
    array([ 4., nan])
    """
    return reindex(x, _labels_of("reindex_like", x, other), method=method, tolerance=tolerance, fill_value=fill_value)


def _labels_of(op: str, x: Any, other: Any) -> dict[str, Any]:
    """The labels of another array along the dims that both have."""
    if not hasattr(x, "dims"):
        raise fail(ArgumentTypeError, op, f"expected an array with labels, not {brief(x)}")
    if not hasattr(other, "dims"):
        raise fail(ArgumentTypeError, op, f"`other` is an array with labels, not {brief(other)}")
    there = StandIn(op, other) if hasattr(other, "dtype") else None
    indexes = other.indexes if there is None else there.dataset.indexes  # a Dataset has no dtype
    if there is not None:
        there.consult(x.dims)
    return {d: indexes[d] for d in x.dims if d in other.dims and d in indexes}


_METHODS = ("linear", "nearest")


def interp(
    x: ArrayLike,
    coords: Mapping[str, Any] | None = None,
    /,
    method: str = "linear",
    **keywords: Any,
) -> Array:
    """The array's method of this name: values between labels, differentiable by `x`. The order of labels is free."""
    given = _for_xarray("interp", by_dim("interp", coords, keywords, "labels"))
    if method not in _METHODS:
        raise fail(
            ArgumentError, "interp", f"method is one of {_METHODS}, not {method!r}", x,
            instead="xarray has more: x.to_xarray().interp(..), before or after",
        )  # fmt: skip
    at = StandIn("interp", x)
    for d in given:
        if d not in at.x.dims:
            raise unknown("interp", d, at.x.dims)
    at.needs(given, "Read two neighbours by position, x.isel(..), and weigh them")
    for d, label in given.items():
        _check_between(at, d, label)
    if at.bare.dtype == p.BOOL:
        raise fail(DTypeError, "interp", "bools cannot be interpolated", x, instead='Write x.astype("f4")')
    found = at.asked(lambda s: s.interp(given, method=method))  # type: ignore[arg-type]
    y = astype(at.bare, "f8") if p.is_integer(np.dtype(at.bare.dtype)) else at.bare
    for d in given:
        y = _between(at, y, d, found, method)
    return at.labelled(y, found)


def _check_between(at: StandIn, dim: str, label: Any) -> None:
    """That there are values between the labels along `dim`, and that `label` is one label or several."""
    own = at.dataset.indexes.get(dim)
    if dim in at.x.dims and dim not in at.dataset.coords:
        raise fail(
            LabelError, at.op, f"dim {dim!r} has no labels to interpolate between", at.x,
            instead=f"Write x.assign_coords({dim}=labels) before, with one label for each position",
        )  # fmt: skip
    if own is not None and own.dtype.kind not in "biufcmM" and own.nlevels == 1:
        problem = f"the labels along {dim!r} are neither numbers nor dates, and nothing lies between them"
        raise fail(
            ArgumentTypeError, at.op, problem, at.x,
            instead=f"Write x.sel({dim}={own[0]!r}) for one of them" if len(own) else "",
        )  # fmt: skip
    if label is None or callable(label):
        raise fail(
            ArgumentTypeError, at.op, f"the new labels along {dim!r} are numbers or dates, not {in_words(label)}", at.x,
            instead=f"Write x.interp({dim}=[1.5, 2.5])",
        )  # fmt: skip


def _between(at: StandIn, y: Any, dim: str, found: Any, method: str) -> Any:
    """`y` at the new labels along `dim`."""
    old = at.dataset[dim].values
    old = old.astype("i8") if old.dtype == bool else old
    new = found[dim].variable if dim in found.coords else None
    if new is None:
        raise fail(ArgumentError, at.op, f"the new labels of {dim!r} are not a coordinate of the result", at.x)
    order = np.argsort(old, kind="stable")
    lows = old[order]
    # NaN compares as the largest: it lies beyond the last label.
    inside = (new.values >= lows[0]) & (new.values <= lows[-1]) if len(lows) else np.zeros(new.shape, bool)
    before = np.clip(np.searchsorted(lows, new.values, side="right") - 1, 0, max(len(lows) - 2, 0))
    after = np.minimum(before + 1, max(len(lows) - 1, 0))
    part = _parts(lows, new.values, before, after, inside)
    if method == "nearest":
        y = _placed(at, y, dim, new.dims, order[np.where(part > 0.5, after, before)])
    else:
        low = _placed(at, y, dim, new.dims, order[np.where(part == 1.0, after, before)])
        high = _placed(at, y, dim, new.dims, order[np.where(part == 0.0, before, after)])
        weight = _array(at.bare, part.astype(real_of(np.dtype(y.dtype))), new.dims)
        y = (low + (high - low) * weight).transpose(*low.dims)
    if not inside.all():
        y = where(_array(at.bare, inside, new.dims), y, np.nan).transpose(*y.dims)
    return y


def _parts(lows: np.ndarray, new: np.ndarray, before: np.ndarray, after: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """How far each new label lies from the label before it to the one after it, from 0 to 1."""
    found = np.zeros(new.shape)
    moving = inside & (after > before)
    step = (lows[after] - lows[before])[moving]
    found[moving] = (new - lows[before])[moving] / step
    return found


def interp_like(x: ArrayLike, other: Any, /, method: str = "linear") -> Array:
    """Returns `x` between its labels, at those that `other` has along the dims of both, as `interp`.

    Raises:
        DTypeError: `x` holds bools.
        LabelError: labels occur twice, or a dim has none.
        ArgumentError: `method` is another one.

    Example:
    >>> heat = xr.DataArray([3.0, 5.0], dims="lat", coords={"lat": [10, 20]})
    >>> xt.interp_like(heat, xr.DataArray([0, 0], dims="lat", coords={"lat": [12, 15]})).values
    array([3.4, 4. ])
    """
    return interp(x, _labels_of("interp_like", x, other), method=method)


def assign_coords(x: ArrayLike, coords: Mapping[str, Any] | None = None, /, **keywords: Any) -> Array:
    """Returns `x` with these coordinates besides its own: assign_coords(x, month=range(1, 13)).

    A coordinate lies along the dim of its name, unless you give another dim: hour=("time", hours). A number does not
    have a dim.

    Raises:
        DimensionError: `x` does not have a dim that is named.
        ArgumentError: a coordinate does not fit the sizes of its dims.

    Example:
    >>> x = xt.assign_coords(xt.array([1.0, 2.0], "month"), month=[6, 7])
    >>> x.sel(month=7).item()
    2.0
    """
    given = _for_xarray("assign_coords", by_dim("assign_coords", coords, keywords, "coordinates"))
    at = StandIn("assign_coords", as_array(x) if not hasattr(x, "dims") else x)
    found = at.asked(lambda s: s.assign_coords(given))
    extra = [d for d in found.sizes if d not in at.x.dims]
    if extra:
        raise unknown("assign_coords", str(extra[0]), at.x.dims)
    return at.labelled(at.bare, found)
