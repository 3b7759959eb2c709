"""Transforms to cosines and sines, of types 1 to 4: `xt.fft.dct` and the like. They are Fourier transforms of real
numbers in another order, with factors before or after them (Makhoul 1980)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..base import dtypes
from ..base.errors import ArgumentError, SizeError
from ..call.dispatch import op
from ..trace import build
from ..trace.tracer import Tracer
from . import promotion as p
from .arguments import fail, reorder, static_size
from .fourier import Sizes, along, check_norm, real_operand, resized, wanted_sizes
from .types import Array, ArrayLike, Dims

# Up to here, factors are constants of the program; beyond, they are computed by it.
CONSTANTS = 1 << 16


def _factors(x: Tracer, dim: str, n: int, first: float, step: float) -> Tracer:
    """exp(i pi (first + step k)) for k = 0, 1 .. n - 1 along `dim`."""
    of = dtypes.complex_of(x.dtype)
    if n <= CONSTANTS:
        return build.constant(np.exp(1j * np.pi * (first + step * np.arange(n))).astype(of), (dim,))
    angle = build.binary(
        "add", build.binary("mul", p.cast(build.iota(dim, n), x.dtype), p.constant(math.pi * step, x.dtype)),
        p.constant(math.pi * first, x.dtype),
    )  # fmt: skip
    return build.complex_array(build.unary("cos", angle), build.unary("sin", angle))


def _times(x: Tracer, factors: Tracer) -> Tracer:
    return build.binary("mul", p.cast(x, factors.dtype), factors)


def _scaled(x: Tracer, by: float) -> Tracer:
    return build.binary("mul", x, p.constant(by, x.dtype))


def _part(x: Tracer, dim: str, begin: int, size: int, step: int = 1) -> Tracer:
    return build.slice(x, {dim: (begin, size, step)})


def _join(parts: list[Tracer], dim: str) -> Tracer:
    return build.concat([v for v in parts if v.sizes[dim]], dim)


def _alternating(x: Tracer, dim: str) -> Tracer:
    """x[t] (-1)^t"""
    odd = build.binary("mod", build.iota(dim, x.sizes[dim]), p.constant(2, p.I8))
    return build.select(build.compare("eq", odd, p.constant(1, p.I8)), build.unary("neg", x), x)


def _at(x: Tracer, dim: str, positions: tuple[int, ...], by: float) -> Tracer:
    """`x` times `by` at some positions."""
    size = int(x.sizes[dim])
    if size > CONSTANTS:
        places = build.iota(dim, size)
        for i in positions:
            there = build.compare("eq", places, p.constant(range(size)[i], p.I8))
            x = build.select(there, _scaled(x, by), x)
        return x
    weights = np.ones(size)
    weights[list(positions)] = by
    return build.binary("mul", x, build.constant(weights.astype(x.dtype), (dim,)))


# -- without factors --------------------------------------------------------------------------------------------------


def _dct1(x: Tracer, dim: str, n: int) -> Tracer:
    inner = build.reverse(_part(x, dim, 1, n - 2), (dim,))
    return build.real(build.fourier("real", _join([x, inner], dim), (dim,)))


def _dct2(x: Tracer, dim: str, n: int) -> Tracer:
    odd = build.reverse(_part(x, dim, 1, n // 2, 2), (dim,))
    z = build.fourier("real", _join([_part(x, dim, 0, n - n // 2, 2), odd], dim), (dim,), 2.0)
    z = _times(z, _factors(x, dim, n // 2 + 1, 0, -0.5 / n))
    above = build.unary("neg", build.reverse(_part(build.imag(z), dim, 1, (n - 1) // 2), (dim,)))
    return _join([build.real(z), above], dim)


def _dct3(x: Tracer, dim: str, n: int) -> Tracer:
    m = n // 2 + 1
    # x[n - k] for k = 0 .. m - 1, and 0 in place of x[n].
    far = build.reverse(_part(x, dim, n - m + 1, m - 1), (dim,))
    far = build.pad(far, p.zero(x.dtype), {dim: (1, 0, 0)})
    z = build.complex_array(_part(x, dim, 0, m), build.unary("neg", far))
    v = build.fourier("hermitian", _times(z, _factors(x, dim, m, 0, 0.5 / n)), (dim,), 1.0, n)
    half = n - n // 2
    even = build.pad(_part(v, dim, 0, half), p.zero(x.dtype), {dim: (0, n - 2 * half + 1, 1)})
    if n == 1:
        return even
    odd = build.reverse(_part(v, dim, half, n - half), (dim,))
    odd = build.pad(odd, p.zero(x.dtype), {dim: (1, n - 2 * (n - half), 1)})
    return build.binary("add", even, odd)


def _dct4(x: Tracer, dim: str, n: int) -> Tracer:
    z = _times(x, _factors(x, dim, n, 0, -0.5 / n))
    z = build.pad(z, p.zero(z.dtype), {dim: (0, n, 0)})
    z = _part(build.fourier("forward", z, (dim,), 2.0), dim, 0, n)
    return build.real(build.binary("mul", z, _factors(x, dim, n, -0.25 / n, -0.5 / n)))


def _dst1(x: Tracer, dim: str, n: int) -> Tracer:
    zero = _scaled(_part(x, dim, 0, 1), 0)
    whole = _join([zero, x, zero, build.unary("neg", build.reverse(x, (dim,)))], dim)
    return build.unary("neg", _part(build.imag(build.fourier("real", whole, (dim,))), dim, 1, n))


def _dst2(x: Tracer, dim: str, n: int) -> Tracer:
    return build.reverse(_dct2(_alternating(x, dim), dim, n), (dim,))


def _dst3(x: Tracer, dim: str, n: int) -> Tracer:
    return _alternating(_dct3(build.reverse(x, (dim,)), dim, n), dim)


def _dst4(x: Tracer, dim: str, n: int) -> Tracer:
    return _alternating(_dct4(build.reverse(x, (dim,)), dim, n), dim)


Transform = Callable[[Tracer, str, int], Tracer]
_COSINES: dict[int, Transform] = {1: _dct1, 2: _dct2, 3: _dct3, 4: _dct4}
_SINES: dict[int, Transform] = {1: _dst1, 2: _dst2, 3: _dst3, 4: _dst4}
_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}


def _transformed(
    name: str, x: ArrayLike, type_: int, dim: Dims, n: Sizes, norm: str | None, sines: bool, inverse: bool
) -> Tracer:
    if not isinstance(type_, (int, np.integer)) or isinstance(type_, bool) or type_ not in _INVERSE:
        raise fail(ArgumentError, name, f"type is 1, 2, 3 or 4, not {type_!r}")
    norm = check_norm(name, norm)
    x = real_operand(name, x, "Transform z.real and z.imag")
    dims = along(name, x, dim)
    x = resized(name, x, wanted_sizes(name, x, dims, n))
    kind, order = _INVERSE[type_] if inverse else type_, x.dims
    for d in dims:
        size = static_size(name, x, d)
        if kind == 1 and not sines and size < 2:
            raise fail(SizeError, name, f"type 1 needs at least two elements, and dim {d!r} has {size}", x)
        count = 2 * (size + (0 if kind != 1 else 1 if sines else -1))
        ends = (0, size - 1) if kind == 1 and not sines else (size - 1,) if sines else (0,)
        if norm == "ortho" and (kind == 3 or (kind == 1 and not sines)):
            x = _at(x, d, ends, math.sqrt(2))
        x = (_SINES if sines else _COSINES)[kind](x, d, size)
        if norm == "ortho":
            if kind == 2 or (kind == 1 and not sines):
                x = _at(x, d, ends, math.sqrt(0.5))
            x = _scaled(x, 1 / math.sqrt(count))
        elif (norm == "backward") == inverse:
            x = _scaled(x, 1 / count)
    return reorder(x, order)


@op(name="fft.dct")
def dct(x: ArrayLike, /, dim: Dims = None, *, type: int = 2, n: Sizes = None, norm: str | None = None) -> Array:
    """Returns the discrete cosine transform of a real array along `dim`, of type 1, 2, 3 or 4.

    Type 2 is the sum over t of 2 x[t] cos(pi k (2 t + 1) / (2 n)). Types, `norm` and `n` are those of scipy.fft.dct:
    "ortho" makes the transform orthogonal. Several dims are transformed one after another. `n` is a number, or a dict
    by dim. The result has the dims of `x`.

    Raises:
        DimensionError: `x` does not have `dim`, or `n` names another one.
        SizeError: a size of `n` is below 1.
        ArgumentError: `type` is not 1, 2, 3 or 4, or `norm` is another word.
        DTypeError: `x` is complex.

    Example:
    >>> xt.fft.dct(xt.array([1.0, 1.0], "time"), "time")
    <xtensor.Array (time: 2) float64>
    [4. 0.]
    """
    return _transformed("fft.dct", x, type, dim, n, norm, False, False)


@op(name="fft.idct")
def idct(x: ArrayLike, /, dim: Dims = None, *, type: int = 2, n: Sizes = None, norm: str | None = None) -> Array:
    """Returns the inverse of `dct` of the same type and norm.

    Raises:
        DimensionError: `x` does not have `dim`, or `n` names another one.
        SizeError: a size of `n` is below 1.
        ArgumentError: `type` is not 1, 2, 3 or 4, or `norm` is another word.
        DTypeError: `x` is complex.

    Example:
    >>> xt.fft.idct(xt.fft.dct(xt.array([1.0, 3.0], "time"))).values.round(6)
    array([1., 3.])
    """
    return _transformed("fft.idct", x, type, dim, n, norm, False, True)


@op(name="fft.dst")
def dst(x: ArrayLike, /, dim: Dims = None, *, type: int = 2, n: Sizes = None, norm: str | None = None) -> Array:
    """Returns the discrete sine transform of a real array along `dim`, of type 1, 2, 3 or 4.

    Type 2 is the sum over t of 2 x[t] sin(pi (k + 1) (2 t + 1) / (2 n)). Other arguments are those of `dct`. The result
    has the dims of `x`.

    Raises:
        DimensionError: `x` does not have `dim`, or `n` names another one.
        SizeError: a size of `n` is below 1.
        ArgumentError: `type` is not 1, 2, 3 or 4, or `norm` is another word.
        DTypeError: `x` is complex.

    Example:
    >>> xt.fft.dst(xt.array([1.0, -1.0], "time"), "time").values.round(6)
    array([0., 4.])
    """
    return _transformed("fft.dst", x, type, dim, n, norm, True, False)


@op(name="fft.idst")
def idst(x: ArrayLike, /, dim: Dims = None, *, type: int = 2, n: Sizes = None, norm: str | None = None) -> Array:
    """Returns the inverse of `dst` of the same type and norm.

    Raises:
        DimensionError: `x` does not have `dim`, or `n` names another one.
        SizeError: a size of `n` is below 1.
        ArgumentError: `type` is not 1, 2, 3 or 4, or `norm` is another word.
        DTypeError: `x` is complex.

    Example:
    >>> xt.fft.idst(xt.fft.dst(xt.array([1.0, 3.0], "time"))).values.round(6)
    array([1., 3.])
    """
    return _transformed("fft.idst", x, type, dim, n, norm, True, True)
