"""`xt.array` and `xt.as_array`: arrays of anything that has values."""

from __future__ import annotations

from typing import Any

from .. import _native
from ..base import dtypes
from ..base.dims import as_names
from ..base.errors import ArgumentTypeError, DimensionError
from ..labels.xarray import from_xarray, is_dataarray
from ..trace.lift import as_tracer
from ..trace.tracer import DynamicSize, Tracer
from ..values.array import Array, from_values
from ..values.kinds import NUMBER, kind_of


def array(
    data: Any,
    dims: Any = None,
    *,
    dtype: dtypes.DTypeLike = None,
    copy: bool | None = None,
    device: str | None = None,
) -> Array:
    """Returns an array that shares the memory of a NumPy array or DLPack tensor, or that holds lists or a number.

    `dims` names the axes, outermost first: ``xt.array(data, dims=("sample", "pixel"))``; one name may be given bare.
    Memory is shared where it is row-major, aligned and of the dtype, unless `copy` or `xt.option(copy=True)`: the array
    changes with it. Anything with the buffer protocol will do. An array that has names already is transposed to the
    order of `dims`. `device`: where the array is made, by default the CPU (or what `xt.option` says).

    Raises:
        DimensionError: the number of names is not that of the axes.
        DTypeError: `dtype`, or that of `data`, is not a dtype of arrays.
        DeviceError: `device` does not exist.

    Example:
    >>> xt.array([[1.0, 2.0], [3.0, 4.0]], dims=("sample", "pixel"))
    <xtensor.Array (sample: 2, pixel: 2) float64>
    [[1. 2.]
     [3. 4.]]
    """
    if is_dataarray(data) or isinstance(data, _native.Array):
        made = _named(data, copy)
        if device is not None:
            made = made.to(device)
        if dims is not None:
            names = as_names(dims)
            if set(names) != set(made.dims):
                raise DimensionError(
                    f"xt.array: the data has dims {made.dims} already, not {names}. "
                    f"Name them anew by x.as_dims(..) or x.rename(..)"
                )
            made = made.transpose(*names)
        return made if dtype is None else made.astype(dtype)
    if isinstance(data, Tracer):
        raise ArgumentTypeError(f"xt.array copies concrete data; {data!r} is an array already. Write xt.as_array(x)")
    if dims is not None and _are_names(data) and not _are_names(dims):
        raise ArgumentTypeError(f"xt.array: the data comes first. Write xt.array(data, dims={data!r:.60})")
    return from_values(data, dims, dtype=dtype, copy=copy, device=device)


def _are_names(x: Any) -> bool:
    return isinstance(x, str) or (isinstance(x, (tuple, list)) and bool(x) and all(isinstance(d, str) for d in x))


def _named(data: Any, copy: bool | None) -> Array:
    """What has names already as an array."""
    if not isinstance(data, _native.Array):
        return from_xarray(data, copy)
    if not copy or data.device != "cpu":
        return data  # type: ignore[return-value]
    made: Array = _native.from_buffer(_native.as_numpy(data), data.dims, copy=True)
    return made if data.meta is None else made._with_meta(data.meta)


def as_array(x: Any) -> Array:
    """Returns a DataArray as an Array, with its dims, coordinates, name and attributes; a number as an array without
    dims; an Array, traced or not, as it is. Memory is shared where it can be.

    Raises:
        DimensionError: `x` has axes without names.
        DTypeError: `x` has a dtype that arrays do not have.

    Example:
    >>> xt.as_array(xr.DataArray([1.0, 2.0], dims="time", coords={"time": [3, 5]}))
    <xtensor.Array (time: 2) float64>
    [1. 2.]
    with coordinates of time
    """
    if isinstance(x, _native.Array):
        return x  # type: ignore[return-value]
    if isinstance(x, (Tracer, DynamicSize)):
        return as_tracer(x)
    kind = kind_of(x)
    if kind is not None and kind.named:
        return kind.array(x)
    made = from_values(x)
    if kind is NUMBER:
        return made._view(_native.ArrayType(made.type.dtype, (), (), True))
    return made
