"""How far float32 functions are from the truth, in units in the last place, over ordinary arguments.

The truth is SciPy's and NumPy's float64. Results too small for a normal float32 are left out: the
polynomials flush them to zero, and so they are compared with zero instead.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.special
import xtensor as xt

SMALLEST_NORMAL = np.finfo("f4").tiny

# name -> (float64 reference, bound in ulp). passes/CPU/README.md states the same bounds.
BOUNDS: dict[str, tuple[Callable[[np.ndarray], np.ndarray], float]] = {
    "acos": (np.arccos, 1.5),
    "asin": (np.arcsin, 1),
    "asinh": (np.arcsinh, 2),
    "atan": (np.arctan, 1),
    "cbrt": (np.cbrt, 1),
    "cos": (np.cos, 1),
    "cosh": (np.cosh, 2),
    "erf": (scipy.special.erf, 4),
    "erfc": (scipy.special.erfc, 4),
    "exp": (np.exp, 5),
    "expm1": (np.expm1, 6),
    "log": (np.log, 1),
    "log10": (np.log10, 2),
    "log1p": (np.log1p, 3),
    "log2": (np.log2, 2),
    "sin": (np.sin, 1),
    "sinh": (np.sinh, 2),
    "tan": (np.tan, 1),
    "tanh": (np.tanh, 5),
}


def arguments(name: str) -> np.ndarray:
    rng = np.random.default_rng(0)
    wide = rng.standard_normal(20_000) * 10.0 ** rng.uniform(-30, 3, 20_000)
    x = np.concatenate([wide, rng.uniform(-90, 90, 20_000), rng.uniform(-1, 1, 10_000)]).astype("f4")
    if name.startswith("log") and name != "log1p":
        return np.abs(x[np.abs(x) >= SMALLEST_NORMAL])
    if name in ("asin", "acos"):
        return x[np.abs(x) <= 1]
    if name == "log1p":
        return x[x > -1]
    return x


@pytest.mark.parametrize("name", BOUNDS)
def test_float32_in_ulp(name: str) -> None:
    reference, bound = BOUNDS[name]
    x = arguments(name)
    with np.errstate(all="ignore"):
        exact = reference(x.astype("f8"))
        rounded = exact.astype("f4")
    got = getattr(xt, name)(xt.array(x, dims="i")).values
    finite = np.isfinite(rounded)
    np.testing.assert_array_equal(got[~finite], rounded[~finite])
    normal = finite & (np.abs(rounded) >= SMALLEST_NORMAL)
    ulp = np.abs(got[normal] - exact[normal]) / np.spacing(np.abs(rounded[normal])).astype("f8")
    worst = int(np.argmax(ulp))
    assert ulp[worst] <= bound, f"{name}({x[normal][worst]!r}) is off by {ulp[worst]:.2f} ulp"
    assert np.all(np.abs(got[finite & ~normal]) <= SMALLEST_NORMAL)


@pytest.mark.parametrize("name", ["expm1", "log1p", "sinh", "tanh"])
def test_float64_near_zero(name: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(20_000) * 10.0 ** rng.uniform(-300, 0, 20_000)
    x = x[(x > -1) & (np.abs(x) >= np.finfo("f8").tiny)]
    want = getattr(np, name)(x)
    got = getattr(xt, name)(xt.array(x, dims="i")).values
    assert np.max(np.abs(got - want) / np.spacing(np.abs(want))) <= 2


@pytest.mark.parametrize("name", ["log", "log2", "log10"])
def test_logarithms_of_subnormal_float32(name: str) -> None:
    x = np.array([1e-45, 1e-40, 3e-39, 1.1754942e-38, 1.1754944e-38, 0.0, -1e-40], "f4")
    with np.errstate(all="ignore"):
        want = getattr(np, name)(x.astype("f8")).astype("f4")
    np.testing.assert_allclose(getattr(xt, name)(xt.array(x, dims="i")).values, want, rtol=3e-7)


@pytest.mark.parametrize("name", BOUNDS)
def test_special_values(name: str) -> None:
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e30], "f4")
    with np.errstate(all="ignore"):
        want = BOUNDS[name][0](x.astype("f8")).astype("f4")
    got = getattr(xt, name)(xt.array(x, dims="i")).values
    np.testing.assert_allclose(got, want, rtol=1e-6)
