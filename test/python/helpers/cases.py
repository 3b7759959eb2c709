"""What a case of a derivative is: a function, where it is differentiated, and the gradients that are known there."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import xtensor as xt


@dataclass(frozen=True)
class Arg:
    """A float64 argument: values spread over [lo, hi], all different, in random order."""

    sizes: dict[str, int]
    lo: float = -1.6
    hi: float = 1.7
    grid: float = 0.0  # multiples of it, where differences must be exact in a narrow dtype
    at: Any = None  # these values instead

    def values(self, rng: np.random.Generator) -> np.ndarray:
        if self.at is not None:
            return np.asarray(self.at)
        n = math.prod(self.sizes.values())
        spread = np.linspace(self.lo, self.hi, n) if n > 1 else np.full(n, 0.3 * self.lo + 0.7 * self.hi)
        spread = spread + rng.uniform(-0.05, 0.05, n) * (self.hi - self.lo) / max(n, 1)
        if self.grid:
            spread = np.round(spread / self.grid) * self.grid
        return rng.permutation(spread).reshape(tuple(self.sizes.values()))

    def array(self, rng: np.random.Generator) -> xt.Array:
        return xt.array(self.values(rng), tuple(self.sizes))


@dataclass(frozen=True)
class Exact:
    """Gradients by each argument at `at` for the cotangent `ct` of the only result."""

    at: list[Any]
    ct: Any
    gradients: list[Any]


@dataclass(frozen=True)
class Case:
    name: str
    f: Callable[..., Any]
    args: tuple[Arg, ...]
    step: float = 1e-3
    dynamic: tuple[str, ...] = ()
    """Dims that may be of any size when the function is compiled."""
    open: bool = False
    """There is no such function of known sizes."""
    smooth: bool = True
    """Differences tell its derivatives where the arguments are. If not, only `exact` does."""
    exact: tuple[Exact, ...] = ()
    public: bool = True
    """A function of public functions, and not an op by itself."""

    def primals(self) -> list[xt.Array]:
        rng = np.random.default_rng(zlib.crc32(self.name.encode()))
        return [a.array(rng) for a in self.args]

    def arrays(self, values: list[Any]) -> list[xt.Array]:
        """Other values of the arguments."""
        return [xt.array(np.asarray(v, np.float64), tuple(a.sizes)) for a, v in zip(self.args, values, strict=True)]
