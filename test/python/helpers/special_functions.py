"""Special functions of several arrays: what the tests of accuracy on the CPU and of kernels know of them.

The references are mpmath's for f8, and SciPy's float64 for f4. The tables of accuracy (scripts/list_bounds.py --write)
have the bounds of these rows.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import mpmath
import numpy as np
import scipy.special

Arrays = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class SpecialFunction:
    exact: Callable[..., np.ndarray]
    """SciPy's."""
    precise: Callable[..., mpmath.mpf]
    """mpmath's."""
    arguments: Callable[[np.random.Generator, int], Arrays]
    cpu: tuple[float, float]
    """Bounds of f4 and of f8 in units in the last place."""
    device: tuple[float, float]
    arity: int = 2
    by: str = "arithmetic"


def shares(rng: np.random.Generator, n: int) -> np.ndarray:
    """Between 0 and 1, with both tails to 1e-9."""
    return 1 / (1 + np.exp(-rng.uniform(-20, 20, n)))


def _gamma_arguments(rng: np.random.Generator, n: int) -> Arrays:
    a = 10 ** rng.uniform(-3, 3, n)
    x = scipy.special.gammaincinv(a, shares(rng, n))
    keep = x > 1e-30
    return a[keep], x[keep]


def _beta_arguments(rng: np.random.Generator, n: int) -> Arrays:
    a, b = 10 ** rng.uniform(-0.5, 2.5, (2, n))
    x = scipy.special.betaincinv(a, b, shares(rng, n))
    keep = (x > 1e-20) & (x < 1 - 1e-6)
    return a[keep], b[keep], x[keep]


SPECIAL: dict[str, SpecialFunction] = {
    "betainc": SpecialFunction(
        scipy.special.betainc,
        lambda a, b, x: mpmath.betainc(a, b, 0, x, regularized=True),
        _beta_arguments,
        (100, 100),
        (150, 150),
        arity=3,
    ),
    "gammainc": SpecialFunction(
        scipy.special.gammainc,
        lambda a, x: mpmath.gammainc(a, 0, x, regularized=True),
        _gamma_arguments,
        (100, 60),
        (100, 60),
    ),
    "gammaincc": SpecialFunction(
        scipy.special.gammaincc,
        lambda a, x: mpmath.gammainc(a, x, mpmath.inf, regularized=True),
        _gamma_arguments,
        (100, 60),
        (100, 60),
    ),
}


@functools.cache
def exactly(name: str, dtype: str, count: int = 60) -> tuple[Arrays, np.ndarray]:
    """Arguments of `dtype`, and what the function is there, in more digits."""
    f = SPECIAL[name]
    rng = np.random.default_rng(0)
    if dtype == "f4":
        arguments = tuple(x.astype("f4") for x in f.arguments(rng, 40 * count))
        return arguments, f.exact(*(x.astype("f8") for x in arguments))
    arguments = f.arguments(rng, count)
    with mpmath.workdps(40):
        values = [f.precise(*(mpmath.mpf(float(v)) for v in each)) for each in zip(*arguments, strict=True)]
        return arguments, np.array([np.longdouble(mpmath.nstr(v, 25)) for v in values])
