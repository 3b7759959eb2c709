"""Variances of sliding windows, merged from those of shorter windows that neighbours share.

The squares of a window are those inside of its parts, and those of the parts' means around the mean of all: no large
numbers cancel.
Source: Chan, Golub and LeVeque, "Algorithms for computing the sample variance", 1983.
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
    """How many elements there are, their mean, and the sum of their squares around it.

    The mean is `mean` more than `origin`, a value near it: far from 0, one number has few digits of what elements
    differ by. A variance does not depend on origins, so its derivatives do not, either. One element is its own origin.
    """

    count: Tracer
    origin: Tracer
    mean: Tracer | None = None
    squares: Tracer | None = None

    def windows(self, sizes: Mapping[str, int]) -> Moments:
        """Those of each whole window."""
        y = self
        for dim, size in sizes.items():
            y = y._along(dim, size)
        return y

    def variance(self) -> Tracer:
        """The mean of the squares; 0 of no elements."""
        if self.squares is None:
            return p.zero(self.origin.dtype)
        return build.binary("div", self.squares, _some(self.count))

    def _along(self, dim: str, size: int) -> Moments:
        length = static_size("window", self.origin, dim)
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
        into = fresh([*self.origin.dims, *self.count.dims], "part")
        y = self._each(lambda x: build.window(x, dim, into, size, 1, dilation) if dim in x.dims else x)
        if dim in self.count.dims:
            return y._of_unequal(into)
        length = static_size("window", self.origin, dim) - (size - 1) * dilation
        return y._of_equal(into, size, self._slice(dim, 0, length))

    def _of_equal(self, into: str, size: int, begin: Moments) -> Moments:
        """Of parts of one count. Short windows are read once.

        The first part is the origin of all. So the squares of n parts are at most n times those around their mean, and
        few digits cancel.
        """
        first = build.stop_gradient(begin.origin)
        apart = self._from(first)
        if begin.mean is not None:
            apart = build.binary("sub", apart, begin.mean)
        places = p.constant(size, self.count.dtype)
        total = build.reduce("sum", apart, (into,))
        mean = build.binary("div", total, places)
        if size > _SHORT:
            apart = build.binary("sub", apart, mean)
        squares = build.reduce("sum", build.binary("mul", apart, apart), (into,))
        if size <= _SHORT:
            squares = build.binary("sub", squares, build.binary("mul", total, mean))
        squares = build.binary("mul", squares, self.count)
        if begin.mean is not None:
            mean = build.binary("add", begin.mean, mean)
        return Moments(build.binary("mul", self.count, places), first, mean, self._and_inner(into, squares))

    def _of_unequal(self, into: str) -> Moments:
        """Of parts that may have no elements, around a rounded mean, and corrected by what that lacks."""
        count = build.reduce("sum", self.count, (into,))
        total = build.reduce("sum", build.binary("mul", build.stop_gradient(self.origin), self.count), (into,))
        origin = build.binary("div", total, _some(count))
        apart = self._from(origin)
        weighted = build.binary("mul", apart, self.count)
        total = build.reduce("sum", weighted, (into,))
        mean = build.binary("div", total, _some(count))
        squares = build.reduce("sum", build.binary("mul", weighted, apart), (into,))
        squares = build.binary("sub", squares, build.binary("mul", total, mean))
        return Moments(count, origin, mean, self._and_inner(into, squares))

    def _and_inner(self, into: str, around: Tracer) -> Tracer:
        """The squares of parts around the mean of all, and those inside of the parts."""
        if self.squares is None:
            return around
        return build.binary("add", around, build.reduce("sum", self.squares, (into,)))

    def _from(self, origin: Tracer) -> Tracer:
        """The mean, counted from another origin."""
        apart = build.binary("sub", self.origin, origin)
        return apart if self.mean is None else build.binary("add", apart, self.mean)

    def _with(self, other: Moments) -> Moments:
        """Of both together; `self` has several elements."""
        assert self.mean is not None
        origin = build.stop_gradient(self.origin)
        count = build.binary("add", self.count, other.count)
        apart = build.binary("sub", other._from(origin), self.mean)
        share = build.binary("div", other.count, _some(count))
        mean = build.binary("add", self.mean, build.binary("mul", apart, share))
        weight = build.binary("mul", self.count, share)
        squares = build.binary("mul", build.binary("mul", apart, apart), weight)
        for inside in (self.squares, other.squares):
            squares = squares if inside is None else build.binary("add", squares, inside)
        return Moments(count, origin, mean, squares)

    def _each(self, f: Callable[[Tracer], Tracer]) -> Moments:
        count, origin = f(self.count), f(self.origin)
        return Moments(count, origin, *(None if v is None else f(v) for v in (self.mean, self.squares)))


def _some(count: Tracer) -> Tracer:
    """At least 1, to divide by."""
    return build.binary("maximum", count, p.constant(1, count.dtype)) if count.dims else count
