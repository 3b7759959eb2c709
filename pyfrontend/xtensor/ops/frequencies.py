"""The frequencies of Fourier transforms, and the order in which they stand."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.dims import check_name
from ..base.errors import ArgumentError, ArgumentTypeError, DTypeError
from ..call.dispatch import op, tracing
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from ..values.array import from_values
from . import promotion as p
from .arguments import dims_of, fail, integer, is_static, number
from .cosines import CONSTANTS
from .moving import rolled, rolled_by
from .types import Array, ArrayLike, Dims


def _frequencies(name: str, n: int, dim: str | None, d: float, dtype: Any, half: bool) -> Array:
    """0, 1, .., -2, -1 over n d, or the half of them that are not below 0, n // 2 among them."""
    if dim is None:
        raise fail(ArgumentTypeError, name, "dim= is missing, the name of the new dim", instead='Write dim="frequency"')
    check_name(dim)
    spacing = number(name, d, "d")
    if spacing == 0:
        raise fail(ArgumentError, name, "d is 0, and positions differ")
    wanted = p.default_float() if dtype is None else np.dtype(dtype)
    if wanted.kind != "f":
        raise fail(DTypeError, name, f"frequencies are floats, not {wanted.name}")
    size = n // 2 + 1 if half else n
    if tracing() and size > CONSTANTS:
        at = build.iota(dim, size, p.I8)
        if not half:
            back = build.binary("sub", at, p.constant(n, p.I8))
            at = build.select(build.compare("lt", at, p.constant((n + 1) // 2, p.I8)), at, back)
        return p.cast(build.binary("div", p.cast(at, p.F8), p.constant(n * spacing, p.F8)), wanted)
    positions = np.arange(size, dtype=p.F8)
    if not half:
        positions[(n + 1) // 2 :] -= n
    values = (positions / (n * spacing)).astype(wanted)
    return build.constant(values, (dim,)) if tracing() else from_values(values, (dim,))


def _count(name: str, n: Any) -> int:
    count = integer(name, n, "n, the number of values")
    if count < 1:
        raise fail(ArgumentError, name, f"n is {count}, and a transform has at least one value")
    return count


def fftfreq(n: int, /, d: float = 1.0, *, dim: str | None = None, dtype: Any = None) -> Array:
    """Returns the frequencies of the values of `fft` of `n` values that lie `d` apart, along the dim `dim`.

    They are 0, 1, .., -2, -1 over n d: cycles per unit of `d`.

    Raises:
        ArgumentError: `n` is below 1.
        DTypeError: `dtype` is not a float.

    Example:
    >>> xt.fft.fftfreq(4, d=0.5, dim="time")
    <xtensor.Array (time: 4) float64>
    [ 0.   0.5 -1.  -0.5]
    """
    count = _count("fft.fftfreq", n)
    return _frequencies("fft.fftfreq", count, dim, d, dtype, False)


def rfftfreq(n: int, /, d: float = 1.0, *, dim: str | None = None, dtype: Any = None) -> Array:
    """Returns the frequencies of the n // 2 + 1 values of `rfft` of `n` values that lie `d` apart, along `dim`.

    Raises:
        ArgumentError: `n` is below 1.
        DTypeError: `dtype` is not a float.

    Example:
    >>> xt.fft.rfftfreq(4, d=0.5, dim="time")
    <xtensor.Array (time: 3) float64>
    [0.  0.5 1. ]
    """
    count = _count("fft.rfftfreq", n)
    return _frequencies("fft.rfftfreq", count, dim, d, dtype, True)


def _shifted(name: str, x: ArrayLike, dim: Dims, inverse: bool) -> Tracer:
    x = as_tracer(x)
    for d in dims_of(name, x, dim):
        if is_static(x, d):
            half = int(x.sizes[d]) // 2
            x = rolled_by(x, d, -half if inverse else half)
        else:
            x = rolled(x, d, inverse)
    return x


@op(name="fft.fftshift")
def fftshift(x: ArrayLike, /, dim: Dims = None) -> Array:
    """Returns `x` with frequency 0 in the middle of each of the dims `dim`: position 0 moves to n // 2.

    Coordinates along these dims move, too. None moves all dims.

    Raises:
        DimensionError: `x` does not have `dim`.

    Example:
    >>> xt.fft.fftshift(xt.array([0.0, 1.0, -2.0, -1.0], "time"), "time")
    <xtensor.Array (time: 4) float64>
    [-2. -1.  0.  1.]
    """
    return _shifted("fft.fftshift", x, dim, False)


@op(name="fft.ifftshift")
def ifftshift(x: ArrayLike, /, dim: Dims = None) -> Array:
    """Returns the inverse of `fftshift`.

    Raises:
        DimensionError: `x` does not have `dim`.

    Example:
    >>> xt.fft.ifftshift(xt.array([-2.0, -1.0, 0.0, 1.0], "time"), "time")
    <xtensor.Array (time: 4) float64>
    [ 0.  1. -2. -1.]
    """
    return _shifted("fft.ifftshift", x, dim, True)
