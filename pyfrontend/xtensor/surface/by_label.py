"""The methods of arrays that read by label, and those that group. Each calls the public function of its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from .. import ops as functions
from ..base.calls import checked
from ..ops import by_label
from ..ops.by_label import Loc
from ..ops.grouped import GroupBy
from ..ops.types import ArrayLike
from ..ops.weights import Weighted

ops: Any = functions  # as in methods.py


class ByLabelMethods:
    """Methods that xarray's DataArray has for labels and groups."""

    __slots__ = ()

    def sel(
        self,
        indexers: Mapping[str, Any] | None = None,
        /,
        method: str | None = None,
        tolerance: Any = None,
        drop: bool = False,
        **keywords: Any,
    ) -> Self:
        """Returns elements by label along dims, as `xt.sel`: x.sel(time="2020-01", lat=slice(10, 20))."""
        return ops.sel(self, indexers, method=method, tolerance=tolerance, drop=drop, **keywords)

    @property
    def loc(self) -> Loc:
        """Elements by label in the order of the dims: x.loc["2020-01", 10:20], or by a dict."""
        return Loc(self)

    def drop_sel(self, labels: Mapping[str, Any] | None = None, /, *, errors: str = "raise", **keywords: Any) -> Self:
        """Returns the array without the elements that have these labels, as `xt.drop_sel`."""
        return ops.drop_sel(self, labels, errors=errors, **keywords)

    def unstack(
        self,
        dim: str | Mapping[str, Mapping[str, int]] | None = None,
        /,
        fill_value: Any = None,
        **keywords: Any,
    ) -> Self:
        """Returns the array with one dim split into several new last dims, as `xt.unstack`."""
        return ops.unstack(self, dim, fill_value=fill_value, **keywords)

    def sortby(self, by: str | Sequence[Any], /, ascending: bool = True) -> Self:
        """Returns the array in the order of the labels of coordinates, as `xt.sortby`."""
        return ops.sortby(self, by, ascending=ascending)

    def reindex(
        self,
        indexers: Mapping[str, Any] | None = None,
        /,
        method: str | None = None,
        tolerance: Any = None,
        fill_value: Any = None,
        **keywords: Any,
    ) -> Self:
        """Returns the array with other labels along dims, as `xt.reindex`."""
        return ops.reindex(self, indexers, method=method, tolerance=tolerance, fill_value=fill_value, **keywords)

    def reindex_like(
        self, other: Any, /, method: str | None = None, tolerance: Any = None, fill_value: Any = None
    ) -> Self:
        """Returns the array with the labels that `other` has, as `xt.reindex_like`."""
        return ops.reindex_like(self, other, method=method, tolerance=tolerance, fill_value=fill_value)

    def interp(self, coords: Mapping[str, Any] | None = None, /, method: str = "linear", **keywords: Any) -> Self:
        """Returns the array between its labels: x.interp(lat=[12.5, 17.5]), x.interp(time=days), along dims.

        New labels are numbers or dates, or a named array of them, whose dims stand in place of the dim: with a common
        dim, x.interp(lat=track_lat, lon=track_lon), the result is pointwise.
        method: "linear", or "nearest". The result is NaN beyond the first and the last label. Integers give f8.
        `xt.interp` is another function, that of NumPy.
        """
        interp: Any = by_label.interp
        return interp(self, coords, method=method, **keywords)

    def interp_like(self, other: Any, /, method: str = "linear") -> Self:
        """Returns the array between its labels, at those that `other` has, as `xt.interp_like`."""
        return ops.interp_like(self, other, method=method)

    def assign_coords(self, coords: Mapping[str, Any] | None = None, /, **keywords: Any) -> Self:
        """Returns the array with these coordinates besides its own, as `xt.assign_coords`."""
        return ops.assign_coords(self, coords, **keywords)

    def groupby(
        self, group: Any = None, /, *, num_groups: int | None = None, into: str = "group", **groupers: Any
    ) -> GroupBy:
        """Returns the groups of the array by a coordinate, as `xt.groupby`: x.groupby("time.month").mean()."""
        return ops.groupby(self, group, num_groups=num_groups, into=into, **groupers)

    def groupby_bins(self, group: Any, bins: Any, /, **options: Any) -> GroupBy:
        """Returns the groups of the array by the interval that a coordinate lies in, as `xt.groupby_bins`."""
        return ops.groupby_bins(self, group, bins, **options)

    def resample(
        self,
        indexer: Any = None,
        /,
        *,
        closed: str | None = None,
        label: str | None = None,
        offset: Any = None,
        origin: Any = "start_day",
        **keywords: Any,
    ) -> GroupBy:
        """Returns the groups of the array by spans of time, as `xt.resample`: x.resample(time="1D").mean()."""
        return ops.resample(self, indexer, closed=closed, label=label, offset=offset, origin=origin, **keywords)

    def weighted(self, weights: ArrayLike, /) -> Weighted:
        """Returns the array with a weight for each element, as `xt.weighted`: x.weighted(area).mean("lat")."""
        return ops.weighted(self, weights)


for _name, _method in list(vars(ByLabelMethods).items()):
    if callable(_method) and not _name.startswith("_"):
        setattr(ByLabelMethods, _name, checked(_method))
