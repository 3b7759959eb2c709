"""First and second derivatives of elementwise functions at every 16-bit float, against those of float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import mpmath
import numpy as np
import pytest
import xtensor as xt
from functions import FUNCTIONS

pytestmark = pytest.mark.float64

# What float32 lacks where the terms of these derivatives cancel: near a zero, and of tanh far out.
_ABSOLUTE = {"tanh": 2e-6, "i1e": 1e-6, "j0": 1e-6, "j1": 1e-6, "y0": 1e-6, "y1": 1e-6}
COMPOSED: dict[str, Callable[[Any], Any]] = {
    "atan2 by y": lambda x: xt.atan2(x, 3.0),
    "atan2 by x": lambda x: xt.atan2(3.0, x),
    "cubed": lambda x: x**3,
    "log_ndtr": xt.log_ndtr,
    "reciprocal": lambda x: 3.0 / x,
    "sinc": xt.sinc,
    "softplus": xt.softplus,
    "square": xt.square,
    **{name: getattr(xt, name) for name in FUNCTIONS},
}


def _slope(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: xt.grad(lambda x: xt.sum(f(x)))(x)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", COMPOSED)
def test_derivatives_at_every_number(name: str, dtype: str) -> None:
    f = COMPOSED[name]
    x = np.arange(65536, dtype="u2").view(dtype if dtype == "float16" else ml_dtypes.bfloat16)
    with np.errstate(invalid="ignore"):  # signalling NaN
        exactly = x.astype("f8")

    @xt.jit
    def both(x: Any) -> Any:
        return f(x), _slope(f)(x), _slope(_slope(f))(x)

    value, *exact = (np.asarray(y.values) for y in both(xt.array(exactly, "x")))
    _, *got = (np.asarray(y.values).astype("f8") for y in both(xt.array(x, "x")))
    info = ml_dtypes.finfo(dtype)
    largest, least, eps = (float(v) for v in (info.max, info.smallest_normal, info.eps))
    # Float32 computes derivatives of bfloat16, whose smallest numbers are those of float32.
    least *= 1 if dtype == "float16" else 2**8
    finite = np.abs(value) < np.finfo("f4").max
    for y, want in zip(got, exact, strict=True):
        inside = finite & np.isfinite(want) & (np.abs(want) < largest * (1 - eps))
        np.testing.assert_allclose(
            y[inside], want[inside], rtol=2 * eps, atol=max(4 * least, _ABSOLUTE.get(name, 0)), err_msg=name
        )


def _differences(f: Callable[[Any], Any], x: float) -> tuple[float, float]:
    with mpmath.workdps(80):
        return float(mpmath.diff(f, x)), float(mpmath.diff(f, x, 2))


_FAR: dict[str, tuple[Callable[[Any], Any], list[float]]] = {
    "asinh": (mpmath.asinh, [-3e9, 0.9, 1.1, 4e5, 2e12]),
    "atan": (mpmath.atan, [-3e9, 0.9, 1.1, 4e5]),
    "erfcx": (lambda x: mpmath.exp(x * x) * mpmath.erfc(x), [-2, 0.5, 9.9, 10.1, 40, 1e3]),
    "i0e": (lambda x: mpmath.besseli(0, x) * mpmath.exp(-abs(x)), [-500, 0.5, 59, 61, 1e4]),
    "i1e": (lambda x: mpmath.besseli(1, x) * mpmath.exp(-abs(x)), [-500, 0.5, 59, 61, 1e4]),
    "log_ndtr": (lambda x: mpmath.log(mpmath.ncdf(x)), [-1e3, -40, -3, 0.5]),
}


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", _FAR)
def test_derivatives_far_out_keep_their_digits(name: str, dtype: str) -> None:
    exact, x = _FAR[name]
    x = np.array(x, dtype)
    f = getattr(xt, name)
    want = np.array([_differences(exact, mpmath.mpf(float(v))) for v in x]).T
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(_slope(f)(xt.array(x, "x")).values, want[0], rtol=300 * eps)
    np.testing.assert_allclose(_slope(_slope(f))(xt.array(x, "x")).values, want[1], rtol=2e4 * eps)


def test_squares_in_derivatives_neither_overflow_nor_vanish() -> None:
    for scale in (1e-30, 1e-20, 1e20, 1e37):
        y, x = xt.array(scale, dtype="f4"), xt.array(2 * scale, dtype="f4")
        by_y, by_x = xt.grad(xt.atan2, (0, 1))(y, x)
        np.testing.assert_allclose([by_y.values * scale, by_x.values * scale], [0.4, -0.2], rtol=1e-6)
    assert xt.grad(xt.rsqrt)(xt.array(1.6e-26, dtype="f4")).values == pytest.approx(-0.5 * 1.6e-26**-1.5, rel=1e-6)
    assert xt.log_ndtr(xt.array(-2.5e19, dtype="f4")).values == pytest.approx(-3.125e38, rel=1e-6)


def test_derivatives_at_infinity_are_their_limits() -> None:
    ends = xt.array([-np.inf, np.inf], "x")
    for f in (xt.asinh, xt.atan, xt.i0e, xt.i1e):
        assert (_slope(f)(ends).values == 0).all()
        assert (_slope(_slope(f))(ends).values == 0).all()
    assert _slope(xt.erfcx)(ends).values.tolist() == [-np.inf, 0]
    assert (_slope(xt.i1)(xt.array([-800.0, 800.0], "x")).values == np.inf).all()
