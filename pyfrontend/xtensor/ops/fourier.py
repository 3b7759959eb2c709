"""Fourier transforms along named dims: `xt.fft`, apart from those of cosines and sines (cosines.py)."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ..base import dtypes
from ..base.errors import ArgumentError, DimensionError, DTypeError, SizeError
from ..call.dispatch import op
from ..trace import build
from ..trace.tracer import Tracer
from . import promotion as p
from .arguments import dims_of, fail, integer, is_static, size_of, static_size
from .types import Array, ArrayLike, Dims

NORMS = ("backward", "ortho", "forward")
Sizes = int | Mapping[str, int] | None


def operand(x: ArrayLike) -> Tracer:
    """`x` in floats or complex numbers of 32 or 64 bits each."""
    x = p.as_mean(x)
    return p.cast(x, p.accumulator(x.dtype))


def complex_operand(x: ArrayLike) -> Tracer:
    x = operand(x)
    return p.cast(x, dtypes.complex_of(x.dtype))


def real_operand(name: str, x: ArrayLike, instead: str) -> Tracer:
    x = operand(x)
    if x.dtype.kind == "c":
        raise fail(DTypeError, name, "takes real arrays", x, instead=instead)
    return x


def along(name: str, x: Tracer, dim: Dims) -> tuple[str, ...]:
    """The dims to transform, of which there is at least one, and none of which is empty."""
    dims = dims_of(name, x, dim)
    if not dims:
        raise fail(DimensionError, name, "there is no dim to transform along", x, instead='Write dim="time"')
    for d in dims:
        if is_static(x, d) and int(x.sizes[d]) == 0:
            raise fail(SizeError, name, f"dim {d!r} has size 0, and a transform needs at least one element", x)
    return dims


def wanted_sizes(name: str, x: Tracer, dims: tuple[str, ...], n: Sizes) -> dict[str, int]:
    """`n` by dim."""
    if n is None:
        return {}
    if not isinstance(n, Mapping):
        if len(dims) > 1:
            raise fail(
                ArgumentError, name, f"n is one number for several dims, {dims}", x,
                instead=f'Write n={{"{dims[0]}": {n!r}}}',
            )  # fmt: skip
        n = {dims[0]: n}
    found = {}
    for d, size in n.items():
        if d not in dims:
            raise fail(DimensionError, name, f"n has a size for {d!r}, and the transform is along {dims}", x)
        found[d] = integer(name, size, f"the size of {d!r} in n")
        if found[d] < 1:
            raise fail(SizeError, name, f"n is {found[d]} along {d!r}, and a transform needs at least one element", x)
    return found


def resized(name: str, x: Tracer, sizes: Mapping[str, int]) -> Tracer:
    """`x` cut at its ends, or with zeros behind them."""
    have = {d: static_size(name, x, d) for d in sizes}
    cut = {d: (0, n, 1) for d, n in sizes.items() if n < have[d]}
    more = {d: (0, n - have[d], 0) for d, n in sizes.items() if n > have[d]}
    if cut:
        x = build.slice(x, cut)
    return build.pad(x, p.zero(x.dtype), more) if more else x


def factor(name: str, norm: str | None, count: float, backward: bool) -> float:
    """What a transform of `count` numbers is multiplied by."""
    norm = check_norm(name, norm)
    if norm == "ortho":
        return 1 / math.sqrt(count)
    return 1 / count if (norm == "backward") == backward else 1.0


def check_norm(name: str, norm: str | None) -> str:
    if norm is not None and norm not in NORMS:
        raise fail(ArgumentError, name, f"norm is one of {NORMS}, not {norm!r}")
    return norm or "backward"


# -- of complex numbers -----------------------------------------------------------------------------------------------


def _complex(name: str, x: ArrayLike, dim: Dims, n: Sizes, norm: str | None, backward: bool) -> Tracer:
    x = operand(x)
    dims = along(name, x, dim)
    x = complex_operand(resized(name, x, wanted_sizes(name, x, dims, n)))
    kind = "backward" if backward else "forward"
    if all(is_static(x, d) for d in dims):
        count = math.prod(int(x.sizes[d]) for d in dims)
        return build.fourier(kind, x, dims, factor(name, norm, count, backward))
    y = build.fourier(kind, x, dims)
    if factor(name, norm, 4, backward) == 1:
        return y
    total = p.constant(1, dtypes.real_of(y.dtype))
    for d in dims:
        size = size_of(x, d)
        known = p.cast(size, total.dtype) if isinstance(size, Tracer) else p.constant(size, total.dtype)
        total = build.binary("mul", total, known)
    if check_norm(name, norm) == "ortho":
        total = build.unary("sqrt", total)
    return build.binary("div", y, p.cast(total, y.dtype))


@op(name="fft.fft")
def fft(x: ArrayLike, /, dim: Dims = None, *, n: Sizes = None, norm: str | None = None) -> Array:
    """Returns the discrete Fourier transform of `x` along `dim`, as a complex array with the dims of `x`.

    The value at k is the sum over t of x[t] exp(-2 pi i k t / n). Several dims, or all of them for None, are
    transformed one after another. `n` cuts `x` to a size, or adds zeros behind it: a number, or a dict by dim. `norm`
    is "backward", "ortho" (divides by sqrt(n)) or "forward" (divides by n). float32 gives complex64, and float64 and
    integers give complex128.

    Raises:
        DimensionError: `x` does not have `dim`, or `n` names another one.
        SizeError: a size of `n` is below 1.
        ArgumentError: `norm` is another word.

    Example:
    >>> xt.fft.fft(xt.array([1.0, 2.0], "time"), "time")
    <xtensor.Array (time: 2) complex128>
    [ 3.+0.j -1.+0.j]
    """
    return _complex("fft.fft", x, dim, n, norm, False)


@op(name="fft.ifft")
def ifft(x: ArrayLike, /, dim: Dims = None, *, n: Sizes = None, norm: str | None = None) -> Array:
    """Returns the inverse of `fft`: the same arguments and the same `norm` give back `x`.

    Raises:
        DimensionError: `x` does not have `dim`, or `n` names another one.
        SizeError: a size of `n` is below 1.
        ArgumentError: `norm` is another word.

    Example:
    >>> xt.fft.ifft(xt.array([1.0, 1.0], "time"), "time")
    <xtensor.Array (time: 2) complex128>
    [1.+0.j 0.+0.j]
    """
    return _complex("fft.ifft", x, dim, n, norm, True)


# -- from and to real numbers -----------------------------------------------------------------------------------------


@op(name="fft.rfft")
def rfft(x: ArrayLike, /, dim: Dims = None, *, n: Sizes = None, norm: str | None = None) -> Array:
    """Returns the first n // 2 + 1 values of `fft` along the last one of the dims `dim`, of a real array.

    The others are conjugates of these. Along the other dims all values are there. `n` and `norm` are those of `fft`. Of
    xt.fft.rfft(x, ("y", "x")) the size along x is n // 2 + 1.

    Raises:
        DimensionError: `x` does not have `dim`, or `n` names another one.
        SizeError: a size of `n` is below 1.
        ArgumentError: `norm` is another word.
        DTypeError: `x` is complex.

    Example:
    >>> xt.fft.rfft(xt.array([1.0, 0.0, 0.0, 0.0], "time"), "time")
    <xtensor.Array (time: 3) complex128>
    [1.+0.j 1.+0.j 1.+0.j]
    """
    x = real_operand("fft.rfft", x, "Write xt.fft.fft(z)")
    return _from_real("fft.rfft", x, dim, n, norm, False)


def _from_real(name: str, x: Tracer, dim: Dims, n: Sizes, norm: str | None, backward: bool) -> Tracer:
    dims = along(name, x, dim)
    x = resized(name, x, wanted_sizes(name, x, dims, n))
    count = math.prod(static_size(name, x, d) for d in dims)
    return build.fourier("real", x, dims, factor(name, norm, count, backward))


@op(name="fft.irfft")
def irfft(x: ArrayLike, /, dim: Dims = None, *, n: Sizes = None, norm: str | None = None) -> Array:
    """Returns the inverse of `rfft`, a real array.

    Along the last one of the dims `dim`, the result has the size given by `n`, or 2 (m - 1) for m values. Give n
    where the real array had an odd size: xt.irfft(z, "time", n=101).

    Raises:
        DimensionError: `x` does not have `dim`, or `n` names another one.
        SizeError: a size of `n` is below 1.
        ArgumentError: `norm` is another word.

    Example:
    >>> xt.fft.irfft(xt.fft.rfft(xt.array([1.0, 2.0, 4.0], "time")), n=3).values.round(6)
    array([1., 2., 4.])
    """
    return _to_real("fft.irfft", complex_operand(x), dim, n, norm, True)


def _to_real(name: str, x: Tracer, dim: Dims, n: Sizes, norm: str | None, backward: bool) -> Tracer:
    dims = along(name, x, dim)
    sizes = wanted_sizes(name, x, dims, n)
    last = dims[-1]
    size = sizes.get(last, 2 * (static_size(name, x, last) - 1))
    if size < 1:
        raise fail(
            SizeError, name, f"one value along {last!r} gives no real numbers", x,
            instead=f'Give their count: n={{"{last}": 1}}',
        )  # fmt: skip
    x = resized(name, x, {**sizes, last: size // 2 + 1})
    count = size * math.prod(static_size(name, x, d) for d in dims[:-1])
    return build.fourier("hermitian", x, dims, factor(name, norm, count, backward), size)


@op(name="fft.hfft")
def hfft(x: ArrayLike, /, dim: Dims = None, *, n: Sizes = None, norm: str | None = None) -> Array:
    """Returns the `fft` of an array whose second half is the conjugate of its first one, which is given. It is real.

    `n` is the size of the result along the last one of the dims `dim`: by default 2 (m - 1) for m values.

    Raises:
        DimensionError: `x` does not have `dim`, or `n` names another one.
        SizeError: a size of `n` is below 1.
        ArgumentError: `norm` is another word.

    Example:
    >>> xt.fft.hfft(xt.array([1.0, 1.0, 1.0], "time"), "time")
    <xtensor.Array (time: 4) float64>
    [4. 0. 0. 0.]
    """
    x = build.conj(complex_operand(x))
    return _to_real("fft.hfft", x, dim, n, norm, False)


@op(name="fft.ihfft")
def ihfft(x: ArrayLike, /, dim: Dims = None, *, n: Sizes = None, norm: str | None = None) -> Array:
    """Returns the inverse of `hfft`: the first n // 2 + 1 values of the `ifft` of a real array.

    Raises:
        DimensionError: `x` does not have `dim`, or `n` names another one.
        SizeError: a size of `n` is below 1.
        ArgumentError: `norm` is another word.
        DTypeError: `x` is complex.

    Example:
    >>> xt.fft.ihfft(xt.array([4.0, 0.0, 0.0, 0.0], "time"), "time").real
    <xtensor.Array (time: 3) float64>
    [1. 1. 1.]
    """
    x = real_operand("fft.ihfft", x, "Write xt.fft.ifft(z)")
    return build.conj(_from_real("fft.ihfft", x, dim, n, norm, True))
