"""Each distribution of xt.random against SciPy's: Kolmogorov and Smirnov's test or chi-square, with fixed keys; tails;
derivatives against finite differences, and against quantiles and JAX where they are implicit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from scipy import special, stats
from xtensor.testing import check_gradients

r = xt.random
N = 20000
# Of some hundred tests one in ten falls below 1e-3; these keys are fixed.
LEVEL = 1e-3

CONTINUOUS: dict[str, tuple[Callable[..., Any], Any]] = {
    "uniform": (lambda k, f: r.uniform(k, n=N, dtype=f), stats.uniform()),
    "uniform between": (lambda k, f: r.uniform(k, -2.0, 3.0, n=N, dtype=f), stats.uniform(-2, 5)),
    "normal": (lambda k, f: r.normal(k, n=N, dtype=f), stats.norm()),
    "truncated_normal": (lambda k, f: r.truncated_normal(k, -0.5, 2.0, n=N, dtype=f), stats.truncnorm(-0.5, 2)),
    "truncated_normal, upper tail": (
        lambda k, f: r.truncated_normal(k, 6.0, np.inf, n=N, dtype=f), stats.truncnorm(6, np.inf)
    ),
    "truncated_normal, lower tail": (
        lambda k, f: r.truncated_normal(k, -9.0, -5.0, n=N, dtype=f), stats.truncnorm(-9, -5)
    ),
    "exponential": (lambda k, f: r.exponential(k, n=N, dtype=f), stats.expon()),
    "cauchy": (lambda k, f: r.cauchy(k, n=N, dtype=f), stats.cauchy()),
    "laplace": (lambda k, f: r.laplace(k, n=N, dtype=f), stats.laplace()),
    "logistic": (lambda k, f: r.logistic(k, n=N, dtype=f), stats.logistic()),
    "gumbel": (lambda k, f: r.gumbel(k, n=N, dtype=f), stats.gumbel_r()),
}  # fmt: skip


def fits(x: np.ndarray, distribution: Any) -> float:
    """The level of Kolmogorov and Smirnov's test."""
    return float(stats.kstest(x.astype("f8"), distribution.cdf).pvalue)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name: str, dtype: str) -> None:
    draw, distribution = CONTINUOUS[name]
    x = draw(r.key(11), dtype)
    assert x.dtype == dtype
    assert fits(x.values, distribution) > LEVEL


SHAPES = np.array([0.02, 0.3, 1.0, 2.5, 40.0, 1e5])


def test_shapes_of_gamma_beta_and_student_t() -> None:
    for dtype in ("f4", "f8"):
        a = xt.array(SHAPES.astype(dtype), dims="a")
        draw = xt.jit(lambda k, a: (r.gamma(k, a, n=N), r.beta(k, a, 2.0, n=N), r.student_t(k, a, n=N)))
        drawn = [v.transpose("a", "n").values for v in draw(r.key(5), a)]
        for shape, x, y, z in zip(a.values.astype("f8"), *drawn, strict=True):
            # Of the smallest shapes most numbers underflow in float32: a test below.
            if shape > 0.1 or dtype == "f8":
                assert fits(x, stats.gamma(shape)) > LEVEL
                assert fits(y, stats.beta(shape, 2.0)) > LEVEL
            if 0.1 < shape < 1e4:
                assert fits(z, stats.t(shape)) > LEVEL


def test_a_gamma_shape_whose_numbers_underflow() -> None:
    x = r.gamma(r.key(3), np.float32(0.02), n=N).values
    # Of the distribution, this much lies below the smallest normal float32.
    below = stats.gamma(0.02).cdf(float(np.finfo("f4").tiny))
    assert abs((x < np.finfo("f4").tiny).mean() - below) < 4 * np.sqrt(below / N)


def test_dirichlet() -> None:
    alpha = np.array([0.4, 1.0, 5.0])
    x = r.dirichlet(r.key(7), xt.array(alpha, dims="k"), dim="k", n=N)
    assert x.dims == ("n", "k")
    np.testing.assert_allclose(x.values.sum(1), 1, rtol=1e-12)
    for i, a in enumerate(alpha):
        assert fits(x.values[:, i], stats.beta(a, alpha.sum() - a)) > LEVEL
    small = r.dirichlet(r.key(7), xt.array(np.full(4, 1e-3, "f4"), dims="k"), dim="k", n=200).values
    assert np.isfinite(small).all() and np.allclose(small.sum(1), 1)


def test_multivariate_normal() -> None:
    mean, cov = np.array([1.0, -2.0, 0.5]), np.array([[2.0, 0.6, -0.3], [0.6, 1.0, 0.2], [-0.3, 0.2, 0.5]])
    for dims in (("row", "col"), ("y", "x")):
        m, c = xt.array(mean, dims=dims[0]), xt.array(cov, dims=dims)
        x = r.multivariate_normal(r.key(2), m, c, n=N, dims=dims)
        assert x.dims == ("n", dims[0])
        white = np.linalg.solve(np.linalg.cholesky(cov), (x.values - mean).T)
        assert all(fits(w, stats.norm()) > LEVEL for w in white)
        np.testing.assert_allclose(np.corrcoef(white), np.eye(3), atol=0.03)
    covs = xt.array(np.stack([cov, 4 * cov]), dims=("batch", "row", "col"))
    both = r.multivariate_normal(r.key(2), 0.0, covs, n=2000).values.std(0)
    assert both.shape == (2, 3)
    np.testing.assert_allclose(both[1] / both[0], 2, rtol=0.1)


# -- integers ---------------------------------------------------------------------------------------------------------


def fits_masses(x: np.ndarray, distribution: Any) -> float:
    """The level of a chi-square test of integers, of which the rare ones count together."""
    edges = np.unique(distribution.ppf(np.linspace(0.02, 0.98, 25)))
    expected = np.diff(distribution.cdf(np.concatenate(([-np.inf], edges, [np.inf]))))
    observed = np.histogram(x, np.concatenate(([-np.inf], edges + 0.5, [np.inf])))[0]
    keep = expected * len(x) >= 1
    return float(stats.chisquare(observed[keep], expected[keep] / expected[keep].sum() * observed[keep].sum()).pvalue)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_poisson(dtype: str) -> None:
    rates = np.array([0.01, 0.7, 4.0, 9.99, 10.0, 25.0, 300.0, 1e5])
    x = r.poisson(r.key(9), xt.array(rates.astype(dtype), dims="a"), n=N)
    assert x.dtype == "i8" and x.dims == ("n", "a")
    for rate, column in zip(rates.astype(dtype).astype("f8"), x.values.T, strict=True):
        assert fits_masses(column, stats.poisson(rate)) > LEVEL


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_binomial(dtype: str) -> None:
    cases = [(1, 0.3), (10, 0.5), (30, 0.9), (1000, 0.002), (50, 0.25), (500, 0.7), (100000, 0.4)]
    n = xt.array(np.array([c[0] for c in cases]), dims="a")
    p = np.array([c[1] for c in cases], dtype)
    x = r.binomial(r.key(10), n, xt.array(p, dims="a"), n=N)
    for (trials, _), chance, column in zip(cases, p.astype("f8"), x.values.T, strict=True):
        assert column.min() >= 0 and column.max() <= trials
        assert fits_masses(column, stats.binom(trials, chance)) > LEVEL


def uniform_integers(x: np.ndarray, low: int, high: int) -> float:
    counts = np.histogram(x, np.linspace(low, high, 17))[0]
    return float(stats.chisquare(counts).pvalue)


def test_integers() -> None:
    key = r.key(4)
    for low, high in ((0, 16), (-8, 8), (0, 2**32), (-(2**40), 2**40), (-(2**63), 2**63)):
        x = r.randint(key, low, high, n=N)
        assert uniform_integers(x.values.astype("f8"), low, high) > LEVEL
    assert uniform_integers(r.randint(key, -128, 128, n=N, dtype="i1").values.astype("f8"), -128, 128) > LEVEL
    lows, highs = xt.array([-16, 0], dims="a"), xt.array([16, 2**62], dims="a")
    both = r.randint(key, lows, highs, n=N).values
    assert uniform_integers(both[:, 0], -16, 16) > LEVEL and uniform_integers(both[:, 1].astype("f8"), 0, 2**62) > LEVEL
    assert {*r.randint(key, 3, 6, n=100).values.tolist()} == {3, 4, 5}


def test_choices() -> None:
    key, p = r.key(12), np.array([0.1, 0.2, 0.0, 0.7])
    logits = xt.log(xt.array(p, dims="c"))
    expected = N * p[p > 0]
    for x in (
        r.categorical(key, logits, dim="c", n=N), r.choice(key, 4, dim="c", p=xt.array(2 * p, dims="c"), n=N),
        r.choice(key, xt.arange(4.0, dim="c"), dim="c", p=xt.array(p, dims="c"), n=N),
    ):  # fmt: skip
        assert stats.chisquare(np.bincount(x.values.astype(int), minlength=4)[p > 0], expected).pvalue > LEVEL
    assert stats.chisquare(np.bincount(r.choice(key, 5, n=N).values)).pvalue > LEVEL
    assert abs(r.bernoulli(key, 0.3, n=N).values.mean() - 0.3) < 0.012
    # The first of two without replacement, and the second one after it.
    pairs = r.choice(r.split(key, n=N), 4, dim="c", p=xt.array(p, dims="c"), d=2, replace=False).values
    assert stats.chisquare(np.bincount(pairs[:, 0], minlength=4)[p > 0], expected).pvalue > LEVEL
    after = pairs[pairs[:, 0] == 3][:, 1]
    assert stats.binomtest(int((after == 1).sum()), len(after), 2 / 3).pvalue > LEVEL


def test_every_order_has_the_same_probability() -> None:
    orders = r.permutation(r.split(r.key(1), n=N), 4).values
    assert stats.chisquare(np.unique(orders @ [64, 16, 4, 1], return_counts=True)[1]).pvalue > LEVEL


def test_neighbours_keys_and_bits_are_independent() -> None:
    key = r.key(0)
    x = r.normal(key, a=100, b=200, dtype="f4").values
    for y in (x[1:] * x[:-1], x[:, 1:] * x[:, :-1], x * r.normal(r.key(1), a=100, b=200, dtype="f4").values):
        assert abs(y.mean()) < 4 / np.sqrt(y.size)
    by_key = r.normal(r.split(key, n=N), dtype="f4").values
    assert fits(by_key, stats.norm()) > LEVEL and abs((by_key[1:] * by_key[:-1]).mean()) < 4 / np.sqrt(N)
    bits = np.unpackbits(r.bits(key, n=N).values.view("u1").reshape(N, 4), axis=1)
    assert stats.chi2(32).sf((((bits.sum(0) - N / 2) ** 2) / (N / 4)).sum()) > LEVEL


def test_tails_have_their_digits() -> None:
    """The extreme words give the farthest numbers, which are those of their probabilities."""
    from xtensor.random import continuous, threefry

    words = xt.array(np.array([0, 1, 2**32 - 1, 2**31], "u4"), dims="i")
    draw = xt.jit(lambda w: continuous.standard_normal(threefry.Draw(w, None), np.dtype("f4")))
    found = draw(words).values
    half = ((words.values >> 1) + 0.5) / 2**32
    want = np.where(words.values & 1, -1, 1) * -special.ndtri(half)
    np.testing.assert_allclose(found, want, rtol=3e-6, atol=1e-7)
    assert found[0] > 6.2


# -- derivatives ------------------------------------------------------------------------------------------------------


def test_derivatives_of_smooth_paths() -> None:
    key, x = r.key(21), xt.array([0.7, 1.5, 3.0], dims="a")
    spread = xt.array([[2.0, 0.3], [0.3, 1.0]], dims=("row", "col"))

    def loss(x: Any, spread: Any) -> Any:
        c = (spread + spread.rename(row="col", col="row")) / 2
        return (
            xt.sum(r.uniform(key, -x, x**2, n=3))
            + xt.sum(r.truncated_normal(key, -x, x**2, n=3) ** 2)
            + xt.sum(r.truncated_normal(key, x, np.inf))
            + xt.sum(r.choice(key, x, dim="a", n=4) ** 2 * r.permutation(key, x, dim="a").sum())
            + xt.sum(r.multivariate_normal(key, x.isel(a=slice(2)).rename(a="row"), c, n=2) ** 2)
        )

    check_gradients(loss, (x, spread), order=1)


def gamma_slopes(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """dx/da where the distribution function stays, by differences of SciPy's quantiles."""
    h = 1e-5 * a
    low, high = special.gammainc(a, x), special.gammaincc(a, x)
    by_low = special.gammaincinv(a + h, low) - special.gammaincinv(a - h, low)
    by_high = special.gammainccinv(a + h, high) - special.gammainccinv(a - h, high)
    found: np.ndarray = np.where(low < high, by_low, by_high) / (2 * h)
    return found


def test_the_derivative_of_gamma_is_that_of_the_quantile() -> None:
    shapes = np.array([0.05, 0.3, 1.0, 2.5, 20.0, 500.0])
    draw = xt.jit(lambda a: xt.jvp(lambda a: r.gamma(r.key(3), a, n=60), (a,), (xt.ones_like(a),)))
    y, dy = (v.values for v in draw(xt.array(shapes, dims="a")))
    np.testing.assert_allclose(dy, gamma_slopes(shapes, y), rtol=1e-6)
    y4, dy4 = (v.values for v in draw(xt.array(shapes.astype("f4"), dims="a")))
    normal = y4 > 1e-30
    np.testing.assert_allclose(dy4[normal], gamma_slopes(shapes + 0 * y4, y4.astype("f8"))[normal], rtol=1e-3)


def test_the_slope_of_gamma_against_jax() -> None:
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    from xtensor.random import gammas

    a, q = np.meshgrid([0.05, 0.5, 1.0, 3.0, 50.0, 3e4], [1e-4, 0.1, 0.5, 0.9, 0.9999])
    x = special.gammaincinv(a, q)
    got = xt.jit(gammas.slope)(xt.array(np.log(x), dims=("q", "a")), xt.array(a, dims=("q", "a"))).values * x
    with jax.enable_x64(True):
        want = np.asarray(jax.lax.random_gamma_grad(a, x))
    np.testing.assert_allclose(got, want, rtol=2e-8)


def test_implicit_derivatives_in_both_modes_and_of_second_order() -> None:
    key = r.key(8)
    a = xt.array([0.6, 2.0, 9.0], dims="a")

    # With the drawn numbers on their quantiles: the function whose derivative it is.
    def moved(a: Any) -> Any:
        return xt.sum(xt.log(r.gamma(key, a, n=3)) ** 2)

    gradient = xt.grad(moved)(a).values
    forward = [xt.jvp(moved, (a,), (xt.array(e, dims="a"),))[1].item() for e in np.eye(3)]
    np.testing.assert_allclose(gradient, forward, rtol=1e-12)
    y = r.gamma(key, 2.0, n=3).values
    u, h = special.gammainc(2.0, y), 1e-3
    curvature = (special.gammaincinv(2 + h, u) - 2 * y + special.gammaincinv(2 - h, u)) / h**2
    second = xt.jacobian(lambda a: xt.jvp(lambda a: r.gamma(key, a, n=3), (a,), (1.0,))[1])(2.0)
    np.testing.assert_allclose(second.values, curvature, rtol=1e-5)


def test_derivatives_of_means_of_beta_dirichlet_and_student_t() -> None:
    """A derivative of a mean is the mean of the derivatives; means are known."""
    key, n = r.key(30), 20000
    a, b = 1.7, 0.9
    g = xt.grad(lambda a, b: xt.mean(r.beta(key, a, b, n=n)), wrt=(0, 1))(a, b)
    np.testing.assert_allclose([float(v) for v in g], [b / (a + b) ** 2, -a / (a + b) ** 2], rtol=0.03)
    alpha = xt.array([0.5, 1.5, 3.0], dims="k")
    g = xt.grad(lambda alpha: xt.mean(r.dirichlet(key, alpha, dim="k", n=n).isel(k=0)))(alpha)
    np.testing.assert_allclose(g.values, [4.5 / 25, -0.5 / 25, -0.5 / 25], rtol=0.06)
    df = 12.0  # the variance is df / (df - 2)
    g = xt.grad(lambda df: xt.mean(r.student_t(key, df, n=10 * n) ** 2))(df)
    np.testing.assert_allclose(float(g), -2 / (df - 2) ** 2, rtol=0.1)


def test_beta_of_small_shapes_has_a_derivative() -> None:
    """The power in 1 / (1 + exp(x)) overflows there."""
    for shape, dtype in ((0.05, "f4"), (0.01, "f4"), (0.01, "f8")):
        a = xt.full({"i": 5000}, shape, dtype=dtype)
        slope = xt.grad(lambda a: xt.random.beta(xt.random.key(1), a, a).sum())(a)
        assert np.isfinite(slope.values).all()
        along = xt.jvp(lambda a: xt.random.beta(xt.random.key(1), a, a), (a,), (xt.ones_like(a),))[1]
        np.testing.assert_allclose(slope.values, along.values, rtol=1e-4, atol=1e-6)
