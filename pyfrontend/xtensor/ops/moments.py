"""Variances of sliding windows, merged from those of shorter windows that neighbours share.

The squares of a window are those inside of its parts, and those of the parts' means around the mean of all. All terms
are positive: nothing cancels. Source: Chan, Golub and LeVeque, "Algorithms for computing the sample variance", 1983.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from ..trace import build
from ..trace.tracer import Tracer
from . import promotion as p
from .arguments import fresh, static_size

# No longer window is cut into parts, nor into more of them. A loop over memory takes the time of so many operations.
_SHORT, _LOOP = 12, 8


@cache
def _cut(size: int) -> tuple[int, int]:
    """Into how many parts a window is cut, and the operations that it takes then."""
    if size <= _SHORT:
        return 1, size + _LOOP
    costs = {}
    for parts in range(2, _SHORT + 1):
        rest = size % parts
        costs[parts] = _cut(size // parts)[1] + parts + _LOOP + (_cut(rest)[1] if rest > 1 else rest)
    best = min(costs, key=costs.__getitem__)
    return best, costs[best]


@dataclass(frozen=True)
class Moments:
    """How many elements there are, their mean, and the sum of their squares around it. No squares: of one element."""

    count: Tracer
    mean: Tracer
    squares: Tracer | None = None

    def windows(self, sizes: Mapping[str, int]) -> Moments:
        """Those of each whole window."""
        y = self
        for dim, size in sizes.items():
            y = y._along(dim, size)
        return y

    def variance(self) -> Tracer:
        """The mean of the squares; 0 of no elements."""
        return p.zero(self.mean.dtype) if self.squares is None else build.binary("div", self.squares, _some(self.count))

    def _along(self, dim: str, size: int) -> Moments:
        length = static_size("window", self.mean, dim)
        parts, _ = _cut(size)
        # Where there are few windows, the parts would be more work than the windows.
        if parts == 1 or length < 2 * size:
            return self._joined(dim, size, 1)
        part, rest = divmod(size, parts)
        y = self._slice(dim, 0, length - rest)._along(dim, part)._joined(dim, parts, part)
        if not rest:
            return y
        start = size - rest
        return y._with(self._slice(dim, start, length - start)._along(dim, rest))

    def _slice(self, dim: str, start: int, length: int) -> Moments:
        return self._each(lambda x: build.slice(x, {dim: (start, length, 1)}) if dim in x.dims else x)

    def _joined(self, dim: str, size: int, dilation: int) -> Moments:
        """Of `size` neighbours, `dilation` apart."""
        into = fresh([*self.mean.dims, *self.count.dims], "part")
        y = self._each(lambda x: build.window(x, dim, into, size, 1, dilation) if dim in x.dims else x)
        if dim in self.count.dims:
            count = build.reduce("sum", y.count, (into,))
            total = build.reduce("sum", build.binary("mul", y.mean, y.count), (into,))
            mean = build.binary("div", total, _some(count))
        else:
            places = p.constant(size, self.count.dtype)
            count = build.binary("mul", self.count, places)
            mean = build.binary("div", build.reduce("sum", y.mean, (into,)), places)
        around = build.binary("sub", y.mean, mean)
        squares = build.binary("mul", build.binary("mul", around, around), y.count)
        if y.squares is not None:
            squares = build.binary("add", squares, y.squares)
        return Moments(count, mean, build.reduce("sum", squares, (into,)))

    def _with(self, other: Moments) -> Moments:
        """Of both together."""
        count = build.binary("add", self.count, other.count)
        apart = build.binary("sub", other.mean, self.mean)
        share = build.binary("div", other.count, _some(count))
        mean = build.binary("add", self.mean, build.binary("mul", apart, share))
        weight = build.binary("mul", self.count, share)
        squares = build.binary("mul", build.binary("mul", apart, apart), weight)
        for inside in (self.squares, other.squares):
            squares = squares if inside is None else build.binary("add", squares, inside)
        return Moments(count, mean, squares)

    def _each(self, f: Callable[[Tracer], Tracer]) -> Moments:
        return Moments(f(self.count), f(self.mean), None if self.squares is None else f(self.squares))


def _some(count: Tracer) -> Tracer:
    """At least 1, to divide by."""
    return build.binary("maximum", count, p.constant(1, count.dtype)) if count.dims else count
