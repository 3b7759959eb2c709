"""Draws of `pytensor.xtensor.random` in PyTensor's mode "XTENSOR": the distributions of PyTensor's interpreter."""

from __future__ import annotations

import numpy as np
import pytest

pytensor = pytest.importorskip("pytensor", reason="PyTensor is not installed")

import pytensor.xtensor as px  # noqa: E402
import xtensor as xt  # noqa: E402
from pytensor.xtensor import random  # noqa: E402
from scipy.stats import ks_2samp  # noqa: E402

MODE = xt.pytensor_mode()
DRAWS = 4000
p, h, n = (px.as_xtensor(np.array(x), dims=("k",)) for x in ([2.0, 3.0], [0.4, 0.6], [5, 9]))
weights = px.as_xtensor(np.array([0.2, 0.3, 0.5]), dims=("c",))
CASES = {
    "bernoulli": (h,), "beta": (p, 2.5), "betabinom": (n, p, 2.0), "binomial": (n, h), "categorical": (weights,),
    "cauchy": (p, 1.0), "chisquare": (p,), "dirichlet": (weights,), "exponential": (p,), "gamma": (p, 1.5),
    "gengamma": (p, 1.2, 2.0), "geometric": (h,), "gumbel": (p, 2.0), "halfcauchy": (p, 1.0), "halfnormal": (p, 2.0),
    "hypergeometric": (n, 7, 6), "integers": (0, n), "invgamma": (p, 2.0), "laplace": (p, 2.0), "logistic": (p, 2.0),
    "lognormal": (p, 0.5), "multinomial": (n, weights), "negative_binomial": (n, h), "normal": (p, 2.0),
    "pareto": (p, 1.0), "poisson": (p,), "rayleigh": (p,), "standard_normal": (), "t": (p + 3, 1.0, 2.0),
    "triangular": (0.0, p, 4.0), "truncexpon": (p, 0.0, 1.0), "uniform": (-1.0, p), "vonmises": (p, 2.0),
    "wald": (p, 2.0), "weibull": (p,),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_distribution(name: str) -> None:
    core = {"core_dims": ("c",)} if name in ("categorical", "dirichlet", "multinomial") else {}
    rng = random.shared_rng(seed=3)
    _, y = getattr(random, name)(*CASES[name], extra_dims={"draw": DRAWS}, rng=rng, return_next_rng=True, **core)
    with pytensor.config.change_flags(mode="FAST_COMPILE", cxx=""):
        found, wanted = (pytensor.function([], y.values, mode=m)() for m in ("XTENSOR", "FAST_COMPILE"))
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    columns = zip(found.reshape(DRAWS, -1).T, wanted.reshape(DRAWS, -1).T, strict=True)
    assert min(ks_2samp(f, w).pvalue for f, w in columns) > 1e-3
