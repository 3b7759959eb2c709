"""What a machine can do at most, measured: bytes of memory in a second, and arithmetic in a second."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..ops.contraction import dot
from ..ops.creation import ones
from ..transforms.jit import jit
from ..values.options import option, profiled

_ELEMENTS, _SIDE, _TIMES = 1 << 24, 1024, 4  # of float32


@dataclass(frozen=True)
class Limits:
    """bytes: read and written in a second by `x + 1` of 64 MB. flops: in a second, by a product of float32 matrices
    with 1,024 rows and columns."""

    bytes: float
    flops: float


@functools.cache
def limits_of(device: str) -> Limits:
    """Those of the CPU's threads, or of a device. Measured once, in some tenths of a second."""
    with profiled(False), option(device=device, jit=True, nan="allow", log=None, deterministic=False):
        seconds = _fastest(lambda x: x + 1.0, ones(i=_ELEMENTS, dtype="f4"))
        product = _fastest(lambda x: dot(x, x.rename(i="j", j="k")), ones(i=_SIDE, j=_SIDE, dtype="f4"))
    return Limits(8 * _ELEMENTS / seconds, 2 * _SIDE**3 / product)


def _fastest(f: Callable[[Any], Any], x: Any) -> float:
    @jit
    def with_corner(x: Any) -> Any:
        y = f(x)
        return y, y.isel(dict.fromkeys(y.dims, 0))

    found = []
    for _ in range(_TIMES + 1):  # the first one compiles
        begin = time.perf_counter()
        _, corner = with_corner(x)
        corner.item()  # waits for a device, and copies one number
        found.append(time.perf_counter() - begin)
    return min(found[1:])
