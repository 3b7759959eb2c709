"""Inverses of incomplete gamma and beta functions, against mpmath and SciPy."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special
import xtensor as xt

NAMES = ("gammaincinv", "gammainccinv", "betaincinv")
INF, NAN = float("inf"), float("nan")


def operands(name: str, dtype: str, low: float, high: float, n: int) -> list[np.ndarray[Any, Any]]:
    """Parameters between powers of ten, and probabilities of which half are small."""
    rng = np.random.default_rng(0)
    parameters = [10 ** rng.uniform(low, high, n) for _ in range(name.startswith("beta") + 1)]
    share = np.where(rng.random(n) < 0.5, rng.random(n), 10 ** rng.uniform(-30, 0, n))
    return [x.astype(dtype) for x in (*parameters, share)]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("low, high", [(-1, 1), (0, 3), (2, 5)])
def test_quantiles_are_those_of_scipy(name: str, low: float, high: float, dtype: str) -> None:
    given = operands(name, dtype, low, high, 300)
    want = getattr(scipy.special, name)(*(x.astype("f8") for x in given))
    # SciPy's own error: it gives NaN, or is off, where x is below 1e-16 or a share below 1e-20.
    there = np.isfinite(want) & (want > 1e-15) & (given[-1] > 1e-15)
    got = getattr(xt, name)(*(xt.array(x, "i") for x in given)).values
    assert there.sum() > 150 and np.isfinite(got).all()
    np.testing.assert_allclose(got[there], want[there], rtol=2e-5 if dtype == "f4" else 2e-9)


@pytest.mark.parametrize("name", NAMES)
def test_the_function_of_a_quantile_is_the_share(name: str) -> None:
    """Against mpmath, also where quantiles are tiny."""
    given = operands(name, "f8", -2, 2, 40)
    got = getattr(xt, name)(*(xt.array(x, "i") for x in given)).values
    mpmath.mp.dps = 40
    for *parameters, share, x in zip(*given, got, strict=True):
        if x < 1e-300 or (1 - x < 1e-9 and name == "betaincinv"):
            continue
        if name == "betaincinv":
            found = mpmath.betainc(*map(mpmath.mpf, parameters), 0, mpmath.mpf(x), regularized=True)
        else:
            ends = (0, x) if name == "gammaincinv" else (x, mpmath.inf)
            found = mpmath.gammainc(mpmath.mpf(parameters[0]), *ends, regularized=True)
        assert abs(found / share - 1) < 2e-12, (parameters, share, x)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("name", NAMES)
def test_ends(name: str, dtype: str) -> None:
    parameters = np.array([0.0, 0.5, 2.0, -1.0, NAN] + [INF] * name.startswith("gamma"), dtype)
    shares = np.array([0.0, 0.25, 1.0, -0.5, 1.5, NAN], dtype)
    given = [parameters] * (name.startswith("beta") + 1) + [shares]
    want = getattr(scipy.special, name)(*np.meshgrid(*(x.astype("f8") for x in given), indexing="ij"))
    got = getattr(xt, name)(*(xt.array(x, d) for x, d in zip(given, "ijk"[3 - len(given) :], strict=True)))
    np.testing.assert_allclose(got.values.astype("f8"), want, rtol=2e-3 if dtype == "f2" else 2e-6)


def test_quantiles_of_infinite_parameters_lie_where_the_distribution_does() -> None:
    """SciPy has the same of some finite parameters, and NaN of others."""
    assert xt.betaincinv(INF, 2.0, 0.25).item() == 1
    assert xt.betaincinv(2.0, INF, 0.25).item() == 0
    assert np.isnan(xt.betaincinv(INF, INF, 0.25).item())


def test_extreme_parameters_end_and_are_numbers() -> None:
    extremes = xt.array([1e-300, 1e-20, 1e-3, 1.0, 1e8, 1e20, 1e200], "a")
    shares = xt.array([5e-324, 1e-300, 1e-10, 0.5, 0.999, 1 - 2**-53], "k")
    for found in (
        xt.gammaincinv(extremes, shares),
        xt.gammainccinv(extremes, shares),
        xt.betaincinv(extremes, extremes.rename(a="b"), shares),
    ):
        assert not np.isnan(found.values).any()
    np.testing.assert_allclose(xt.gammainccinv(1.0, 1e-300).item(), 300 * np.log(10), rtol=1e-15)
    np.testing.assert_allclose(xt.gammaincinv(1.0, 1e-300).item(), 1e-300, rtol=1e-13)
    assert xt.betaincinv(0.01, 0.01, 1e-10).item() == 0


@pytest.mark.parametrize("name", NAMES)
def test_a_quantile_does_not_depend_on_its_place(name: str) -> None:
    """Neighbours take more steps."""
    given = operands(name, "f8", -1, 2, 12)
    f = getattr(xt, name)
    together = f(*(xt.array(x, "i") for x in given)).values
    alone = [f(*(xt.array(v) for v in each)).item() for each in zip(*given, strict=True)]
    np.testing.assert_array_equal(together, alone)


def test_derivatives_where_a_share_is_0_or_1() -> None:
    """The density is there 0, infinite or 1; the quantile does not move with the parameters."""
    a, share = xt.array([2.0, 2.0, 0.5, 1.0], "i"), xt.array([0.0, 1.0, 0.0, 0.0], "i")
    by_a, by_share = xt.grad(lambda a, p: xt.gammaincinv(a, p).sum(), wrt=(0, 1))(a, share)
    np.testing.assert_array_equal(by_a.values, 0)
    np.testing.assert_array_equal(by_share.values, [INF, INF, 0, 1])
    found = xt.grad(lambda a, b, p: xt.betaincinv(a, b, p).sum(), wrt=(0, 1, 2))(a, a, share)
    np.testing.assert_array_equal([x.values for x in found], [[0] * 4, [0] * 4, [INF, INF, 0, 1]])


def test_second_derivatives() -> None:
    """Of gammaincinv(1, p) = -log(1 - p), betaincinv(a, 1, p) = p**(1 / a)."""
    p = 0.3
    second = xt.hessian(lambda p: xt.gammaincinv(1.0, p))(p)
    np.testing.assert_allclose(second.item(), (1 - p) ** -2, rtol=1e-12)
    second = xt.hessian(lambda a: xt.betaincinv(a, 1.0, p))(3.0).item()
    want = mpmath.diff(lambda a: mpmath.mpf(p) ** (1 / a), 3.0, 2)
    np.testing.assert_allclose(second, float(want), rtol=1e-10)
