"""The operators and methods that concrete and traced arrays share. Each calls the public function of its name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import EllipsisType
from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np

if TYPE_CHECKING:
    import xarray

from .. import ops as functions
from ..base.calls import checked
from ..base.errors import ArgumentTypeError, trimmed
from ..base.lacking import is_traced, lacks
from ..labels import xarray as labels
from ..ops import indexing, operators
from ..ops.coarsening import Coarsen
from ..ops.types import ArrayLike, Dims
from ..ops.updates import At, assignment
from ..ops.windows import Rolling
from . import frozen
from .by_label import ByLabelMethods
from .hints import method_instead, numpy_instead

# Functions say that they give an `Array`; a method gives what it is called on, a traced array, too (`Self`).
ops: Any = functions
_labels: Any = labels
_getitem: Any = indexing.getitem
_mask: Any = operators.mask

# NumPy's ufuncs of the operators, and the method of ours that takes the left operand as its argument.
_REFLECTED = {
    "add": "__radd__", "subtract": "__rsub__", "multiply": "__rmul__", "divide": "__rtruediv__",
    "floor_divide": "__rfloordiv__", "remainder": "__rmod__", "divmod": "__rdivmod__", "power": "__rpow__",
    "matmul": "__rmatmul__", "bitwise_and": "__rand__", "bitwise_or": "__ror__", "bitwise_xor": "__rxor__",
    "left_shift": "__rlshift__", "right_shift": "__rrshift__", "equal": "__eq__", "not_equal": "__ne__",
    "less": "__gt__", "less_equal": "__ge__", "greater": "__lt__", "greater_equal": "__le__",
}  # fmt: skip


# What to write for methods of ufuncs: x for a ufunc that has a reduction, and for any other one.
_REDUCED = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}
_RUNNING = {"add": "cumsum", "multiply": "cumprod", "maximum": "cummax", "minimum": "cummin"}
_UPDATES = {"add": "add", "multiply": "multiply", "maximum": "max", "minimum": "min", "subtract": "subtract"}


def _method_instead(ufunc: str, method: str) -> str:
    """What to write for np.add.reduce(x) and the like."""
    if method == "reduce" and ufunc in _REDUCED:
        return f'write xt.{_REDUCED[ufunc]}(x, dim="a")'
    if method == "accumulate" and ufunc in _RUNNING:
        return f'write xt.{_RUNNING[ufunc]}(x, dim="a")'
    if method == "at" and ufunc in _UPDATES:
        return f"write x = x.at(a=i).{_UPDATES[ufunc]}(value)"
    if method == "outer":
        return f"write xt.{ufunc}(x, y), of two arrays with different names"
    return "write np.asarray(x) to pass its values, without names, to NumPy"


def numpy_called(function: Any, x: Any, method: str = "__call__") -> ArgumentTypeError:
    room = (getattr(function, "__module__", None) or "numpy").removeprefix("numpy").removeprefix(".")
    name = function.__name__ if room.startswith("_") or not room else f"{room}.{function.__name__}"
    owner = "np." if "." in name or hasattr(np, name) else ""  # else a ufunc of another library
    if method != "__call__":
        return ArgumentTypeError(f"{owner}{name}.{method} of a named array: {_method_instead(name, method)}")
    return ArgumentTypeError(f"{owner}{name} of a named array: {numpy_instead(name, is_traced(x))}")


def _foreign(other: Any) -> bool:
    """Whether an operand is for somebody else to handle, as a Dataset is."""
    return isinstance(other, Mapping)


def _unequal(other: Any) -> bool:
    """Whether no array is equal to it. Python would repeat a text, if `*` were left to that."""
    return _foreign(other) or other is None or isinstance(other, (str, bytes))


# What `dir` does not show: for the package itself, and for xarray.
_INTERNAL = frozenset({"bounds", "known", "meta", "scope", "spec", "type", "value", "variable", "weak"})


class ArrayMethods(ByLabelMethods):
    """The operators of arrays, which broadcast by name, and the methods that xarray's DataArray has."""

    __slots__ = ()

    if not TYPE_CHECKING:  # else any attribute would pass

        def __getattr__(self, name: str) -> Any:
            raise lacks(self, name, method_instead(name, is_traced(self), self.dims))

    def __dir__(self) -> list[str]:
        return [n for n in object.__dir__(self) if not n.startswith("_") and n not in _INTERNAL]

    __hash__ = None  # type: ignore[assignment]
    __array_priority__ = 1000

    @trimmed
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """NumPy's functions are refused; its arrays and scalars left of an operator leave it to us."""
        reflected = _REFLECTED.get(ufunc.__name__) if method == "__call__" and not kwargs else None
        if reflected is not None and inputs[0] is not self and len(inputs) == 2 and inputs[1] is self:
            return getattr(self, reflected)(inputs[0])
        raise numpy_called(ufunc, self, method)

    @property
    def variable(self) -> Any:
        """What xarray computes with where a DataArray stands left of an operator: dims and values."""
        import xarray

        return xarray.Variable(self.dims, self.values)  # type: ignore[attr-defined]

    # ---- arithmetic ----

    def __add__(self, other: ArrayLike) -> Self:
        return NotImplemented if _foreign(other) else ops.add(self, other)

    def __radd__(self, other: ArrayLike) -> Self:
        return NotImplemented if _foreign(other) else ops.add(other, self)

    def __sub__(self, other: ArrayLike) -> Self:
        return NotImplemented if _foreign(other) else ops.subtract(self, other)

    def __rsub__(self, other: ArrayLike) -> Self:
        return NotImplemented if _foreign(other) else ops.subtract(other, self)

    def __mul__(self, other: ArrayLike) -> Self:
        return NotImplemented if _foreign(other) else ops.multiply(self, other)

    def __rmul__(self, other: ArrayLike) -> Self:
        return NotImplemented if _foreign(other) else ops.multiply(other, self)

    def __truediv__(self, other: ArrayLike) -> Self:
        return NotImplemented if _foreign(other) else ops.divide(self, other)

    def __rtruediv__(self, other: ArrayLike) -> Self:
        return NotImplemented if _foreign(other) else ops.divide(other, self)

    def __floordiv__(self, other: ArrayLike) -> Self:
        return NotImplemented if _foreign(other) else ops.floor_divide(self, other)

    def __rfloordiv__(self, other: ArrayLike) -> Self:
        return NotImplemented if _foreign(other) else ops.floor_divide(other, self)

    def __mod__(self, other: ArrayLike) -> Self:
        return NotImplemented if _foreign(other) else ops.remainder(self, other)

    def __rmod__(self, other: ArrayLike) -> Self:
        return NotImplemented if _foreign(other) else ops.remainder(other, self)

    def __divmod__(self, other: ArrayLike) -> tuple[Self, Self]:
        return NotImplemented if _foreign(other) else ops.divmod(self, other)

    def __rdivmod__(self, other: ArrayLike) -> tuple[Self, Self]:
        return NotImplemented if _foreign(other) else ops.divmod(other, self)

    def __pow__(self, other: ArrayLike) -> Self:
        return NotImplemented if _foreign(other) else ops.pow(self, other)

    def __rpow__(self, other: ArrayLike) -> Self:
        return NotImplemented if _foreign(other) else ops.pow(other, self)

    def __matmul__(self, other: ArrayLike) -> Self:
        return NotImplemented if _foreign(other) else ops.dot(self, other)

    def __rmatmul__(self, other: ArrayLike) -> Self:
        return NotImplemented if _foreign(other) else ops.dot(other, self)

    def __neg__(self) -> Self:
        return ops.negative(self)

    def __pos__(self) -> Self:
        return ops.positive(self)

    def __abs__(self) -> Self:
        return ops.abs(self)

    def __round__(self, decimals: int | None = None) -> Self:
        return ops.round(self, decimals or 0)

    # ---- bits ----

    def __and__(self, other: ArrayLike) -> Self:
        return NotImplemented if _foreign(other) else ops.bitwise_and(self, other)

    def __rand__(self, other: ArrayLike) -> Self:
        return NotImplemented if _foreign(other) else ops.bitwise_and(other, self)

    def __or__(self, other: ArrayLike) -> Self:
        return NotImplemented if _foreign(other) else ops.bitwise_or(self, other)

    def __ror__(self, other: ArrayLike) -> Self:
        return NotImplemented if _foreign(other) else ops.bitwise_or(other, self)

    def __xor__(self, other: ArrayLike) -> Self:
        return NotImplemented if _foreign(other) else ops.bitwise_xor(self, other)

    def __rxor__(self, other: ArrayLike) -> Self:
        return NotImplemented if _foreign(other) else ops.bitwise_xor(other, self)

    def __lshift__(self, other: ArrayLike) -> Self:
        return NotImplemented if _foreign(other) else ops.bitwise_left_shift(self, other)

    def __rlshift__(self, other: ArrayLike) -> Self:
        return NotImplemented if _foreign(other) else ops.bitwise_left_shift(other, self)

    def __rshift__(self, other: ArrayLike) -> Self:
        return NotImplemented if _foreign(other) else ops.bitwise_right_shift(self, other)

    def __rrshift__(self, other: ArrayLike) -> Self:
        return NotImplemented if _foreign(other) else ops.bitwise_right_shift(other, self)

    def __invert__(self) -> Self:
        return ops.invert(self)

    # ---- comparisons ----

    def __eq__(self, other: Any) -> Self:  # type: ignore[override]
        return NotImplemented if _unequal(other) else ops.equal(self, other)

    def __ne__(self, other: Any) -> Self:  # type: ignore[override]
        return NotImplemented if _unequal(other) else ops.not_equal(self, other)

    def __lt__(self, other: ArrayLike) -> Self:
        return NotImplemented if _foreign(other) else ops.less(self, other)

    def __le__(self, other: ArrayLike) -> Self:
        return NotImplemented if _foreign(other) else ops.less_equal(self, other)

    def __gt__(self, other: ArrayLike) -> Self:
        return NotImplemented if _foreign(other) else ops.greater(self, other)

    def __ge__(self, other: ArrayLike) -> Self:
        return NotImplemented if _foreign(other) else ops.greater_equal(self, other)

    # ---- elementwise ----

    def astype(self, dtype: Any, /) -> Self:
        """Returns the values converted to `dtype`, as `xt.astype`."""
        return ops.astype(self, dtype)

    def clip(self, min: ArrayLike | None = None, max: ArrayLike | None = None) -> Self:
        """Returns the values limited to the range from `min` to `max`, as `xt.clip`."""
        return ops.clip(self, min=min, max=max)

    def conj(self) -> Self:
        """Returns the complex conjugate, as `xt.conj`: the array itself if it is real."""
        return ops.conj(self)

    @property
    def real(self) -> Self:
        """The real part: the array itself if it is real."""
        return ops.real(self)

    @property
    def imag(self) -> Self:
        """The imaginary part: zeros if the array is real."""
        return ops.imag(self)

    def isnull(self) -> Self:
        """Tells whether each element is NaN."""
        return ops.isnan(self)

    def notnull(self) -> Self:
        """Tells whether each element is not NaN."""
        return ops.logical_not(ops.isnan(self))

    def fillna(self, value: ArrayLike, /) -> Self:
        """Returns the values, with `value` in place of NaN."""
        return ops.where(ops.isnan(self), value, self)

    def round(self, decimals: int = 0) -> Self:
        """Returns the values rounded to `decimals` places, halves to even, as `xt.round`."""
        return ops.round(self, decimals)

    def where(self, cond: ArrayLike, other: ArrayLike | None = None, /) -> Self:
        """Returns the values where `cond` holds, else `other` (by default NaN). The dims of the array come first."""
        return _mask(self, cond, other)

    # ---- reductions ----

    def sum(self, dim: Dims = None, *, skipna: bool | None = None) -> Self:
        """Returns the sum over `dim`, as `xt.sum`."""
        return ops.sum(self, dim, skipna=skipna)

    def prod(self, dim: Dims = None, *, skipna: bool | None = None) -> Self:
        """Returns the product over `dim`, as `xt.prod`."""
        return ops.prod(self, dim, skipna=skipna)

    def mean(self, dim: Dims = None, *, skipna: bool | None = None) -> Self:
        """Returns the mean over `dim`, as `xt.mean`."""
        return ops.mean(self, dim, skipna=skipna)

    def var(self, dim: Dims = None, *, skipna: bool | None = None, ddof: float = 0) -> Self:
        """Returns the variance over `dim`, as `xt.var`."""
        return ops.var(self, dim, skipna=skipna, ddof=ddof)

    def std(self, dim: Dims = None, *, skipna: bool | None = None, ddof: float = 0) -> Self:
        """Returns the standard deviation over `dim`, as `xt.std`."""
        return ops.std(self, dim, skipna=skipna, ddof=ddof)

    def min(self, dim: Dims = None, *, skipna: bool | None = None) -> Self:
        """Returns the smallest value over `dim`, as `xt.min`."""
        return ops.min(self, dim, skipna=skipna)

    def max(self, dim: Dims = None, *, skipna: bool | None = None) -> Self:
        """Returns the largest value over `dim`, as `xt.max`."""
        return ops.max(self, dim, skipna=skipna)

    def any(self, dim: Dims = None) -> Self:
        """Tells whether at least one element over `dim` differs from 0, as `xt.any`."""
        return ops.any(self, dim)

    def all(self, dim: Dims = None) -> Self:
        """Tells whether every element over `dim` differs from 0, as `xt.all`."""
        return ops.all(self, dim)

    def median(self, dim: Dims = None, *, skipna: bool | None = None) -> Self:
        """Returns the median over `dim`, as `xt.median`."""
        return ops.median(self, dim, skipna=skipna)

    def quantile(self, q: Any, /, dim: Dims = None, *, method: str = "linear", skipna: bool | None = None) -> Self:
        """Returns the quantiles `q` (0 to 1) over `dim`, as `xt.quantile`."""
        return ops.quantile(self, q, dim, method=method, skipna=skipna)

    def rank(self, dim: str | None = None, *, pct: bool = False) -> Self:
        """Returns the ranks along `dim`, which start at 1, as `xt.rank`."""
        return ops.rank(self, dim, pct=pct)

    def argsort(self, dim: str | None = None, *, descending: bool = False) -> Self:
        """Returns the positions that sort the array along `dim`, as `xt.argsort`."""
        return ops.argsort(self, dim, descending=descending)

    def argmax(self, dim: Dims = None, *, skipna: bool | None = None) -> Any:
        """Returns the first position of the largest value along `dim`, as `xt.argmax`."""
        return ops.argmax(self, dim, skipna=skipna)

    def argmin(self, dim: Dims = None, *, skipna: bool | None = None) -> Any:
        """Returns the first position of the smallest value along `dim`, as `xt.argmin`."""
        return ops.argmin(self, dim, skipna=skipna)

    def idxmax(self, dim: str | None = None, *, skipna: bool | None = None) -> Self:
        """Returns the label of the largest value along `dim`, or its position without labels, as `xt.idxmax`."""
        return ops.idxmax(self, dim, skipna=skipna)

    def idxmin(self, dim: str | None = None, *, skipna: bool | None = None) -> Self:
        """Returns the label of the smallest value along `dim`, or its position without labels, as `xt.idxmin`."""
        return ops.idxmin(self, dim, skipna=skipna)

    def dot(self, other: ArrayLike, /, dim: Dims = None) -> Self:
        """Returns the product with `other`, summed over `dim` (by default the shared dims), as `xt.dot`."""
        return ops.dot(self, other, dim=dim)

    # ---- scans ----

    def cumsum(
        self, dim: Dims = None, *, reverse: bool = False, exclusive: bool = False, skipna: bool | None = None
    ) -> Self:
        """Returns the running sum along `dim`, as `xt.cumsum`."""
        return ops.cumsum(self, dim, reverse=reverse, exclusive=exclusive, skipna=skipna)

    def cumprod(
        self, dim: Dims = None, *, reverse: bool = False, exclusive: bool = False, skipna: bool | None = None
    ) -> Self:
        """Returns the running product along `dim`, as `xt.cumprod`."""
        return ops.cumprod(self, dim, reverse=reverse, exclusive=exclusive, skipna=skipna)

    def cummax(self, dim: Dims = None, *, reverse: bool = False, exclusive: bool = False) -> Self:
        """Returns the running maximum along `dim`, as `xt.cummax`."""
        return ops.cummax(self, dim, reverse=reverse, exclusive=exclusive)

    def cummin(self, dim: Dims = None, *, reverse: bool = False, exclusive: bool = False) -> Self:
        """Returns the running minimum along `dim`, as `xt.cummin`."""
        return ops.cummin(self, dim, reverse=reverse, exclusive=exclusive)

    def cumlogsumexp(self, dim: Dims = None, *, reverse: bool = False, exclusive: bool = False) -> Self:
        """Returns the running log(sum(exp(x))) along `dim`, as `xt.cumlogsumexp`."""
        return ops.cumlogsumexp(self, dim, reverse=reverse, exclusive=exclusive)

    # ---- shape ----

    @property
    def T(self) -> Self:  # noqa: N802 (NumPy's name)
        """The array with its dims in reverse order."""
        return ops.transpose(self)

    def transpose(self, *dims: str | EllipsisType, missing_dims: str = "raise") -> Self:
        """Returns the array with its dims in the given order, as `xt.transpose`."""
        return ops.transpose(self, *dims, missing_dims=missing_dims)

    def rename(self, names: Mapping[str, str] | None = None, /, **keywords: str) -> Self:
        """Returns the array with new names for some dims, as `xt.rename`."""
        return ops.rename(self, names, **keywords)

    def swap_dims(self, names: Mapping[str, str] | None = None, /, **keywords: str) -> Self:
        """Returns the array with some dims replaced by others, as `xt.swap_dims`."""
        return ops.swap_dims(self, names, **keywords)

    def drop_vars(self, names: str | Iterable[str], /) -> Self:
        """Returns the array without the coordinates of these names, as `xt.drop_vars`."""
        return ops.drop_vars(self, names)

    def as_dims(self, *dims: str) -> Self:
        """Returns the array with new names for all dims, by position, as `xt.as_dims`."""
        return ops.as_dims(self, *dims)

    def expand_dims(
        self,
        dim: str | Sequence[str] | Mapping[str, Any] | None = None,
        /,
        axis: int | Sequence[int] | None = None,
        **keywords: Any,
    ) -> Self:
        """Returns the array with new dims, first unless `axis` gives their places, as `xt.expand_dims`."""
        return ops.expand_dims(self, dim, axis, **keywords)

    def squeeze(self, dim: Dims = None) -> Self:
        """Returns the array without the given dims, by default all of size 1, as `xt.squeeze`."""
        return ops.squeeze(self, dim)

    def stack(self, dim: Mapping[str, Any] | None = None, /, **keywords: Any) -> Self:
        """Returns the array with several dims merged into one new last dim, as `xt.stack`."""
        return ops.stack(self, dim, **keywords)

    def broadcast_like(self, other: ArrayLike, /, *, exclude: Iterable[str] = ()) -> Self:
        """Returns the array with the dims of `other` first, then its own, as `xt.broadcast_like`."""
        return ops.broadcast_like(self, other, exclude=exclude)

    def pad(
        self,
        widths: Mapping[str, Any] | None = None,
        /,
        mode: str = "constant",
        constant_values: Any = 0,
        **keywords: Any,
    ) -> Self:
        """Returns the array with elements added before and after it, as `xt.pad`."""
        return ops.pad(self, widths, mode=mode, constant_values=constant_values, **keywords)

    def roll(self, shifts: Mapping[str, int] | None = None, /, **keywords: int) -> Self:
        """Returns the array moved along dims; elements that leave enter at the other end, as `xt.roll`."""
        return ops.roll(self, shifts, **keywords)

    def shift(
        self, shifts: Mapping[str, int] | None = None, /, fill_value: ArrayLike | None = None, **keywords: int
    ) -> Self:
        """Returns the array moved along dims, with `fill_value` (by default NaN) in the gap, as `xt.shift`."""
        return ops.shift(self, shifts, fill_value=fill_value, **keywords)

    def diff(self, dim: str, /, n: int = 1, *, label: str = "upper") -> Self:
        """Returns the n-th difference of neighbours along `dim`, as `xt.diff`."""
        return ops.diff(self, dim, n, label=label)

    # ---- windows ----

    def rolling(
        self,
        windows: str | Mapping[str, int] | None = None,
        window: int | None = None,
        /,
        min_periods: int | None = None,
        center: bool | Mapping[str, bool] = False,
        **keywords: Any,
    ) -> Rolling:
        """Returns sliding windows along dims, as `xt.rolling`: x.rolling(t=3).mean()."""
        return ops.rolling(self, windows, window, min_periods=min_periods, center=center, **keywords)

    def coarsen(
        self,
        blocks: Mapping[str, int] | None = None,
        /,
        boundary: str = "exact",
        side: str | Mapping[str, str] = "left",
        **keywords: int,
    ) -> Coarsen:
        """Returns blocks of neighbours along dims, as `xt.coarsen`: x.coarsen(t=2).mean()."""
        return ops.coarsen(self, blocks, boundary=boundary, side=side, **keywords)

    # ---- indexing ----

    def __getitem__(self, key: Any) -> Self:
        return _getitem(self, key)

    @property
    def at(self) -> At:
        """Selects elements to update, x.at(a=i).add(v), or to read with a mode, x.at(a=i).get(mode="clip")."""
        return At(self)

    def __setitem__(self, key: object, value: object) -> NoReturn:
        instead = frozen.labels_instead(key) if isinstance(key, str) else assignment(self, key)
        more = ", or .add(value) for +=" if ".set(" in instead else ""
        raise ArgumentTypeError(f"arrays cannot be assigned to. Write {instead}{more}")

    def __delitem__(self, key: object) -> NoReturn:
        raise ArgumentTypeError("arrays do not change. Write x.isel(time=[0, 2]) with the positions to keep")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise frozen.refusal(self, name)

    def __delattr__(self, name: str) -> NoReturn:
        raise frozen.refusal(self, name, "deleted")

    def isel(self, indexers: Mapping[str, Any] | None = None, /, missing_dims: str = "raise", **keywords: Any) -> Self:
        """Returns elements by position along dims, as `xt.isel`: x.isel(time=0)."""
        return ops.isel(self, indexers, missing_dims=missing_dims, **keywords)

    def head(self, indexers: Mapping[str, int] | int | None = None, /, **keywords: int) -> Self:
        """Returns the first elements along dims, as `xt.head`."""
        return ops.head(self, indexers, **keywords)

    def tail(self, indexers: Mapping[str, int] | int | None = None, /, **keywords: int) -> Self:
        """Returns the last elements along dims, as `xt.tail`."""
        return ops.tail(self, indexers, **keywords)

    def thin(self, indexers: Mapping[str, int] | int | None = None, /, **keywords: int) -> Self:
        """Returns every n-th element along dims, as `xt.thin`."""
        return ops.thin(self, indexers, **keywords)


class LabelMethods(ArrayMethods):
    """The labels that came with `xt.as_array(dataarray)`, as xarray objects."""

    __slots__ = ()

    def to_xarray(self) -> xarray.DataArray:
        """Returns a DataArray over the same memory.

        It has the coordinates, name and attributes that came with `xt.as_array(dataarray)`.
        """
        return _labels.to_xarray(self)

    @property
    def attrs(self) -> dict[Any, Any]:
        """The attributes that came with `xt.as_array(dataarray)`. They do not change: `dict(x.attrs)` is a copy."""
        return frozen.Attributes(_labels.labels_of(self).attrs)

    @property
    def coords(self) -> Any:
        """The coordinates that came with `xt.as_array(dataarray)`, as xarray has them. They do not change.

        xarray compares them with those of a DataArray on the left of an operator.
        """
        return frozen.coordinates(_labels.bare(self))

    @property
    def indexes(self) -> Any:
        """The indexes of the coordinates by dim, as xarray has them."""
        return _labels.bare(self).indexes


for _name, _method in list(vars(ArrayMethods).items()):
    if callable(_method) and (not _name.startswith("_") or _name == "__getitem__"):
        _called = {"__getitem__": "isel"}.get(_name, _name if hasattr(functions, _name) else f"Array.{_name}")
        setattr(ArrayMethods, _name, checked(_method, name=_called))


LabelMethods.to_xarray = checked(LabelMethods.to_xarray, name="Array.to_xarray")  # type: ignore[method-assign]
