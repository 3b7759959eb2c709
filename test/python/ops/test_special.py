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
    "log_ndtr": scipy.special.log_ndtr,
    "logit": scipy.special.logit,
    "ndtr": scipy.special.ndtr,
    "ndtri": scipy.special.ndtri,
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
    "log_ndtr": (lambda x: mpmath.log(mpmath.ncdf(x)), np.linspace(-300.5, 8, 97), 6),
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


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("order", range(5))
def test_polygamma(order: int, dtype: str) -> None:
    x = np.array([0.25, 0.5, 1, 1.5, 3, 7.25, 11, 100, -0.25, -0.5, -2.75], dtype)
    with mpmath.workdps(30):
        want = np.array([float(mpmath.polygamma(order, mpmath.mpf(float(v)))) for v in x])
    got = xt.polygamma(order, xt.array(x, dims="i"))
    tolerance = 10 * TOLERANCE[dtype]
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(got.values.astype("f8"), want.astype(dtype).astype("f8"), rtol=tolerance)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_poles_of_gamma_functions_far_out(dtype: str) -> None:
    """Where all numbers are integers, also odd ones, to which 1/2 is not added exactly."""
    one = np.finfo(dtype).nmant
    x = -np.array([2.0**one - 1, 2.0**one, 2.0**one + 1, 2.0**one + 5, 2.0 ** (one + 1) - 1, 2.0**60, 2.0**100], dtype)
    assert np.isposinf(xt.lgamma(xt.array(x, "i")).values).all()
    assert np.isnan(xt.digamma(xt.array(x, "i")).values).all()
    near = -np.array([2.0 ** (one - 1) + 0.5, 2.0 ** (one - 2) + 1.25], dtype)
    want = scipy.special.gammaln(near.astype("f8"))
    np.testing.assert_allclose(xt.lgamma(xt.array(near, "i")).values, want, rtol=4 * np.finfo(dtype).eps)


def test_poles_of_gamma_functions() -> None:
    x = xt.array([0.0, -1.0, -2.0, -INF, INF, NAN], "i").astype("f4")
    np.testing.assert_array_equal(xt.lgamma(x).values, [INF, INF, INF, INF, INF, NAN])
    np.testing.assert_array_equal(xt.digamma(x).values, [-INF, NAN, NAN, NAN, INF, NAN])
    np.testing.assert_array_equal(xt.polygamma(1, x).values[:3], [INF, INF, INF])
    np.testing.assert_array_equal(xt.polygamma(2, x).values[:3], [-INF, -INF, -INF])
    with pytest.raises(ValueError, match="order is an int from 0 to 20, not 21"):
        xt.polygamma(21, x)


@pytest.mark.float64
@pytest.mark.parametrize("name", ["lgamma", "digamma"])
def test_gamma_functions_of_negative_numbers(name: str) -> None:
    """Near their zeros, what the terms of the reflection lose: a few units of those."""
    x = -np.random.default_rng(0).uniform(0, 30, 300)
    with mpmath.workdps(30):
        f = {"lgamma": lambda v: mpmath.loggamma(v).real, "digamma": mpmath.digamma}[name]
        want = np.array([float(f(mpmath.mpf(float(v)))) for v in x])
    np.testing.assert_allclose(getattr(xt, name)(xt.array(x, dims="i")).values, want, rtol=1e-13, atol=1e-13)


@pytest.mark.float64
def test_beta_keeps_digits_of_large_arguments() -> None:
    a, b = (v.ravel() for v in np.meshgrid(*[[1e-3, 0.5, 3.0, 9.9, 10.0, 50.0, 1e5, 1e10]] * 2))
    with mpmath.workdps(40):
        want = [float(mpmath.log(mpmath.beta(float(x), float(y)))) for x, y in zip(a, b, strict=True)]
    got = xt.betaln(xt.array(a, dims="i"), xt.array(b, dims="i")).values
    np.testing.assert_allclose(got, want, rtol=2e-14, atol=2e-14)
    near = (a < 60) & (b < 60)
    np.testing.assert_allclose(
        xt.beta(xt.array(a[near], dims="i"), xt.array(b[near], dims="i")).values,
        scipy.special.beta(a[near], b[near]), rtol=1e-12,
    )  # fmt: skip


@pytest.mark.float64
def test_zeta_in_units_in_the_last_place() -> None:
    rng = np.random.default_rng(0)
    x, q = 1 + 10.0 ** rng.uniform(-3, 1.5, 150), 10.0 ** rng.uniform(-2, 3, 150)
    with mpmath.workdps(120):  # mpmath's own error is far above its last place
        want = np.array([float(mpmath.zeta(mpmath.mpf(a), mpmath.mpf(b))) for a, b in zip(x, q, strict=True)])
    got = xt.zeta(xt.array(x, dims="i"), xt.array(q, dims="i")).values
    np.testing.assert_array_max_ulp(got, want, 8)


@pytest.mark.float64
def test_derivatives_of_zeta() -> None:
    """By q: -x zeta(x + 1, q). By x, at q = 1: that of Riemann's function."""
    x, q = xt.array([1.25, 2.0, 3.5, 20.0], "i"), xt.array([1.0, 1.0, 1.0, 1.0], "i")
    by_x, by_q = xt.grad(lambda x, q: xt.zeta(x, q).sum(), wrt=(0, 1))(x, q)
    with mpmath.workdps(30):
        want = [float(mpmath.zeta(v, 1, 1)) for v in x.values]
    np.testing.assert_allclose(by_x.values, want, rtol=1e-13)
    np.testing.assert_allclose(by_q.values, -x.values * scipy.special.zeta(x.values + 1, 1), rtol=1e-13)


@pytest.mark.parametrize("dtype", ["f4", "f2"])
def test_zeta_at_edges(dtype: str) -> None:
    x = xt.array(np.array([2, 1, 0.5, 2, 2, NAN, 2, INF, INF, 2, 50], dtype), "i")
    q = xt.array(np.array([1, 3, 1, 0, -0.5, 1, NAN, 1, 2, INF, 1e4], dtype), "i")
    want = np.array([np.pi**2 / 6, INF, NAN, INF, NAN, NAN, NAN, 1, 0, 0, 0])
    np.testing.assert_allclose(xt.zeta(x, q).values, want.astype(dtype), rtol=TOLERANCE[dtype])


@pytest.mark.float64
def test_zeta_of_riemann_goes_on_below_1() -> None:
    x = np.concatenate([np.linspace(-20.3, 0.95, 60), [0.0, 0.999, 1.001, 3.0]])
    with mpmath.workdps(40):
        want = [float(mpmath.zeta(mpmath.mpf(v))) for v in x]
        slopes = [float(mpmath.zeta(mpmath.mpf(v), 1, 1)) for v in x]
    got = xt.zeta(xt.array(x, dims="i"))
    np.testing.assert_allclose(got.values, want, rtol=2e-14)
    np.testing.assert_allclose(derivative(xt.zeta, 1)(xt.array(x[3])).values, slopes[3], rtol=1e-12)
    slope = xt.grad(lambda x: xt.zeta(x).sum())(xt.array(x, dims="i")).values
    np.testing.assert_allclose(slope, slopes, rtol=1e-11)
    edges = np.array([1.0, INF, NAN, -INF, -2.0, -4.0, -200.5])
    np.testing.assert_allclose(xt.zeta(xt.array(edges, dims="i")).values, scipy.special.zeta(edges), rtol=1e-12)


def test_functions_of_two_numbers_at_their_ends() -> None:
    a, b = (np.ravel(v) for v in np.meshgrid([0.0, 1e-300, 2.0, np.inf], [0.0, 1e-300, 2.0, np.inf]))
    x, y = xt.array(a, dims="i"), xt.array(b, dims="i")
    expected = scipy.special.betaln(a, b)
    expected[-1] = -np.inf  # SciPy has NaN for two infinities
    np.testing.assert_allclose(xt.betaln(x, y).values, expected, rtol=1e-12)
    np.testing.assert_allclose(xt.beta(x, y).values, np.exp(expected), rtol=1e-9)


def test_divergences_of_quotients_that_overflow() -> None:
    x, y = np.array([1e20, 1e-20, 2.0], "f4"), np.array([1e-20, 1e20, 1.0], "f4")
    got = xt.kl_div(xt.array(x, dims="i"), xt.array(y, dims="i"))
    np.testing.assert_allclose(got.values, scipy.special.kl_div(x.astype("f8"), y.astype("f8")), rtol=1e-6)


def test_zeros_of_zeta_far_below_0() -> None:
    assert xt.zeta(xt.array([-2.0, -400.0, -1e10], dims="i")).values.tolist() == [0.0, 0.0, 0.0]


def slope(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The derivative in forward mode."""
    return lambda x: xt.jvp(f, (x,), (xt.array(1.0),))[1]


def orders(f: Callable[[Any], Any], x: float, count: int) -> list[float]:
    """The derivatives of order 1 .. count at x, on which both modes agree."""
    found = []
    for derive in (xt.grad, slope):
        g, values = f, []
        for _ in range(count):
            g = derive(g)
            values.append(g(xt.array(x)).item())
        found.append(values)
    np.testing.assert_allclose(*found, rtol=1e-12, atol=1e-12)
    return found[0]


@pytest.mark.float64
@pytest.mark.parametrize("name", ["i1", "j1", "i0", "j0"])
def test_higher_derivatives_of_bessel_functions_near_0(name: str) -> None:
    """Where a quotient by x or by its square would cancel, and on both sides of 1, where the formula changes."""
    f = {"i": mpmath.besseli, "j": mpmath.besselj}[name[0]]
    for x in (0.0, 1e-8, -1e-3, 0.5, 0.999, 1.001, -3.0):
        with mpmath.workdps(60):
            want = [float(mpmath.diff(lambda t: f(int(name[1]), t), mpmath.mpf(x), k)) for k in (1, 2, 3, 4)]
        np.testing.assert_allclose(orders(getattr(xt, name), x, 4), want, rtol=1e-13, atol=3e-14)


@pytest.mark.float64
def test_derivatives_of_zeta_where_a_factor_is_0() -> None:
    """At its zeros -2, -4 .., and just below 0, where 1 - x has no digits of x."""
    for x in (-2.0, -4.0, -30.0, -1e-16, -1e-9, -0.3, 0.0, 0.3):
        with mpmath.workdps(40):
            want = [float(mpmath.zeta(mpmath.mpf(x), derivative=k)) for k in (0, 1, 2)]
        got = [xt.zeta(xt.array(x)).item(), *orders(xt.zeta, x, 2)]
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-16)


def test_derivatives_of_products_with_a_logarithm_where_a_factor_is_0() -> None:
    """By x, the logarithm, or 0 where that is not finite: PyTorch has the same."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    y = np.array([2.0, 0.5, 1.0, 0.0, 1e-300, 7.0])
    at = torch.zeros(len(y), dtype=torch.float64, requires_grad=True)
    torch.special.xlogy(at, torch.from_numpy(y)).sum().backward()
    by_x, by_y = xt.grad(lambda x, y: xt.xlogy(x, y).sum(), wrt=(0, 1))(xt.zeros(i=6), xt.array(y, "i"))
    np.testing.assert_allclose(by_x.values, at.grad.numpy(), rtol=1e-6)
    np.testing.assert_array_equal(by_y.values, 0)
    y = np.array([-0.5, 1.0, -1.0, INF])
    by_x = xt.grad(lambda x, y: xt.xlog1py(x, y).sum())(xt.zeros(i=4), xt.array(y, "i"))
    np.testing.assert_allclose(by_x.values, [np.log(0.5), np.log(2), 0, 0], rtol=1e-6)


def test_beta_of_negative_numbers_has_a_sign() -> None:
    a, b = np.array([-0.5, -1.5, 2.0, -2.5, 3.0, 0.5]), np.array([10.0, 0.3, 3.0, -0.7, -0.4, -0.3])
    np.testing.assert_allclose(xt.beta(xt.array(a, "i"), xt.array(b, "i")).values, scipy.special.beta(a, b), rtol=1e-5)


@pytest.mark.float64
def test_ends_of_polygamma_and_betainc() -> None:
    """The sum does not underflow before its value, and a probability is not below 0."""
    large = xt.array([1e100, 1e200, 1e300], "i")
    np.testing.assert_allclose(xt.polygamma(1, large).values, 1 / large.values, rtol=1e-15)
    np.testing.assert_allclose(xt.polygamma(2, large).values, [-1e-200, 0, 0], rtol=1e-15)
    assert xt.betainc(1e-3, 1e-300, 1 - 1e-12).item() == 0


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_owens_t(dtype: str) -> None:
    """Against mpmath, far out and at slopes up to the infinite, and at edges against SciPy."""
    rng = np.random.default_rng(0)
    h = np.concatenate([rng.normal(size=15) * 3, rng.uniform(-12, 12, 15)]).astype(dtype)
    a = np.concatenate([rng.normal(size=15) * 2, np.exp(rng.uniform(-8, 8, 15))]).astype(dtype)
    found = xt.owens_t(xt.array(h, "i"), xt.array(a, "i"))
    assert found.dtype == dtype
    with mpmath.workdps(30):

        def exact(h: Any, a: Any) -> Any:
            h2 = mpmath.mpf(float(h)) ** 2 / 2
            end = min(mpmath.mpf(float(abs(a))), 20 / mpmath.sqrt(h2))  # there is less than 1e-100 further out
            ends = [end * k / 16 for k in range(17)]
            area = mpmath.quad(lambda x: mpmath.exp(-h2 * x * x) / (1 + x * x), ends) * mpmath.exp(-h2)
            return float(mpmath.sign(float(a)) * area / (2 * mpmath.pi))

        want = np.array([exact(*v) for v in zip(h, a, strict=True)])
    rtol, least = {"f4": (2e-5, 1e-36), "f8": (3e-14, 0)}[dtype]
    np.testing.assert_allclose(found.values, want, rtol=rtol, atol=least)
    edges = np.array([0.0, -0.0, 1.0, -1.0, 0.5, 2.0, INF, -INF, NAN, 1e300, 1e-300], dtype)
    h, a = np.meshgrid(edges, edges)
    found = xt.owens_t(xt.array(h, ("i", "j")), xt.array(a, ("i", "j"))).values
    np.testing.assert_allclose(found, scipy.special.owens_t(h, a), rtol=2e-6 if dtype == "f4" else 1e-13)


def test_derivatives_of_owens_t() -> None:
    """Those of the definition, also at 0 and where the function is 0."""
    h = np.array([0.0, 0.0, 0.7, -1.2, 3.0, 20.0, 2.0, -2.0, 1e-9, -1e-3])
    a = np.array([0.0, 3.0, 0.0, 1.0, -2.5, 0.5, INF, -0.8, 1e9, -1e6])
    by_h, by_a = xt.grad(lambda h, a: xt.owens_t(h, a).sum(), wrt=(0, 1))(xt.array(h, "i"), xt.array(a, "i"))
    want = -np.exp(-h * h / 2) * scipy.special.erf(np.where(h == 0, 0, h * np.where(h == 0, 1, a)) / np.sqrt(2))
    np.testing.assert_allclose(by_h.values, want / np.sqrt(8 * np.pi), rtol=1e-12, atol=1e-17)
    with np.errstate(over="ignore"):
        want = np.exp(-h * h * (1 + a * a) / 2) / (1 + a * a) / (2 * np.pi)
    np.testing.assert_allclose(by_a.values, want, rtol=1e-12, atol=1e-17)
