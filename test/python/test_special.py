"""Special functions against SciPy at edges, and against mpmath where SciPy is not exact."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special
import xtensor as xt

NAN, INF = float("nan"), float("inf")
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, INF, -INF, NAN]
X = np.array([*EDGES, 1e-30, 1e-3, 0.1, 0.25, 0.49, 0.51, 0.9, 1.5, 2, 3, 7.5, 30, -0.3, -8])
ONE: dict[str, Callable[[Any], Any]] = {
    "entr": scipy.special.entr,
    "logit": scipy.special.logit,
    "ndtr": scipy.special.ndtr,
    "sinc": np.sinc,
}
TWO: dict[str, Callable[[Any, Any], Any]] = {
    "kl_div": scipy.special.kl_div,
    "xlog1py": scipy.special.xlog1py,
    "xlogy": scipy.special.xlogy,
}
TOLERANCE = {"f2": 2e-3, "f4": 2e-6, "f8": 1e-14}


def same(got: xt.Array, want: np.ndarray, dtype: str) -> None:
    assert got.dtype == dtype
    tolerance = TOLERANCE[dtype]
    np.testing.assert_allclose(got.values.astype("f8"), want.astype("f8"), rtol=tolerance, atol=tolerance / 10)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_at_edges(name: str, dtype: str) -> None:
    with np.errstate(all="ignore"):
        x = X.astype(dtype)
        want = ONE[name](x.astype("f8")).astype(dtype)
    if name == "sinc":
        want[np.isinf(x)] = 0  # the limit, which NumPy lacks
    same(getattr(xt, name)(xt.array(x, dims="i")), want, dtype)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", TWO)
def test_functions_of_two_at_edges(name: str, dtype: str) -> None:
    with np.errstate(all="ignore"):
        x = X.astype(dtype)
        want = TWO[name](*np.meshgrid(x.astype("f8"), x.astype("f8"), indexing="ij")).astype(dtype)
    got = getattr(xt, name)(xt.array(x, dims="i"), xt.array(x, dims="j"))
    assert got.dims == ("i", "j")
    same(got, want, dtype)


EXACT: dict[str, tuple[Callable[[Any], Any], np.ndarray, float]] = {
    "logit": (lambda x: mpmath.log(x / (1 - x)), np.linspace(1e-9, 1 - 1e-9, 97), 6),
    "ndtr": (mpmath.ncdf, np.linspace(-37, 8, 97), 8),
    "sinc": (mpmath.sincpi, np.linspace(-1000.3, 1000.4, 97), 6),
}


@pytest.mark.float64
@pytest.mark.parametrize("name", EXACT)
def test_functions_in_ulp(name: str) -> None:
    f, x, bound = EXACT[name]
    with mpmath.workdps(40):
        want = [f(mpmath.mpf(float(v))) for v in x]
        got = getattr(xt, name)(xt.array(x, dims="i")).values
        off = [abs(mpmath.mpf(float(g)) - w) / np.spacing(abs(float(w))) for g, w in zip(got, want, strict=True)]
    assert max(off) <= bound, f"{name}({x[int(np.argmax(off))]!r}) is off by {float(max(off)):.1f} ulp"


def derivative(f: Callable[..., Any], order: int) -> Callable[..., Any]:
    for _ in range(order):
        f = xt.grad(f)
    return f


def test_sinc_is_smooth_at_0() -> None:
    """1 - (pi x)^2 / 6 + (pi x)^4 / 120 .."""
    at = xt.array(np.float32(0))
    for order, want in enumerate([1, 0, -(np.pi**2) / 3, 0, np.pi**4 / 5]):
        np.testing.assert_allclose(derivative(xt.sinc, order)(at).values, want, rtol=1e-6)


def test_what_is_not_chosen_gives_no_nan() -> None:
    """At 0 and 1 the logarithms of other branches are infinite."""
    x = xt.array([0.0, 0.5, 1.0], "i").astype("f4")
    np.testing.assert_array_equal(xt.grad(lambda x: xt.logit(x).sum())(x).values, [INF, 4, INF])
    y = xt.array([0.0, 2.0, 3.0], "i").astype("f4")
    dx, dy = xt.grad(lambda x, y: xt.xlogy(x, y).sum(), wrt=(0, 1))(x, y)
    np.testing.assert_allclose(dx.values[1:], np.log([2.0, 3.0]), rtol=1e-6)
    np.testing.assert_allclose(dy.values, [0, 0.25, 1 / 3], rtol=1e-6)


def test_coordinates_are_kept_and_must_agree() -> None:
    x = xt.as_array(xt.array([0.25, 0.5], "i").to_xarray().assign_coords(i=[10, 20]))
    assert list(xt.logit(x).to_xarray().i.values) == [10, 20]
    other = xt.as_array(x.to_xarray().assign_coords(i=[10, 30]))
    with pytest.raises(ValueError, match="xlogy"):
        xt.xlogy(x, other)
