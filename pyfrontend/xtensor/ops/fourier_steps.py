"""Fourier transforms as contractions with small matrices, so that they run wherever contractions do.

If n = a * m, the position t is t1 m + t2, and k is k1 + a k2. The transform goes along t1, multiplies by
exp(-2 pi i k1 t2 / n), and goes along t2. A size without a small factor is a convolution with exp(pi i t^2 / n), as
Bluestein found, by transforms of a power of two.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from ..base import dtypes
from ..trace import build
from ..trace.tracer import Tracer
from . import promotion as p
from .arguments import fresh, reorder

# The largest matrix that a composite size is split by, and the largest one of a prime size.
_SPLIT, _PRIME = 32, 64
# From so many elements on, the factors of a split are a product of two tables.
_TABLE = 1 << 12


def roots(numbers: np.ndarray, n: int) -> np.ndarray:
    """exp(2 pi i j / n) of integers j, from angles of at most an eighth of a turn."""
    j = np.mod(numbers, n)
    quarter = (j * 8 // n + 1) // 2
    rest = (4.0 * j - quarter * float(n)) / (4.0 * n)
    return np.exp(2j * np.pi * rest) * np.asarray([1, 1j, -1, -1j])[quarter % 4]


def divisor(n: int) -> int:
    """The largest divisor of n up to _SPLIT, else the least one up to _PRIME; 1 if there is none."""
    for d in (*range(min(_SPLIT, n), 1, -1), *range(_SPLIT + 1, min(_PRIME, n) + 1)):
        if n % d == 0:
            return d
    return 1


@functools.lru_cache(maxsize=64)
def _filter(n: int, m: int, sign: int) -> tuple[np.ndarray, np.ndarray]:
    """Bluestein's exp(sign pi i t^2 / n), and the transform of its conjugate over m positions, divided by m."""
    t = np.arange(n, dtype=np.int64)
    chirp = roots(sign * (t * t % (2 * n)), 2 * n)
    kernel = np.zeros(m, complex)
    kernel[:n] = chirp.conj()
    kernel[m - n + 1 :] = chirp[1:][::-1].conj()
    return chirp, np.fft.fft(kernel) / m


class _Steps:
    """Transforms of one direction along dims of an array that gets constants of its dtype."""

    def __init__(self, sign: int, dtype: dtypes.DType) -> None:
        self.sign, self.dtype = sign, dtypes.complex_of(dtype)

    def constant(self, values: np.ndarray, *dims: str) -> Tracer:
        return build.constant(values.astype(self.dtype), dims)

    def times(self, x: Tracer, values: np.ndarray, *dims: str) -> Tracer:
        return build.binary("mul", x, self.constant(values, *dims))

    def along(self, x: Tracer, dim: str) -> Tracer:
        n = int(x.sizes[dim])
        a = divisor(n)
        if n <= 1:
            return p.cast(x, self.dtype)
        if a == n:
            return self.by_matrix(x, dim)
        return self.by_chirp(x, dim) if a == 1 else self.by_split(x, dim, a)

    def by_matrix(self, x: Tracer, dim: str) -> Tracer:
        n, to = int(x.sizes[dim]), fresh(x.dims, "frequency")
        t = np.arange(n)
        matrix = self.constant(roots(self.sign * np.outer(t, t), n), dim, to)
        y = build.contract([p.cast(x, self.dtype), matrix], (dim,))
        return build.rename(y, {to: dim})

    def by_split(self, x: Tracer, dim: str, a: int) -> Tracer:
        n = int(x.sizes[dim])
        first = fresh(x.dims, "first")
        second = fresh((*x.dims, first), "second")
        x = build.split(x, dim, {first: a, second: n // a})
        x = self.turned(self.by_matrix(x, first), first, second, n)
        return build.merge(self.along(x, second), (second, first), dim)

    def turned(self, x: Tracer, first: str, second: str, n: int) -> Tracer:
        """Times exp(sign 2 pi i k1 t2 / n)."""
        a, m = int(x.sizes[first]), int(x.sizes[second])
        k, t = np.arange(a)[:, None], np.arange(m)
        outer = max((d for d in range(1, int(m**0.5) + 1) if m % d == 0), default=1) if n > _TABLE else 1
        if outer == 1:
            return self.times(x, roots(self.sign * k * t, n), first, second)
        inner = m // outer
        high = fresh(x.dims, "high")
        low = fresh((*x.dims, high), "low")
        x = build.split(x, second, {high: outer, low: inner})
        x = self.times(x, roots(self.sign * k * t[:outer] * inner, n), first, high)
        x = self.times(x, roots(self.sign * k * t[:inner], n), first, low)
        return build.merge(x, (high, low), second)

    def by_chirp(self, x: Tracer, dim: str) -> Tracer:
        n = int(x.sizes[dim])
        m = 1 << (2 * n - 2).bit_length()
        chirp, kernel = _filter(n, m, self.sign)
        x = self.times(p.cast(x, self.dtype), chirp, dim)
        x = build.pad(x, p.zero(self.dtype), {dim: (0, m - n, 0)})
        x = self.times(_Steps(-1, self.dtype).along(x, dim), kernel, dim)
        x = build.slice(_Steps(1, self.dtype).along(x, dim), {dim: (0, n, 1)})
        return self.times(x, chirp, dim)


def transform(kind: str, x: Tracer, dims: Sequence[str], scale: float = 1.0, size: int | None = None) -> Tracer:
    """`scale` times the Fourier transform along `dims`, in the order of the dims of `x`. forward and backward: of a
    complex array. real: from a real array to the first half along the last one of `dims`. hermitian: from such a half
    to `size` real numbers."""
    steps = _Steps(-1 if kind in ("forward", "real") else 1, x.dtype)
    order, last = x.dims, dims[-1]
    if scale != 1:
        x = build.binary("mul", x, p.constant(scale, x.dtype))
    if kind == "real":
        x = build.slice(steps.along(x, last), {last: (0, int(x.sizes[last]) // 2 + 1, 1)})
    for d in dims if kind in ("forward", "backward") else dims[:-1]:
        x = steps.along(x, d)
    if kind == "hermitian":
        assert size is not None
        # Each number but those that are their own conjugates stands for two.
        weights = np.full(size // 2 + 1, 2.0)
        weights[0] = 1
        if size % 2 == 0:
            weights[-1] = 1
        x = steps.times(x, weights, last)
        x = build.pad(x, p.zero(x.dtype), {last: (0, size - (size // 2 + 1), 0)})
        x = build.real(steps.along(x, last))
    return reorder(x, order)
