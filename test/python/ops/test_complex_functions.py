"""Elementary functions of complex numbers: digits against NumPy and mpmath, branch cuts, zeros and infinities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import xtensor as xt
from tiers import count

NAMES = {
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atanh": "arctanh",
}
# Of each function, the largest error in units of the last place of |f(z)|.
BOUNDS = {
    "acos": 5, "acosh": 5, "asin": 6, "asinh": 6, "atan": 5, "atanh": 5, "cos": 5, "cosh": 5, "exp": 5, "exp2": 14,
    "expm1": 9, "log": 5, "log10": 6, "log1p": 5, "log2": 6, "sin": 5, "sinh": 5, "sqrt": 4, "tan": 6, "tanh": 6,
}  # fmt: skip
EDGES = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, np.inf, -np.inf, np.nan]
UNSPECIFIED = {"real": ("tan",), "imag": ("cos", "exp", "sin", "tanh")}


def _cloud(dtype: str, n: int) -> np.ndarray:
    rng = np.random.default_rng(9)
    x, y = (rng.standard_normal(n) * 10.0 ** rng.integers(-3, 2, n) for _ in range(2))
    return (x + 1j * y).astype(dtype)


def _numpy(name: str) -> Callable[[Any], np.ndarray]:
    found: Callable[[Any], np.ndarray] = getattr(np, NAMES.get(name, name))
    return found


@pytest.fixture(scope="module", params=["c8", pytest.param("c16", marks=pytest.mark.float64)])
def clouds(request: pytest.FixtureRequest) -> tuple[np.ndarray, dict[str, Any]]:
    z = _cloud(request.param, 2000)
    compiled = xt.jit(lambda z: {name: getattr(xt, name)(z) for name in BOUNDS})
    return z, compiled(xt.array(z, dims="t"))


@pytest.mark.parametrize("name", BOUNDS)
def test_digits(name: str, clouds: tuple[np.ndarray, dict[str, Any]]) -> None:
    z, results = clouds
    got = results[name].values
    if z.dtype == "c8":
        with np.errstate(all="ignore"):
            want = _numpy(name)(z.astype("c16"))
    else:
        few = np.arange(0, len(z), len(z) // count(60, 2000))
        z, got = z[few], got[few]
        with mpmath.workprec(200):
            want = np.array([complex(_exact(name, mpmath.mpc(v.real, v.imag))) for v in z])
    limits = np.finfo(z.dtype)
    usual = (abs(want) < limits.max / 10) & (abs(want) > limits.smallest_normal * 10)
    error = abs(got - want)[usual] / abs(want)[usual] / limits.eps
    assert usual.sum() > 40
    assert error.max() < BOUNDS[name]


def _exact(name: str, z: Any) -> Any:
    if name in ("log2", "log10"):
        return mpmath.log(z) / mpmath.log(int(name[3:]))
    return 2**z if name == "exp2" else getattr(mpmath, name)(z)


@pytest.mark.float64
@pytest.mark.parametrize("name", sorted({*BOUNDS, "abs", "angle"} - {"exp2", "expm1", "log10", "log1p", "log2"}))
def test_edges(name: str) -> None:
    """On the cuts, at zeros of either sign, at infinities and at NaN, as C99 has it. Signs that C99 leaves open are not
    compared."""
    z = np.empty((len(EDGES), len(EDGES)), complex)
    z.real, z.imag = np.array(EDGES)[:, None], np.array(EDGES)
    with np.errstate(all="ignore"):
        want = _numpy(name)(z)
    got = getattr(xt, name)(xt.array(z, dims=("x", "y"))).values
    for part in ("real", "imag"):
        x, y = getattr(got, part), getattr(want, part)
        np.testing.assert_allclose(x if name not in UNSPECIFIED[part] else abs(x), _open(name, part, y), 1e-14, 0)
        signed = ~np.isnan(y) & (np.isfinite(z) if name in UNSPECIFIED[part] else True)
        assert (np.signbit(x) == np.signbit(y))[signed].all(), z[signed & (np.signbit(x) != np.signbit(y))]


def _open(name: str, part: str, y: np.ndarray) -> np.ndarray:
    return abs(y) if name in UNSPECIFIED[part] else y


def test_large_and_small_numbers() -> None:
    """Squares of the parts would overflow, or be 0."""
    for size in (1e30, 1e-30):
        z = (np.array([3 + 4j, -4 + 3j, 1j, 1]) * size).astype("c8")
        x = xt.array(z, dims="t")
        wide = z.astype("c16")
        np.testing.assert_allclose(xt.abs(x).values, abs(wide), rtol=1e-6)
        np.testing.assert_allclose((1 / x).values, 1 / wide, rtol=1e-6)
        np.testing.assert_allclose((x / x).values, [1, 1, 1, 1], rtol=1e-6)
        np.testing.assert_allclose(xt.sqrt(x).values, np.sqrt(wide), rtol=1e-6)
        np.testing.assert_allclose(xt.log(x).values, np.log(wide), rtol=1e-6)
        np.testing.assert_allclose(xt.sign(x).values, wide / abs(wide), rtol=1e-6)


def test_powers_that_overflow_before_they_are_turned() -> None:
    for dtype, most in (("c16", 709.8), ("c8", 88.75)):
        z = np.array([most + 1j, most - 1.2j, most + 2.5j, -80 + 1j, most / np.log(2) + 1j], dtype)
        for name, values in (("exp", z[:4]), ("exp2", z[4:])):
            found = getattr(xt, name)(xt.array(values, "i")).values
            want = np.array([complex(_exact(name, mpmath.mpc(float(v.real), float(v.imag)))) for v in values])
            assert np.isfinite(found).all()
            np.testing.assert_allclose(found, want, rtol=(4e-16 if dtype == "c16" else 2e-7) * 2**3)


@pytest.mark.float64
@pytest.mark.parametrize("name", ["exp", "exp2", "tan", "tanh"])
def test_large_numbers_beside_infinities(name: str) -> None:
    """An infinite or missing angle leaves nothing of a large number, as it does of 1."""
    ends = [1e5, -1e5, 1e300, -1e300, np.inf, -np.inf, np.nan, 30.0]
    z = np.array([complex(a, b) for a in ends for b in ends])
    with np.errstate(all="ignore"):
        want = _numpy(name)(z)
    found = getattr(xt, name)(xt.array(z, "i")).values
    np.testing.assert_array_equal(np.isnan(found.real), np.isnan(want.real))
    np.testing.assert_array_equal(np.isnan(found.imag), np.isnan(want.imag))


def test_division_by_zero_and_infinity() -> None:
    z = xt.array(np.array([1 + 2j, 0, 1 - 1j]).astype("c8"), dims="t")
    w = xt.array(np.array([0, 0, np.inf + 1j]).astype("c8"), dims="t")
    got = (z / w).values
    assert np.isinf(got[0].real) and np.isinf(got[0].imag)
    assert np.isnan(got[1])
    assert got[2] == 0


@pytest.mark.float64
def test_powers_of_zero() -> None:
    zero = xt.array(np.zeros(4, complex), dims="t")
    exponents = xt.array(np.array([0, 2, 1 + 1j, -1]), dims="t")
    np.testing.assert_array_equal((zero**exponents).values, [1, 0, 0, np.nan + 1j * np.nan])


def test_an_infinite_part_decides_the_sign() -> None:
    ends = [0.0, -0.0, 1.0, -2.0, np.inf, -np.inf, np.nan]
    z = np.array([complex(a, b) for a in ends for b in ends])
    with np.errstate(all="ignore"):
        expected = np.sign(z)
    np.testing.assert_array_equal(xt.sign(xt.array(z, dims="i")).values, expected)


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_atan_beside_its_poles(dtype: str) -> None:
    small = 1e-30 if dtype == "c8" else 1e-200  # whose square is 0
    z = np.array([small + 1j, small - 1j, 1 + small * 1j], dtype)
    rtol = 1e-6 if dtype == "c8" else 1e-14
    np.testing.assert_allclose(xt.atan(xt.array(z[:2], dims="i")).values, np.arctan(z[:2].astype("c16")), rtol=rtol)
    np.testing.assert_allclose(xt.atanh(xt.array(z[2:], dims="i")).values, np.arctanh(z[2:].astype("c16")), rtol=rtol)


def test_norms_are_real() -> None:
    z = xt.array(np.array([3j, 4.0], "c8"), dims="i")
    for order in (1, 2, 3, np.inf):
        found = xt.linalg.norm(z, order, dims="i")
        assert found.dtype == "f4"
        np.testing.assert_allclose(found.item(), np.linalg.norm(z.values, order), rtol=1e-6)
