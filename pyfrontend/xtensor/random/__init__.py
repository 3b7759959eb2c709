"""Random numbers by name: `xt.random`. Counter-based: the same key gives the same numbers on every device."""

from .continuous import (
    cauchy,
    exponential,
    gumbel,
    laplace,
    logistic,
    multivariate_normal,
    normal,
    truncated_normal,
    uniform,
)
from .counts import binomial, poisson
from .discrete import bernoulli, bits, categorical, choice, permutation, randint
from .gammas import beta, dirichlet, gamma, student_t
from .keys import Key, fold_in, key, split

__all__ = [
    "Key",
    "bernoulli",
    "beta",
    "binomial",
    "bits",
    "categorical",
    "cauchy",
    "choice",
    "dirichlet",
    "exponential",
    "fold_in",
    "gamma",
    "gumbel",
    "key",
    "laplace",
    "logistic",
    "multivariate_normal",
    "normal",
    "permutation",
    "poisson",
    "randint",
    "split",
    "student_t",
    "truncated_normal",
    "uniform",
]


def __dir__() -> list[str]:
    return sorted(__all__)
