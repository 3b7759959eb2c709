"""Elementwise functions of one float array: what the tests of accuracy, lowering and derivatives know of them.

A new function of `ElementwiseOps.td` gets a row here. The tests of it on the CPU, on devices and in loops, its
derivatives and the tables of accuracy (scripts/list_bounds.py --write) follow from the row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import mpmath
import numpy as np
import scipy.special

Reference = Callable[..., np.ndarray]
INF = float("inf")


@dataclass(frozen=True)
class Function:
    exact: Reference
    """NumPy's or SciPy's."""
    cpu: tuple[float, float]
    """Bounds of f4 and of f8 in units in the last place."""
    device: tuple[float, float] | None
    """The same of the arithmetic that kernels use, if they have a function of it."""
    between: tuple[float, float] = (-1.55, 1.9)
    """Where it is smooth: there derivatives are compared with differences."""
    avx2: tuple[float, float] | None = None
    """Bounds on the CPU without AVX-512, where vectors go through other code of libmvec, which promises 4."""
    by: str = "libmvec"
    """What computes f4 on the CPU."""
    odd: bool = False
    """f(-0.0) is -0.0."""
    precise: Callable[[mpmath.mpf], mpmath.mpf] | None = None
    """mpmath's, where `exact` has only float64."""
    domain: tuple[float, float] = (-INF, INF)
    """Where the bounds hold, and, with `precise`, arguments of f8 are compared."""

    amplitude: Callable[[np.ndarray], np.ndarray] | None = None
    """What errors are relative to where the function itself is smaller, around its zeros."""
    stride: int = 60
    """Every so many arguments of f8 are compared with mpmath's."""

    def inside(self, x: np.ndarray) -> np.ndarray:
        return x[(x >= self.domain[0]) & (x <= self.domain[1])]


def _erfcinv(x: mpmath.mpf) -> mpmath.mpf:
    """erfinv(1 - x), in which 1 - x has all digits of x."""
    with mpmath.workdps(30 + max(0, -int(mpmath.log10(x)))):
        return mpmath.erfinv(1 - x)


def _odd(function: Reference) -> Reference:
    """`function`, an odd one, with the zeros of the C functions: SciPy's lose the sign."""
    return lambda x: np.copysign(function(np.abs(x)), x)


def _bessel(function: Reference, precise: Callable[[mpmath.mpf], mpmath.mpf]) -> Reference:
    """SciPy's, with the limit at infinity, where it has NaN, and mpmath's far out, where it loses the angle."""

    def exact(x: np.ndarray) -> np.ndarray:
        y = np.array(function(x))
        far = np.isfinite(y) & (np.abs(x) > 1e6)
        with mpmath.workdps(60):
            y[far] = [float(precise(mpmath.mpf(float(v)))) for v in x[far]]
        limit = np.copysign(0.0, x) if function is scipy.special.j1 else 0.0
        return np.where(np.isinf(x) & (np.isposinf(x) | (function not in SECOND_KIND)), limit, y)

    return exact


SECOND_KIND = (scipy.special.y0, scipy.special.y1)


def _wave(x: np.ndarray) -> np.ndarray:
    """The amplitude of Bessel functions."""
    return np.where(np.abs(x) > 0.5, np.sqrt(2 / np.pi / np.maximum(np.abs(x), 1)), 0)


FUNCTIONS: dict[str, Function] = {
    "acos": Function(np.arccos, (3, 2), (1, 1), (-0.8, 0.75), by="polynomial"),
    "acosh": Function(np.arccosh, (2.5, 2.5), (2, 2), (1.3, 3.0)),
    "asin": Function(np.arcsin, (3, 3), (1, 1), (-0.8, 0.75), odd=True),
    "asinh": Function(np.arcsinh, (2, 2), (1.5, 1.5), avx2=(2, 2.5), odd=True),
    "atan": Function(np.arctan, (2, 2), (2, 2), avx2=(2.5, 2), odd=True),
    "atanh": Function(np.arctanh, (2, 2), (1, 1), (-0.8, 0.75), odd=True),
    "cbrt": Function(np.cbrt, (2, 4), (1, 1), avx2=(3, 4), odd=True),
    "cos": Function(np.cos, (2, 4), (1, 1)),
    "cosh": Function(np.cosh, (2.5, 2.5), (1, 1)),
    "digamma": Function(
        scipy.special.digamma,
        (4, 4),
        (4, 4),
        (0.4, 3.0),
        by="arithmetic",
        precise=mpmath.digamma,
        domain=(1e-300, 1e300),
    ),
    "erf": Function(
        scipy.special.erf,
        (2.5, 4),
        (1.5, 1.5),
        avx2=(5, 4),
        odd=True,
        precise=mpmath.erf,
        domain=(-30, 30),
        by="polynomial",
    ),
    "erfc": Function(scipy.special.erfc, (4, 6), (2, 2), precise=mpmath.erfc, domain=(-30, 30)),
    "erfcinv": Function(
        lambda x: scipy.special.erfcinv(x) + 0.0,  # not -0.0 at 1
        (4, 4),
        (4, 4),
        (0.2, 1.8),
        by="arithmetic",
        precise=_erfcinv,
        domain=(1e-100, 2),
    ),
    "erfcx": Function(
        scipy.special.erfcx,
        (4, 4),
        (4, 4),
        by="arithmetic",
        precise=lambda x: mpmath.exp(x * x) * mpmath.erfc(x),
        domain=(-9, 3e4),
    ),
    "erfinv": Function(
        _odd(scipy.special.erfinv),
        (4, 4),
        (4, 4),
        (-0.8, 0.75),
        by="arithmetic",
        odd=True,
        precise=mpmath.erfinv,
        domain=(-1, 1),
    ),
    "exp": Function(np.exp, (2, 3), (1, 1), by="arithmetic"),
    "exp2": Function(np.exp2, (1.5, 2), (1, 1)),
    "expm1": Function(np.expm1, (2, 2), (1.5, 1.5), avx2=(2, 3), odd=True, by="arithmetic"),
    "i0": Function(
        lambda x: np.where(np.isinf(x), INF, scipy.special.i0(x)),  # SciPy's is NaN
        (6, 6),
        (6, 6),
        by="arithmetic",
        precise=lambda x: mpmath.besseli(0, x),
        domain=(-85, 85),
    ),
    "i0e": Function(
        scipy.special.i0e,
        (6, 6),
        (6, 6),
        (0.4, 3.0),
        by="arithmetic",
        precise=lambda x: mpmath.besseli(0, x) * mpmath.exp(-abs(x)),
        domain=(-1e3, 1e3),
    ),
    "i1": Function(
        _odd(lambda x: np.where(np.isposinf(x), INF, scipy.special.i1(x))),  # SciPy's is NaN
        (6, 6),
        (6, 6),
        (0.4, 3.0),
        by="arithmetic",
        odd=True,
        precise=lambda x: mpmath.besseli(1, x),
        domain=(-85, 85),
    ),
    "i1e": Function(
        _odd(scipy.special.i1e),
        (6, 6),
        (6, 6),
        (0.4, 3.0),
        by="arithmetic",
        odd=True,
        precise=lambda x: mpmath.besseli(1, x) * mpmath.exp(-abs(x)),
        domain=(-1e3, 1e3),
    ),
    "j0": Function(
        _bessel(scipy.special.j0, lambda x: mpmath.besselj(0, x)),
        (30, 16),
        (30, 16),
        (0.4, 3.0),
        by="arithmetic",
        precise=lambda x: mpmath.besselj(0, x),
        domain=(-1e3, 1e3),
        amplitude=_wave,
        stride=300,
    ),
    "j1": Function(
        _bessel(scipy.special.j1, lambda x: mpmath.besselj(1, x)),
        (30, 16),
        (30, 16),
        (0.4, 3.0),
        by="arithmetic",
        odd=True,
        precise=lambda x: mpmath.besselj(1, x),
        domain=(-1e3, 1e3),
        amplitude=_wave,
        stride=300,
    ),
    "lgamma": Function(
        lambda x: np.where(np.isneginf(x), INF, scipy.special.gammaln(x)),  # as C's
        (6, 6),
        (6, 6),
        (0.4, 3.0),
        by="arithmetic",
        precise=lambda x: mpmath.loggamma(x).real,
        domain=(1e-300, 1e300),
    ),
    "log": Function(np.log, (1.5, 2), (1, 1), (0.3, 2.4), by="polynomial"),
    "log10": Function(np.log10, (2.5, 2), (1, 1), (0.3, 2.4)),
    "log1p": Function(np.log1p, (3, 2), (1, 1), (-0.6, 2.0), avx2=(3, 2.5), odd=True, by="polynomial"),
    "log2": Function(np.log2, (2, 2), (1, 1), (0.3, 2.4), avx2=(2, 2.5), by="polynomial"),
    "ndtr": Function(scipy.special.ndtr, (4, 8), (4, 4), by="arithmetic", precise=mpmath.ncdf, domain=(-37, 30)),
    "rsqrt": Function(lambda x: 1 / np.sqrt(x), (1.5, 1.5), (1.5, 1.5), (0.3, 2.4), by="division and root"),
    "sin": Function(np.sin, (2, 4), (1, 1), odd=True),
    "sinh": Function(np.sinh, (2, 2), (1, 1), odd=True),
    "sqrt": Function(np.sqrt, (0.5, 0.5), (0.501, 0.501), (0.3, 2.4), odd=True, by="instruction"),
    "tan": Function(np.tan, (3.5, 3.5), (2.5, 2.5), (-1.1, 1.0), odd=True),
    "tanh": Function(np.tanh, (5, 2), (2, 2), odd=True, by="polynomial"),
    "y0": Function(
        _bessel(scipy.special.y0, lambda x: mpmath.bessely(0, x)),
        (30, 16),
        (30, 16),
        (0.4, 3.0),
        by="arithmetic",
        precise=lambda x: mpmath.bessely(0, x),
        domain=(1e-300, 1e3),
        amplitude=_wave,
        stride=300,
    ),
    "y1": Function(
        _bessel(scipy.special.y1, lambda x: mpmath.bessely(1, x)),
        (30, 16),
        (30, 16),
        (0.4, 3.0),
        by="arithmetic",
        precise=lambda x: mpmath.bessely(1, x),
        domain=(1e-300, 1e3),
        amplitude=_wave,
        stride=300,
    ),
}
# Of two arrays, by the name in `xt`.
OF_TWO: dict[str, Function] = {
    "atan2": Function(np.arctan2, (3, 3), (2, 2)),
    "hypot": Function(np.hypot, (2, 2), None, by="scaling and root"),
    "pow": Function(np.power, (2, 2), (1, 1)),
}
