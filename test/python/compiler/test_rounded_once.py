"""Remainders, which are exact, and float64 as narrower dtypes, rounded once: on vectors, and at the ends of rows."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import xtensor as xt

pytestmark = pytest.mark.cpu_only("vectors of the CPU")


@pytest.mark.parametrize("dtype", ("f4", "f8"))
def test_remainders_are_exact(dtype: str) -> None:
    """Beside NumPy, which computes them by fmod: quotients below one, beyond the mantissa, ties, zeros, infinities."""
    rng = np.random.default_rng(0)
    special = np.array([0.0, -0.0, 1, -1, 3, 0.1, 1e-30, 1e30, np.inf, -np.inf, np.nan, 5e-324, 1e-45, 2**23, 2**53])
    pairs = np.stack(np.meshgrid(special, special)).reshape(2, -1)
    random = rng.standard_normal((2, 4000)) * 10.0 ** rng.integers(-12, 12, (2, 4000))
    near = np.outer([1, 1], rng.integers(1, 1000, 2000) * 0.1)
    near[0] *= rng.integers(1, 50, 2000)
    x, y = np.concatenate([pairs, random, near], axis=1).astype(dtype)
    with np.errstate(all="ignore"):
        for name in ("remainder", "floor_divide", "fmod"):
            if not hasattr(xt, name):
                continue
            got = np.asarray(xt.jit(getattr(xt, name))(xt.array(x, "i"), xt.array(y, "i")))
            want = getattr(np, name)(x, y)
            np.testing.assert_array_equal(got, want, err_msg=name)
            np.testing.assert_array_equal(np.signbit(got[want == 0]), np.signbit(want[want == 0]), err_msg=name)


@pytest.mark.parametrize("dtype", ("bfloat16", "f2"))
def test_float64_is_rounded_once(dtype: str) -> None:
    """Halves of the narrow dtype and their neighbours in f64, beside mpmath and NumPy."""
    rng = np.random.default_rng(0)
    narrow = (rng.standard_normal(400) * 10.0 ** rng.integers(-30 if dtype == "bfloat16" else -3, 4, 400)).astype("f4")
    kept, half = (0xFFFF0000, 0x8000) if dtype == "bfloat16" else (0xFFFFE000, 0x1000)
    halves = (narrow.view("u4") & np.uint32(kept) | np.uint32(half)).view("f4").astype("f8")
    values = np.concatenate([halves, np.nextafter(halves, np.inf), np.nextafter(halves, -np.inf), narrow.astype("f8")])
    if dtype == "bfloat16":  # no number is subnormal: mpmath has exponents of all sizes
        with mpmath.workprec(8):
            want = [float(+mpmath.mpf(v)) for v in values.tolist()]
    else:
        want = values.astype("f2").astype("f8")
    np.testing.assert_array_equal(_cast(values, dtype), want)


def test_float64_at_the_ends_of_the_range() -> None:
    f2 = np.array(
        [0.0, -0.0, np.inf, -np.inf, 65519.99, 65520.0, 1e300, -1e300, 1e-320, 5.97e-8, -2.98e-8, 2.99e-8, 6.1e-5] * 2
    )
    with np.errstate(over="ignore", under="ignore"):
        want = f2.astype("f2").astype("f8")
    got = _cast(f2, "f2")
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(want))
    largest, half, least = 255 * 2.0**120, 511 * 2.0**119, 2.0**-133
    ends = {half: np.inf, np.nextafter(half, 0): largest, -1e300: -np.inf, np.inf: np.inf}
    ends |= {least / 2: 0.0, np.nextafter(least / 2, 1): least, -1e-320: -0.0, 1.5 * least: 2 * least}
    got = _cast(np.array(list(ends) * 4), "bfloat16")
    want = np.array(list(ends.values()) * 4)
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(want))
    for dtype in ("bfloat16", "f2"):
        assert np.isnan(_cast(np.full(20, np.nan), dtype)).all()


def _cast(values: np.ndarray, dtype: str) -> np.ndarray:
    return np.asarray(xt.jit(lambda x: x.astype(dtype).astype("f8"))(xt.array(values, "i")))
