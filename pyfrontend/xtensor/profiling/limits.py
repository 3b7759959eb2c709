"""What a machine can do at most, measured: bytes of memory in a second, and arithmetic in a second."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..ops.contraction import dot
from ..ops.creation import ones
from ..ops.reductions import sum as sum_
from ..transforms.control import fori_loop
from ..transforms.jit import jit
from ..values.options import option, profiled

_ELEMENTS = 1 << 24  # of float32
_TIMES = 4  # that something long is measured; short things are measured for about as long together
_SIDES = {256: 40, 512: 12, 1024: _TIMES}  # of matrices, and how often they are multiplied
_CACHED = tuple(1 << k for k in (12, 14, 16, 18, 20, 22))  # elements of arrays that caches may hold
_MOST = 3  # times that a device is measured
_known: dict[str, list[Limits]] = {}  # by the device: each measurement


@dataclass(frozen=True)
class Limits:
    """bytes: read and written in a second by `x + 1`, or read by a sum, of 64 MB. flops: in a second, by products of
    float32 matrices with 256 to 1,024 rows and columns. levels: (bytes, bytes in a second) of arrays that fit into
    caches, the smallest first."""

    bytes: float
    flops: float
    levels: tuple[tuple[float, float], ...] = ()

    def bytes_of(self, each: float) -> float:
        """The bytes in a second where a run moves `each` bytes: those of the caches that hold as much. Between two
        levels their geometric interpolation, as a cache holds a part."""
        levels = (*self.levels, (8.0 * _ELEMENTS, self.bytes))
        above = bisect_right(levels, each, key=lambda level: level[0])
        if above in (0, len(levels)):
            return levels[min(above, len(levels) - 1)][1]
        (low, fast), (high, slow) = levels[above - 1 : above + 1]
        part = (each / low - 1) / (high / low - 1)
        return float(fast * (slow / fast) ** part)


def limits_of(device: str) -> Limits:
    """Those of the CPU's threads, or of a device: the best of what was measured. The first call takes about half a
    second."""
    found = _known.get(device) or _known.setdefault(device, [_measured(device)])
    moved = rate = max(limits.bytes for limits in found)
    levels: list[tuple[float, float]] = []
    for level in reversed([*zip(*(limits.levels for limits in found), strict=True)]):
        rate = max(rate, *(r for _, r in level))  # fewer bytes are not slower
        levels.insert(0, (level[0][0], rate))
    return Limits(moved, max(limits.flops for limits in found), tuple(levels))


def measured_again(device: str) -> bool:
    """Measures once more, for a kernel that was faster than the limits: other programs may have slowed the machine down
    meanwhile. False if that was done often enough."""
    found = _known.get(device, [])
    if not found or len(found) >= _MOST:
        return False
    found.append(_measured(device))
    return True


def _measured(device: str) -> Limits:
    with profiled(False), option(device=device, jit=True, nan="allow", log=None, deterministic=False):
        large = ones(i=_ELEMENTS, dtype="f4")
        seconds = min(_fastest(lambda x: x + 1.0, large), 2 * _fastest(sum_, large))
        sides = _SIDES if device == "cpu" else {1024: _TIMES}  # a device starts small products slowly
        flops = max(2 * n**3 / _fastest(_product, ones(i=n, j=n, dtype="f4"), times) for n, times in sides.items())
        levels = tuple((8.0 * n, _rate_in_caches(n)) for n in _CACHED) if device == "cpu" else ()
    return Limits(8 * _ELEMENTS / seconds, flops, levels)


def _product(x: Any) -> Any:
    return dot(x, x.rename(i="j", j="k"))


def _rate_in_caches(elements: int) -> float:
    """Bytes in a second of `x + 1` again and again, of an array in caches."""
    steps = _ELEMENTS // 4 // elements
    seconds = _fastest(lambda x: fori_loop(0, steps, lambda _, y: y + 1.0, x), ones(i=elements, dtype="f4"), 20)
    return 8 * elements * steps / seconds


def _fastest(f: Callable[[Any], Any], x: Any, times: int = _TIMES) -> float:
    """Seconds of the fastest run: the shorter a run is, the less other programs disturb it."""

    @jit
    def with_corner(x: Any) -> Any:
        y = f(x)
        return y, y.isel(dict.fromkeys(y.dims, 0))

    found = []
    for _ in range(times + 1):  # the first one compiles
        begin = time.perf_counter()
        _, corner = with_corner(x)
        corner.item()  # waits for a device, and copies one number
        found.append(time.perf_counter() - begin)
    return min(found[1:])
