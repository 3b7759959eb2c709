"""The distributions of PyTensor's mode "XTENSOR", also those of PyMC: against SciPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

pytensor = pytest.importorskip("pytensor", reason="PyTensor is not installed")

import pytensor.tensor as pt  # noqa: E402
import xtensor as xt  # noqa: E402
from pytensor.compile.sharedvalue import shared  # noqa: E402
from xtensor.bridges.pytensor_mode.distributions import DISTRIBUTIONS, Draw  # noqa: E402

MODE = xt.pytensor_mode()
N = 20_000


def drawn(name: str, *parameters: Any, count: int = N, seed: int = 1) -> np.ndarray:
    """Draws of one distribution; the dims of one draw come last."""
    sizes = {"sample": count}
    key = xt.random.key(seed)
    x = xt.jit(lambda: DISTRIBUTIONS[name](Draw(key, sizes, "f8"), *map(known, parameters)))()
    return x.transpose("sample", ...).values


def known(x: Any) -> Any:
    return xt.array(x) if isinstance(x, float) else x


def check_continuous(x: np.ndarray, distribution: Any) -> None:
    assert np.isfinite(x).all()
    assert stats.kstest(x, distribution.cdf).pvalue > 1e-3, distribution


def check_discrete(x: np.ndarray, distribution: Any) -> None:
    values = np.arange(x.min(), x.max() + 1)
    expected = distribution.pmf(values) * len(x)
    common = expected >= 5
    counts = np.array([(x == k).sum() for k in values])
    assert expected.sum() > 0.999 * len(x)
    if len(values) == 1:
        assert distribution.pmf(values[0]) == pytest.approx(1)
        return
    seen, wanted = counts[common], expected[common]
    seen[-1] += counts[~common].sum()  # what is rare goes with the last of the others
    wanted[-1] += expected[~common].sum()
    assert stats.chisquare(seen, wanted * (seen.sum() / wanted.sum())).pvalue > 1e-3


def test_continuous_distributions() -> None:
    cases: list[tuple[str, tuple[float, ...], Any]] = [
        ("GenGammaRV", (3.0, 2.0, 1.5), stats.gengamma(3 / 2, 2, scale=1.5)),
        ("MoyalRV", (1.0, 2.0), stats.moyal(1, 2)),
        ("RiceRV", (1.5, 2.0), stats.rice(1.5, scale=2)),
        ("SkewNormalRV", (1.0, 2.0, -4.0), stats.skewnorm(-4, 1, 2)),
        ("SkewStudentTRV", (3.0, 4.0, 1.0, 2.0), stats.jf_skew_t(3, 4, 1, 2)),
        ("TruncatedNormalRV", (1.0, 2.0, 0.0, 1.5), stats.truncnorm(-0.5, 0.25, 1, 2)),
        ("WaldRV", (1.5, 0.1), stats.invgauss(15, scale=0.1)),
        ("WaldRV", (1.5, 300.0), stats.invgauss(1.5 / 300, scale=300)),
        ("WaldRV", (1.5, 2.0, 7.0), stats.invgauss(0.75, 7, 2)),
        ("VonMisesRV", (0.0, 1e-7), stats.uniform(-np.pi, 2 * np.pi)),
        ("VonMisesRV", (0.0, 0.3), stats.vonmises(0.3)),
        ("VonMisesRV", (0.0, 50.0), stats.vonmises(50)),
        ("VonMisesRV", (0.0, 1e8), stats.norm(0, 1e-4)),
    ]
    for name, parameters, distribution in cases:
        x = drawn(name, *parameters)
        if name == "VonMisesRV":
            assert np.abs(x).max() <= np.pi
        check_continuous(x, distribution)


def test_discrete_distributions() -> None:
    check_discrete(drawn("DiscreteUniformRV", 2.0, 7.0), stats.randint(2, 8))
    for good, bad, draws in [(20, 30, 10), (20, 30, 40), (3, 0, 2), (0, 4, 3), (5, 5, 10), (5, 5, 0)]:
        check_discrete(
            drawn("HyperGeometricRV", *map(xt.array, (good, bad, draws))), stats.hypergeom(good + bad, good, draws)
        )


def test_multinomial() -> None:
    p = np.array([0.2, 0.0, 0.5, 0.3])
    x = drawn("MultinomialRV", xt.array(12), xt.array(p, "core0"))
    assert (x.sum(-1) == 12).all()
    for i in (0, 2, 3):
        check_discrete(x[:, i], stats.binom(12, p[i]))
    assert not x[:, 1].any()
    assert np.corrcoef(x[:, 0], x[:, 2])[0, 1] == pytest.approx(-np.sqrt(0.2 * 0.5 / (0.8 * 0.5)), abs=0.03)
    sure = drawn("MultinomialRV", xt.array(5), xt.array([0.0, 1.0, 0.0], "core0"))
    assert (sure == [0, 5, 0]).all()


def test_distributions_of_vectors_and_matrices() -> None:
    weights = drawn("StickBreakingWeightsRV", xt.array(2.0), 3)
    np.testing.assert_allclose(weights.sum(-1), 1)
    check_continuous(weights[:, 0], stats.beta(1, 2))
    check_continuous(weights[:, 1] / (1 - weights[:, 0]), stats.beta(1, 2))
    scale = np.array([[2.0, 0.6], [0.6, 1.0]])
    x = drawn("WishartRV", xt.array(5), xt.array(scale, ("core0", "core1")))
    np.testing.assert_allclose(x, x.swapaxes(1, 2), atol=1e-12)
    np.testing.assert_allclose(x.mean(0), 5 * scale, atol=0.15)
    check_continuous(x[:, 0, 0] / 2, stats.chi2(5))
    check_continuous(np.linalg.det(x) / np.linalg.det(scale), _product_of_chi_squares(5, 4))
    rows, columns = np.array([[1.0, 0], [2, 1]]), np.array([[1.0, 0, 0], [0, 2, 0], [1, 1, 1]])
    pair = ("core0", "core1")
    z = drawn("MatrixNormalRV", xt.array(np.ones((2, 3)), pair), xt.array(rows, pair), xt.array(columns, pair))
    covariance = np.cov(z.reshape(N, -1).T)
    np.testing.assert_allclose(covariance, np.kron(rows @ rows.T, columns @ columns.T), atol=0.6)
    check_continuous(z[:, 1, 2], stats.norm(1, np.sqrt(5 * 3)))


class _product_of_chi_squares:  # noqa: N801
    def __init__(self, *degrees: int) -> None:
        rng = np.random.default_rng(0)
        self.values = np.sort(np.prod([rng.chisquare(n, 1_000_000) for n in degrees], axis=0))

    def cdf(self, x: np.ndarray) -> np.ndarray:
        return np.searchsorted(self.values, x) / len(self.values)


def test_graphs_with_batches() -> None:
    rng = shared(np.random.default_rng(0))
    kappa, p = np.array([[0.5], [20.0]]), np.array([[0.2, 0.3, 0.5], [0.9, 0.1, 0.0]])
    graphs = [
        pt.random.vonmises(0.0, kappa, size=(2, N), rng=rng),
        pt.random.wald(np.array([[1.0], [2.0]]), 3.0, size=(2, N), rng=rng),
        pt.random.multinomial(np.array([10, 4]), p, size=(N, 2), rng=rng),
        pt.random.hypergeometric(np.array([[5], [9]]), 7, np.array([[3], [14]]), size=(2, N), rng=rng),
    ]
    angles, times, counts, good = pytensor.function([], graphs, mode="XTENSOR")()
    for i in range(2):
        check_continuous(angles[i], stats.vonmises(kappa[i, 0]))
        check_continuous(times[i], stats.invgauss((i + 1) / 3, scale=3))
        check_discrete(counts[:, i, 0], stats.binom([10, 4][i], p[i, 0]))
        check_discrete(good[i], stats.hypergeom([12, 16][i], [5, 9][i], [3, 14][i]))
    assert (counts.sum(-1) == [10, 4]).all()
    assert counts.dtype == good.dtype == np.int64
