"""Reductions with a weight for each element: `weighted`, as in xarray."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.calls import check_methods
from ..base.dims import brief
from ..base.errors import ArgumentTypeError
from ..base.lacking import lacks, methods_of
from ..base.refusals import Unfinished
from ..labels.origins import LOST
from ..labels.xarray import WHOLE, is_dataarray, labels_of
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.scope import tracing
from ..values.options import current
from . import promotion as p
from .arguments import fail, resolve, skips
from .contraction import dot
from .elementwise import astype, isnan, sqrt
from .operators import where
from .standin import relabelled
from .types import ArrayLike, Dims


def squared_size(x: Any) -> Any:
    """The squared absolute values."""
    return x.real * x.real + x.imag * x.imag if p.is_complex(np.dtype(x.dtype)) else x * x


class Weighted(Unfinished):
    """An array with a weight for each element. Weights align by name, and must not be NaN."""

    __slots__ = ("_weights", "_x")
    _completed = '.mean("time")'

    def __init__(self, x: Any, weights: Any) -> None:
        self._x, self._weights = x, weights

    def __repr__(self) -> str:
        return f"Weighted({', '.join(self._weights.dims)}) of {brief(self._x)}"

    if not TYPE_CHECKING:  # else any attribute would pass

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise lacks(self, name, None)
            there = "write it of the DataArray, x.to_xarray().weighted(weights.to_xarray()).quantile(..)"
            raise lacks(self, name, there if name == "quantile" else methods_of(self))

    def _dims(self, name: str, dim: Dims) -> tuple[str, ...]:
        both = (*self._x.dims, *(d for d in self._weights.dims if d not in self._x.dims))
        return resolve(f"weighted.{name}", both, dim)

    def _total(self, x: Any, dims: tuple[str, ...], skipna: bool | None) -> Any:
        return dot(self._without_nan(x, skipna), self._weights, dim=dims)

    def _without_nan(self, y: Any, skipna: bool | None) -> Any:
        """`y` with 0 where the array is NaN, if NaN is to be skipped."""
        x = self._x
        skip = (current().skipna if skipna is None else skips("weighted", skipna)) and p.is_inexact(np.dtype(x.dtype))
        return where(isnan(x), 0, y) if skip else y

    def sum_of_weights(self, dim: Dims = None) -> Any:
        """Returns the sum over `dim` of the weights of elements that are not NaN."""
        total = self._weight(self._dims("sum_of_weights", dim))
        return where(total != 0, total, np.nan)

    def _weight(self, dims: tuple[str, ...]) -> Any:
        x = self._x
        weight = self._weights
        dtype = np.dtype(weight.dtype) if p.is_float(np.dtype(weight.dtype)) else np.dtype("f8")
        there = ~isnan(x) if p.is_float(np.dtype(x.dtype)) else (x == x)
        return self._total(astype(there, dtype), dims, False)

    def sum(self, dim: Dims = None, *, skipna: bool | None = None) -> Any:
        """Returns the sum over `dim` of the elements times their weights. Integers widen to 64 bits, as in `sum`."""
        dims = self._dims("sum", dim)
        return self._total(astype(self._x, p.sum_dtype(np.dtype(self._x.dtype))), dims, skipna)

    def _in_full(self) -> Weighted:
        """The same in the dtypes in which moments are computed: 16-bit floats in f4, integers in f8. Sums of numbers of
        few bits may be too large for them."""
        return Weighted(*(astype(v, p.accumulator(p.mean_dtype(np.dtype(v.dtype)))) for v in (self._x, self._weights)))

    def _narrow(self, y: Any) -> Any:
        """A moment in the dtype of the result: real, unless it is the mean of complex numbers."""
        dtype = p.result_type(*(p.mean_dtype(np.dtype(v.dtype)) for v in (self._x, self._weights)))
        return astype(y, dtype if p.is_complex(np.dtype(y.dtype)) else p.real_of(dtype))

    def mean(self, dim: Dims = None, *, skipna: bool | None = None) -> Any:
        """Returns the weighted sum over `dim`, divided by the sum of the weights; NaN where that is 0."""
        return self._narrow(self._in_full()._mean(self._dims("mean", dim), skipna))

    def _mean(self, dims: tuple[str, ...], skipna: bool | None) -> Any:
        weight = self._weight(dims)
        return self._total(self._x, dims, skipna) / where(weight != 0, weight, np.nan)

    def sum_of_squares(self, dim: Dims = None, *, skipna: bool | None = None) -> Any:
        """Returns the weighted sum over `dim` of the squared differences from the weighted mean."""
        return self._narrow(self._in_full()._squares(self._dims("sum_of_squares", dim), skipna))

    def _squares(self, dims: tuple[str, ...], skipna: bool | None) -> Any:
        centred = self._without_nan(self._x - self._mean(dims, skipna), skipna)
        return self._total(squared_size(centred), dims, False)

    def var(self, dim: Dims = None, *, skipna: bool | None = None) -> Any:
        """Returns the weighted mean over `dim` of the squared differences from the weighted mean."""
        return self._narrow(self._in_full()._variance(self._dims("var", dim), skipna))

    def _variance(self, dims: tuple[str, ...], skipna: bool | None) -> Any:
        return self._squares(dims, skipna) / self.sum_of_weights(dims)

    def std(self, dim: Dims = None, *, skipna: bool | None = None) -> Any:
        """Returns the square root of `var`. Its derivative is 0 where that is 0."""
        variance = self._in_full()._variance(self._dims("std", dim), skipna)
        return self._narrow(where(variance == 0, 0.0, sqrt(where(variance == 0, 1.0, variance))))


check_methods(Weighted, "weighted")


def weighted(x: ArrayLike, weights: ArrayLike, /) -> Weighted:
    """Returns `x` with a weight for each element, to be reduced: weighted(x, area).mean("lat").

    The result has the methods mean, sum, var, std, sum_of_weights and sum_of_squares. Weights align with `x` by name.

    Raises:
        ArgumentTypeError: `weights` is not an array.

    Example:
    >>> xt.weighted(xt.array([1.0, 4.0], dims="lat"), xt.array([3.0, 1.0], dims="lat")).mean().item()
    1.75
    """
    for what, a in (("x", x), ("weights", weights)):
        if not hasattr(a, "dims") or not hasattr(a, "dtype"):
            instead = f"Write xt.array({what if len(brief(a)) > 40 else brief(a)}, dims=..)"
            raise fail(ArgumentTypeError, "weighted", f"{what} is an array, not {brief(a)}", instead=instead)
    # The result is called as the array is, whatever the weights are called.
    if tracing():
        given = as_tracer(weights)
        weights = build.labelled(build.rename(given, {}), given, {WHOLE: LOST})
    else:
        labels = replace(labels_of(weights), name=labels_of(x).name, attrs={})
        weights = relabelled(weights, labels, is_dataarray(weights))
    return Weighted(x, weights)
