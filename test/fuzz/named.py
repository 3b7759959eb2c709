"""Named arrays in NumPy, with a bound on how far an implementation may be from each value.

Floats are kept in long double, unrounded. `error` bounds |what any correct implementation gives - value|, element by
element: operands are moved by their own bounds, and each op adds its rounding. inf means: anything may come out, as
where a comparison hangs on a rounding.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

FLOATS = ("float16", "bfloat16", "float32", "float64")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTS = SIGNED + UNSIGNED
COMPLEX = ("complex64", "complex128")  # their ops are in complexes.py
_EPSILON = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "float64": 2.0**-53}
_TINY = {"float16": 6.2e-5, "bfloat16": 1.2e-38, "float32": 1.2e-38, "float64": 2.3e-308}
_LARGEST = {"float16": 65504.0, "bfloat16": 3.389e38, "float32": 3.4028234e38, "float64": 1.797e308}

bounds = True
"""Whether errors are bounded: derivatives by differences do without."""


class UnknownError(Exception):
    """What happens depends on a rounding: the program says nothing."""


class RefusedError(Exception):
    """The program is wrong at these sizes or indices: an error is expected."""


class EmptyError(RefusedError):
    """An extremum over nothing."""


def native(dtype: str) -> np.dtype[Any]:
    return np.dtype(ml_dtypes.bfloat16) if dtype == "bfloat16" else np.dtype(dtype)


def is_float(dtype: str) -> bool:
    return dtype in _EPSILON


def largest(dtype: str) -> float:
    return _LARGEST[dtype]


def smallest(dtype: str) -> float:
    return _TINY[dtype]


def stored(values: np.ndarray, dtype: str) -> np.ndarray:
    """As an array of ours holds them."""
    if dtype in COMPLEX:
        with np.errstate(all="ignore"):
            return values.astype(dtype)
    if is_float(dtype):
        with np.errstate(all="ignore"):
            return values.astype("float64").astype(native(dtype))
    return values


@dataclass(frozen=True)
class Named:
    dims: tuple[str, ...]
    dtype: str
    value: np.ndarray
    error: np.ndarray

    @property
    def sizes(self) -> dict[str, int]:
        return dict(zip(self.dims, self.value.shape, strict=True))

    @property
    def type(self) -> tuple[tuple[str, ...], tuple[int, ...], str]:
        return self.dims, self.value.shape, self.dtype

    def axis(self, dim: str) -> int:
        return self.dims.index(dim)

    def known(self) -> Named:
        """This, of which something else hangs."""
        if self.error.size and self.error.max() > 0:
            raise UnknownError
        return self


def exact(values: Any, dims: Sequence[str], dtype: str) -> Named:
    array = np.asarray(values)
    if dtype in COMPLEX:
        return Named(tuple(dims), dtype, array.astype(dtype).astype(np.clongdouble), np.zeros(array.shape))
    array = array.astype("float64").astype(np.longdouble) if is_float(dtype) else array.astype(dtype)
    return Named(tuple(dims), dtype, array, np.zeros(array.shape))


def made(
    dims: Sequence[str], dtype: str, value: np.ndarray, error: np.ndarray, ulps: Any = 0.0, sizes: Any = None
) -> Named:
    """A result, of which `ulps` roundings of `sizes` (its own values) are added to the error."""
    value = np.asarray(value)
    if not is_float(dtype):
        return Named(tuple(dims), dtype, value.astype(dtype), np.where(np.asarray(error) > 0, np.inf, 0.0))
    value = value.astype(np.longdouble)
    if not bounds:
        return Named(tuple(dims), dtype, value, np.zeros(value.shape))
    error = np.asarray(error, "float64")
    with np.errstate(all="ignore"):
        size = np.abs(value if sizes is None else sizes).astype("float64")
        if np.any(ulps):
            error = error + np.where(np.isfinite(size), ulps * (_EPSILON[dtype] * size + _TINY[dtype]), 0.0)
        # Beyond the largest number: infinite, or nobody can tell.
        largest = _LARGEST[dtype]
        near, over = size + error > 0.999 * largest, np.abs(value).astype("float64") - error > 1.001 * largest
        infinite = ~np.isfinite(value)
        error = np.where(near & ~infinite, np.inf, error)
        if sizes is None:
            error = np.where(over & ~infinite, 0.0, error)
            value = np.where(over & ~infinite, np.sign(value) * np.longdouble(np.inf), value)
        error = np.where(np.isnan(error), np.inf, error)
    return Named(tuple(dims), dtype, value, error)


def aligned(arrays: Sequence[Named]) -> tuple[tuple[str, ...], list[np.ndarray], list[np.ndarray]]:
    """The union of the dims, in order of first appearance, and values and errors that broadcast along it."""
    dims = tuple(dict.fromkeys(d for a in arrays for d in a.dims))

    def spread(a: Named, x: np.ndarray) -> np.ndarray:
        order = [a.dims.index(d) for d in dims if d in a.dims]
        return x.transpose(order)[tuple(slice(None) if d in a.dims else None for d in dims)]

    return dims, [spread(a, a.value) for a in arrays], [spread(a, a.error) for a in arrays]


def elementwise(
    f: Callable[..., np.ndarray], arrays: Sequence[Named], dtype: str, ulps: float = 0.0, rounded: bool = False
) -> Named:
    """`f` of the values, and at all corners of their bounds. rounded: what can be represented is exact."""
    dims, values, errors = aligned(arrays)
    with np.errstate(all="ignore"):
        value = np.asarray(f(*values))
        shape = np.broadcast_shapes(value.shape, *(v.shape for v in values))
        value = np.broadcast_to(value, shape)
        error = np.zeros(shape)
        moved = [i for i, e in enumerate(errors) if bounds and e.size and e.max() > 0]
        for signs in itertools.product((-1, 1), repeat=len(moved)):
            corner = list(values)
            for i, sign in zip(moved, signs, strict=True):
                finite = np.where(np.isfinite(errors[i]), errors[i], 0.0)
                corner[i] = values[i] + sign * finite if is_float(arrays[i].dtype) else values[i]
            other = np.asarray(f(*corner))
            same = (other == value) | ((other != other) & (value != value))
            if is_float(dtype):
                away = np.abs(other.astype(np.longdouble) - value).astype("float64")
                away = np.where(np.isfinite(away), away, np.inf)
            else:
                away = np.full(shape, np.inf)
            error = np.maximum(error, np.where(same, 0.0, away))
        for i in moved:
            error = np.where(np.isinf(errors[i]), np.inf, error)
        if rounded and is_float(dtype):
            whole = (stored(value, dtype).astype(np.longdouble) == value) & (error == 0)
            ulps = np.where(whole, 0.0, ulps or 1.0)  # type: ignore[assignment]
            if not np.any(ulps):
                return made(dims, dtype, value, error)
            plain = made(dims, dtype, value, error)
            full = made(dims, dtype, value, error, 1.0)
            return Named(dims, dtype, full.value, np.where(ulps, full.error, plain.error))
    return made(dims, dtype, value, error, ulps)


def moved(f: Callable[[np.ndarray], np.ndarray], x: Named, dims: Sequence[str]) -> Named:
    """Elements of `x` elsewhere, nothing computed."""
    return Named(tuple(dims), x.dtype, f(x.value), f(x.error))


def cast(x: Named, dtype: str) -> Named:
    if is_float(dtype):
        return elementwise(lambda v: v.astype(np.longdouble), [x], dtype, rounded=True)
    if dtype == "bool":
        truth = elementwise(lambda v: v != 0, [x], dtype)
        unsure = (x.error > 0) & (np.abs(x.value) <= x.error)  # the corners do not say that
        return Named(x.dims, dtype, truth.value, np.where(unsure, np.inf, truth.error))
    if not is_float(x.dtype):
        return Named(x.dims, dtype, x.value.astype(dtype), x.error)
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max

    def convert(v: np.ndarray) -> np.ndarray:
        whole = np.trunc(v)
        inside = (whole >= least) & (whole <= np.longdouble(most))
        result = np.where(inside, whole, 0).astype(dtype)
        return np.where(
            whole > np.longdouble(most),
            np.asarray(most, dtype),
            np.where(whole < least, np.asarray(least, dtype), result),
        )

    return elementwise(convert, [x], dtype)


def promoted(*dtypes: str) -> str:
    """As NumPy; bfloat16 stays beside bools and integers of 8 bits, and meets all others as float32 does."""
    if "bfloat16" in dtypes:
        others = [d for d in dtypes if d not in ("bfloat16", "bool", "int8", "uint8")]
        return np.result_type("float32", *others).name if others else "bfloat16"
    return np.result_type(*map(native, dtypes)).name


# Reductions and scans: along one axis, which is the last.


def _last(x: Named, dim: str) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    axis = x.axis(dim)
    return np.moveaxis(x.value, axis, -1), np.moveaxis(x.error, axis, -1), tuple(d for d in x.dims if d != dim)


def wide(dtype: str) -> str:
    """What sums of a dtype are of."""
    if dtype == "bool" or dtype in SIGNED:
        return "int64"
    return "uint64" if dtype in UNSIGNED else dtype


def _nonfinite(value: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Sums in which an infinity or NaN decides: no rounding changes them, if those are sure."""
    return (~np.isfinite(value)).any(-1) & np.isfinite(error).all(-1)


def total(x: Named, dim: str, dtype: str | None = None) -> Named:
    value, error, dims = _last(x, dim)
    dtype = dtype or wide(x.dtype)
    if not is_float(dtype):
        return made(dims, dtype, value.astype(dtype).sum(-1, dtype=dtype), error.sum(-1))
    n = value.shape[-1]
    with np.errstate(all="ignore"):
        result = value.sum(-1)
        sizes = np.abs(value).sum(-1) + error.sum(-1)
        e = np.where(_nonfinite(value, error), 0.0, error.sum(-1))
        # A factor that is infinite everywhere may be multiplied after the sum (docs/semantics.md, NaN).
        opposite = (value == np.inf).any(-1) & (value == -np.inf).any(-1) & ~np.isnan(value).any(-1)
        e = np.where(opposite, np.inf, e)
        if n <= 1:
            return made(dims, dtype, result, e)
        return made(dims, dtype, result, e, n, np.where(np.isfinite(result), sizes, result))


def product(x: Named, dim: str) -> Named:
    value, error, dims = _last(x, dim)
    dtype = wide(x.dtype)
    if not is_float(dtype):
        return made(dims, dtype, value.astype(dtype).prod(-1, dtype=dtype), error.sum(-1))
    n = value.shape[-1]
    with np.errstate(all="ignore"):
        result, most = value.prod(-1), np.maximum(np.abs(value) + error, 1).prod(-1)
        away = (np.abs(value) + error).prod(-1) - np.abs(value).prod(-1)
        e = np.where(_nonfinite(value, error), np.inf, away.astype("float64"))
        return made(dims, dtype, result, e, n, most if n > 1 else None)


def extreme(x: Named, dim: str, largest: bool) -> Named:
    value, error, dims = _last(x, dim)
    if value.shape[-1] == 0:
        raise EmptyError
    with np.errstate(all="ignore"):
        return Named(dims, x.dtype, value.max(-1) if largest else value.min(-1), error.max(-1))


def place(x: Named, dim: str, largest: bool) -> Named:
    value, error, dims = _last(x, dim)
    if value.shape[-1] == 0:
        raise EmptyError
    best = value.argmax(-1) if largest else value.argmin(-1)
    if not is_float(x.dtype):
        return made(dims, "int64", best, error.max(-1))
    with np.errstate(all="ignore"):
        signed, sign = (value, 1) if largest else (-value, -1)
        lowest = np.take_along_axis(signed - error, best[..., None], -1)
        rivals = ((signed + error >= lowest) | (error == np.inf)).sum(-1) > 1
        unsure = rivals & (error.max(-1) > 0)
        unsure |= np.take_along_axis(error, best[..., None], -1)[..., 0] == np.inf  # a NaN that is not known to be one
    del sign
    return made(dims, "int64", best, np.where(unsure, np.inf, 0.0))


def order(x: Named, dim: str, descending: bool = False) -> Named:
    """Positions that sort: stable, NaN last. Those of what may be elsewhere are unknown."""
    axis = x.axis(dim)
    key = -x.value.astype(np.longdouble) if descending else x.value
    unsure = x.error.max(axis, keepdims=True) > 0 if x.error.size else x.error
    error = np.broadcast_to(np.where(unsure, np.inf, 0.0), x.error.shape)
    return Named(x.dims, "int64", np.argsort(key, axis, kind="stable"), error)


def ordered(x: Named, dim: str, descending: bool = False) -> Named:
    axis = x.axis(dim)
    error = np.broadcast_to(x.error.max(axis, keepdims=True), x.error.shape) if x.error.size else x.error
    return Named(x.dims, x.dtype, np.take_along_axis(x.value, order(x, dim, descending).value, axis), error)


def running(kind: str, x: Named, dim: str, reverse: bool = False, exclusive: bool = False) -> Named:
    """A cumulative sum, product, max or min: the reductions of all beginnings."""
    value, error, _ = _last(x, dim)
    if reverse:
        value, error = value[..., ::-1], error[..., ::-1]
    if exclusive:
        value, error = value[..., :-1], error[..., :-1]
    with np.errstate(all="ignore"):
        result = _accumulated(kind, value, error, x.dtype)
    value, error = result.value, result.error
    if exclusive and x.sizes[dim]:
        first = [(0, 0)] * (value.ndim - 1) + [(1, 0)]
        value, error = np.pad(value, first, constant_values=int(kind == "prod")), np.pad(error, first)
    if reverse:
        value, error = value[..., ::-1], error[..., ::-1]
    axis = x.axis(dim)
    return Named(x.dims, result.dtype, np.moveaxis(value, -1, axis), np.moveaxis(error, -1, axis))


def _accumulated(kind: str, value: np.ndarray, error: np.ndarray, dtype: str) -> Named:
    """Along the last axis."""
    if kind in ("max", "min"):
        f = np.maximum if kind == "max" else np.minimum
        return Named((), dtype, f.accumulate(value, -1), np.maximum.accumulate(error, -1))
    dtype = wide(dtype)
    f = np.add if kind == "sum" else np.multiply
    spread = np.add.accumulate(error, -1)
    dims = ("",) * value.ndim
    if not is_float(dtype):
        return made(dims, dtype, f.accumulate(value.astype(dtype), -1, dtype=dtype), spread)
    result = f.accumulate(value, -1)
    n = np.arange(1, value.shape[-1] + 1) * (np.arange(value.shape[-1]) > 0)
    decided = np.logical_or.accumulate(~np.isfinite(value), -1) & np.logical_and.accumulate(np.isfinite(error), -1)
    if kind == "sum":
        sizes = np.add.accumulate(np.abs(value), -1) + spread
        sizes = np.where(np.isfinite(result), sizes, result)
        return made(dims, dtype, result, np.where(decided, 0.0, spread), n, sizes)
    most = np.multiply.accumulate(np.maximum(np.abs(value) + error, 1), -1)
    e = np.multiply.accumulate(np.abs(value) + error, -1) - np.multiply.accumulate(np.abs(value), -1)
    return made(dims, dtype, result, np.where(decided, np.inf, e.astype("float64")), n, most)
