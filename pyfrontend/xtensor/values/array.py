"""Array: concrete values with named dims.

C++ holds the data and the type (`_native.Array`). This class adds repr, conversions and scalars.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .. import _native
from ..base import dtypes
from ..base.calls import checked
from ..base.dims import as_names, describe
from ..base.errors import ArgumentError, ArgumentTypeError, DimensionError, DTypeError
from ..base.lacking import is_traced
from ..base.named import Labelled
from ..base.ranges import does_not_fit, fits, too_wide
from ..base.refusals import not_an_array, of_others, unnamed
from .devices import named
from .options import current
from .shared import copies, made_over
from .targets import placed

if TYPE_CHECKING:
    pass

_F8, _C16 = np.dtype("float64"), np.dtype("complex128")


class Array(_native.Array, Labelled):
    """An immutable array whose dims have names, stored in row-major order.

    `xt.array`, `xt.as_array`, the creation functions and every operation make arrays. `values`, NumPy, DLPack and
    xarray read them, without copies if the array is on the CPU.

    Raises:
        TypeError: it is called: `xt.array` makes arrays.

    Example:
    >>> x = xt.array([[1.0, 2.0], [3.0, 4.0]], dims=("sample", "pixel"))
    >>> x.dims, x.sizes, x.dtype
    (('sample', 'pixel'), {'sample': 2, 'pixel': 2}, dtype('float64'))
    >>> x.mean("sample").values
    array([2., 3.])
    """

    __slots__ = ()

    @property
    def dtype(self) -> np.dtype[Any]:  # type: ignore[override]
        """The dtype of the elements, as a NumPy dtype (bfloat16 is that of ml_dtypes)."""
        return dtypes.BY_NAME[self.type.dtype]

    @property
    def weak(self) -> bool:
        """Whether the dtype gives way to others, as that of a Python number does."""
        return self.type.weak

    def to(self, device: str) -> Array:
        """Returns the array on a device, "cpu" or "vulkan"; the array itself if it is there.

        It keeps its coordinates, name and attributes.
        """
        return _native.to_device(self, named(device))

    @property
    def values(self) -> np.ndarray[Any, Any]:
        """The data as a read-only NumPy array, with axes in the order of `dims`.

        On the CPU it shares the memory of the array. For another device it is a copy, which waits for the result.
        """
        return _native.as_numpy(self)

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """Returns the data as a read-only NumPy array, as `values`."""
        return _native.as_numpy(self)

    @property
    def name(self) -> Any:
        """The name that came with `xt.as_array(dataarray)`, or None."""
        return None if self.meta is None else self.meta.name

    @property
    def data(self) -> np.ndarray[Any, Any]:
        """The data as a read-only NumPy array, as `values`: xarray's other name."""
        return _native.as_numpy(self)

    # -- scalars and iteration ----------------------------------------------------------------------------------------

    def item(self) -> Any:
        """Returns the value of an array of one element as a Python number. Raises ArgumentError for other sizes."""
        if self.size != 1:
            raise ArgumentError(f"item() needs an array of one element, got {describe(self.dims, self.shape)}")
        return _native.as_numpy(self).item()

    def _no_scalar(self, what: str) -> DimensionError:
        reduce, more = "Reduce it", ""
        if what == "bool()":
            reduce = "Reduce it with .any() or .all()"
            more = ". Element by element, write & for and, | for or, xt.maximum for max()"
        elif what == "float()":
            reduce = "Write xt.sqrt for math.sqrt and its like. Or reduce it"
        return DimensionError(
            f"{what} needs an array without dims, got {describe(self.dims, self.shape)}. {reduce}, or take an element: "
            f"x.isel({', '.join(f'{d}=0' for d in self.dims)}){more}"
        )

    def _refuse_complex(self, what: str) -> None:
        if self.dtype.kind == "c":
            raise DTypeError(f"{what} of a complex number. Write z.real, or xt.abs(z)")

    def __bool__(self) -> bool:
        if self.ndim:
            raise self._no_scalar("bool()")
        return bool(_native.as_numpy(self)[()])

    def __int__(self) -> int:
        if self.ndim:
            raise self._no_scalar("int()")
        self._refuse_complex("int()")
        return int(_native.as_numpy(self)[()])

    def __float__(self) -> float:
        if self.ndim:
            raise self._no_scalar("float()")
        self._refuse_complex("float()")
        return float(_native.as_numpy(self)[()])

    def __complex__(self) -> complex:
        if self.ndim:
            raise self._no_scalar("complex()")
        return complex(_native.as_numpy(self)[()])

    def __index__(self) -> int:
        if self.ndim or self.dtype.kind not in "iu":
            raise ArgumentTypeError(f"an int is needed here, got {self.dtype} {describe(self.dims, self.shape)}")
        return int(_native.as_numpy(self)[()])

    def __len__(self) -> int:
        if not self.ndim:
            raise ArgumentTypeError(
                "len() of an array without dims. Write x.ndim or x.size, or x.item() for its number"
            )
        return self.shape[0]

    def __iter__(self) -> Iterator[Array]:
        if not self.ndim:
            raise ArgumentTypeError("iteration over an array without dims. Write x.item() for its number")
        if self.device != "cpu":
            inner = _native.ArrayType(self.type.dtype, self.dims[1:], self.shape[1:])
            return (self._part(inner, i * inner.nbytes) for i in range(len(self)))
        data, dims = _native.as_numpy(self), self.dims[1:]
        return (_native.from_buffer(data[i], dims) for i in range(len(data)))

    def __contains__(self, value: Any) -> bool:
        return bool((_native.as_numpy(self) == np.asarray(value)).any())

    __hash__ = object.__hash__

    # -- text ---------------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        if self._donation is not None:
            function, file, line = self._donation
            return f"<xtensor.Array {self._header()}, whose memory {function} took at {file}:{line}>"
        if not self.dims:  # one line, so that dicts and tuples of numbers can be read
            return f"<xtensor.Array {self._header()} {self._values()}{self._labels(' ')}>"
        return f"<xtensor.Array {self._header()}>\n{self._values()}{self._labels()}"

    def _values(self) -> str:
        if self.dtype == dtypes.bfloat16:
            return np.array2string(self.values.astype(np.float32), separator=" ", threshold=200)
        return np.array2string(self.values, threshold=200)

    def _labels(self, before: str = "\n") -> str:
        """What came along from a DataArray, in a line."""
        if self.meta is None:
            return ""
        labels: Any = self.meta
        parts = [] if labels.name is None else [f"name {labels.name!r}"]
        parts += [f"coordinates of {', '.join(labels.coords)}"] if labels.coords else []
        parts += [f"attributes {', '.join(map(str, labels.attrs))}"] if labels.attrs else []
        return f"{before}with {'; '.join(parts)}" if parts else ""

    def _header(self) -> str:
        where = "" if self.device == "cpu" else f" on {self.device}"
        return f"{describe(self.dims, self.shape)} {'weak ' if self.weak else ''}{self.dtype.name}{where}"

    def __format__(self, spec: str) -> str:
        if not self.ndim:
            return format(self.item(), spec)
        try:
            return format(str(self), spec)
        except ValueError:
            raise self._no_scalar(f"the format {spec!r}") from None

    # -- copies -------------------------------------------------------------------------------------------------------

    def __copy__(self) -> Array:
        return self

    def __deepcopy__(self, memo: object) -> Array:
        return self

    def __reduce__(self) -> Any:
        return _unpickle, (np.array(self.values), self.dims, self.meta)


def _unpickle(data: np.ndarray[Any, Any], dims: tuple[str, ...], meta: Any) -> Array:
    made: Array = placed(_native.from_buffer(data, dims), None)
    return made if meta is None else made._with_meta(meta)


_native.set_array_class(Array)


def from_values(
    data: Any,
    dims: Any = None,
    *,
    dtype: dtypes.DTypeLike = None,
    copy: bool | None = None,
    device: str | None = None,
) -> Array:
    """An array over values without names: memory of NumPy or DLPack, lists, a number. As `xt.array` does it."""
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    values = _as_numpy(data, wanted, copy)
    if dims is None:
        if values.ndim:
            raise unnamed(values)
        dims = ()
    names = as_names(dims)
    if len(names) != values.ndim:
        raise _wrong_count(names, values.shape)
    found: Array = placed(_native.from_buffer(values, names), device)
    return made_over(found, values)


def _as_numpy(data: Any, dtype: dtypes.DType | None, copy: bool | None) -> np.ndarray[Any, Any]:
    if not isinstance(data, (np.ndarray, np.generic, list)) and (found := of_others(data, "xt.array: ")):
        raise found
    if not isinstance(data, (np.ndarray, np.generic)) and hasattr(data, "__dlpack__"):
        # A dtype or device that NumPy does not take this way it may take by __array__.
        with suppress(BufferError, RuntimeError, TypeError):
            data = np.from_dlpack(data)
        if not isinstance(data, np.ndarray) and hasattr(data, "shape"):
            with suppress(BufferError, RuntimeError, TypeError, ValueError):
                data = _native.from_dlpack(data, [f"axis {i}" for i in range(len(data.shape))]).values
    if type(data).__name__ == "Dataset":
        raise ArgumentTypeError("xt.array: a Dataset holds several arrays. Take one by its name: dataset[name]")
    # A program with a masked array has imported the module, which takes 15 ms.
    if "numpy.ma" in sys.modules and isinstance(data, np.ma.MaskedArray):
        if np.ma.is_masked(data):
            raise ArgumentTypeError(
                "xt.array: arrays do not have masks. Write data.filled(value), for example with NaN"
            )
        data = data.data
    try:
        values = np.asarray(data)
    except ValueError as error:
        if "inhomogeneous" in str(error):
            raise ArgumentError(
                "xt.array: the lists have different lengths. Write lists of one length, for example filled up with NaN"
            ) from None
        raise ArgumentError(f"xt.array: {error}") from None
    except (TypeError, RuntimeError) as error:
        if isinstance(data, (list, tuple)) and any(is_traced(x) for x in data):
            raise ArgumentTypeError(
                'xt.array copies values, and traced arrays do not have values. xt.concat([x, y], dim="k") makes one '
                "array of several, along a new dim or one that they have"
            ) from None
        kind = f"{type(data).__module__}.{type(data).__qualname__}"
        raise ArgumentTypeError(f"xt.array: NumPy cannot read {kind}: {error}") from None
    if values.dtype == object and not values.ndim and isinstance(data, Iterable) and not isinstance(data, np.ndarray):
        raise not_an_array(data, "xt.array: ")
    if dtype is None:
        dtype = dtypes.as_dtype(values.dtype) if values.dtype.kind in "biufcV" else _no_dtype(values)
        if isinstance(data, (float, complex, list, tuple)) and not isinstance(data, np.generic):
            if dtype == _F8:
                dtype = current().default_float
            elif dtype == _C16:
                dtype = dtypes.complex_of(current().default_float)
    if values.dtype != dtype:
        if values.dtype.kind == "c" and dtype.kind != "c":
            raise DTypeError(
                f"xt.array: {values.dtype.name} as {dtype.name} would drop the imaginary part. Give a.real, or a "
                "complex dtype="
            )
        if dtype.kind in "iu" and values.size and not isinstance(data, (np.ndarray, np.generic)):
            _check_fit(values, dtype)
        try:
            values = values.astype(dtype)
        except OverflowError:
            raise ArgumentError(f"xt.array: an int is larger than {dtype.name} holds. Write a float") from None
    elif copies(copy) and not isinstance(data, (list, tuple, bool, int, float, complex)):
        values = values.copy()
    return values


def _check_fit(values: np.ndarray[Any, Any], dtype: dtypes.DType) -> None:
    """Python numbers that an integer dtype does not hold are an error; arrays of another dtype are cast."""
    if values.dtype.kind in "iuf":
        for extreme in (values.min().item(), values.max().item()):
            if not fits(extreme, dtype):
                raise does_not_fit(extreme, dtype, "Give a dtype= that holds it")


def _no_dtype(values: np.ndarray[Any, Any]) -> NoReturn:
    for x in values.flat if values.dtype == object else ():
        if isinstance(x, int) and not -(2**63) <= x < 2**64:
            raise too_wide(x, "array")
    kind = values.dtype.kind
    if kind == "O" and values.size:
        kind = "U" if any(isinstance(x, (str, bytes)) for x in values.flat) else kind
        kind = "None" if any(x is None for x in values.flat) else kind
    instead = _WRITTEN_FOR.get(kind, "")
    raise DTypeError(
        f"arrays of {values.dtype} are not supported; arrays hold bools, ints, floats and complex numbers{instead}"
    )


_STRINGS = (
    ". Strings can be labels: x.assign_coords(site=names). Integers in place of them are "
    "np.unique(names, return_inverse=True)[1]"
)
_DATES = '. Numbers of dates are (x - start) / np.timedelta64(1, "D")'
_WRITTEN_FOR = {
    "U": _STRINGS, "S": _STRINGS, "T": _STRINGS, "m": _DATES, "M": _DATES,
    "None": ". Write float('nan') for None", "O": '. If all elements are numbers, write np.asarray(x, "f8")',
}  # fmt: skip


def _wrong_count(names: tuple[str, ...], shape: tuple[int, ...]) -> DimensionError:
    given = (*names, *(f"dim{i}" for i in range(len(names), len(shape))))[: len(shape)]
    if len(names) == 1 and len(names[0]) == len(shape) == len(set(names[0])):
        given = tuple(names[0])  # dims="ij"
    return DimensionError(
        f"{len(names)} dim name{'s' * (len(names) != 1)} {names} for data of shape {shape}: give one name per axis, "
        f"as in dims={given}"
    )


for _name in ("item", "to", "to_numpy"):
    setattr(Array, _name, checked(getattr(Array, _name), name=f"Array.{_name}"))
