"""The distributions of PyTensor's and PyMC's random variables, made of draws of `xt.random`.

The dims core0, core1 .. of a parameter or a result are the axes of one draw. All other dims are a batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import linalg, ops, random
from ...transforms.control import scan, while_loop
from .values import cast, renamed


class Draw:
    """A key, the sizes of all dims of a batch, and a float dtype."""

    def __init__(self, key: Any, sizes: dict[str, int], dtype: Any) -> None:
        self.key, self.sizes, self.dtype = key, sizes, dtype

    def of(self, f: Callable[..., Any], *parameters: Any, **options: Any) -> Any:
        return f(self.key, *parameters, self.sizes, **options)

    def float_of(self, f: Callable[..., Any], *parameters: Any) -> Any:
        return self.of(f, *parameters, dtype=self.dtype)

    def uniform(self) -> Any:
        return random.uniform(self.key, self.sizes, dtype=self.dtype)

    def apart(self) -> tuple[Draw, Draw]:
        """Two, for distributions that are made of two."""
        first, second = random.split(self.key, 2)
        return Draw(first, self.sizes, self.dtype), Draw(second, self.sizes, self.dtype)


def _scaled(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda d, loc, scale: loc + scale * d.float_of(f)


def _gamma(d: Draw, shape: Any, scale: Any) -> Any:
    return scale * d.float_of(random.gamma, shape)


def _beta_binomial(d: Draw, n: Any, a: Any, b: Any) -> Any:
    first, second = d.apart()
    return second.of(random.binomial, n, first.float_of(random.beta, a, b))


def _negative_binomial(d: Draw, n: Any, p: Any) -> Any:
    first, second = d.apart()
    return second.of(random.poisson, first.float_of(random.gamma, n) * ((1.0 - p) / p))


def _geometric(d: Draw, p: Any) -> Any:
    return ops.maximum(ops.ceil(d.float_of(random.exponential) / ops.negative(ops.log1p(ops.negative(p)))), 1.0)


def _triangular(d: Draw, left: Any, mode: Any, right: Any) -> Any:
    u, width = d.uniform(), right - left
    rises = ops.less(u, (mode - left) / width)
    return ops.where(
        rises, left + ops.sqrt(u * width * (mode - left)), right - ops.sqrt((1.0 - u) * width * (right - mode))
    )


def _generalized_gamma(d: Draw, alpha: Any, p: Any, scale: Any) -> Any:
    return scale * ops.pow(d.float_of(random.gamma, alpha / p), 1.0 / p)


def _moyal(d: Draw, loc: Any, scale: Any) -> Any:
    return loc - scale * 2.0 * ops.log(ops.abs(d.float_of(random.normal)))


def _rice(d: Draw, b: Any, scale: Any) -> Any:
    first, second = d.apart()
    return scale * ops.hypot(b + first.float_of(random.normal), second.float_of(random.normal))


def _skew_normal(d: Draw, loc: Any, scale: Any, alpha: Any) -> Any:
    """Azzalini and Capitanio 1999, section 2.1."""
    first, second = d.apart()
    x, y = first.float_of(random.normal), second.float_of(random.normal)
    delta = alpha / ops.hypot(1.0, alpha)
    z = delta * x + ops.sqrt(1.0 - delta * delta) * y
    return loc + scale * ops.where(ops.less(x, 0.0), ops.negative(z), z)


def _skew_student_t(d: Draw, a: Any, b: Any, loc: Any, scale: Any) -> Any:
    """Jones and Faddy 2003, equation 1."""
    x = d.float_of(random.beta, a, b)
    return loc + scale * (2.0 * x - 1.0) * ops.sqrt(a + b) / (2.0 * ops.sqrt(x * (1.0 - x)))


def _truncated_normal(d: Draw, loc: Any, scale: Any, low: Any, high: Any) -> Any:
    return loc + scale * d.float_of(random.truncated_normal, (low - loc) / scale, (high - loc) / scale)


def _wald(d: Draw, mean: Any, scale: Any, shift: Any = 0.0) -> Any:
    """Michael, Schucany and Haas 1976: the smaller root, without the difference of two large numbers."""
    first, second = d.apart()
    z = first.float_of(random.normal)
    x = mean * (1.0 - 2.0 / (1.0 + ops.sqrt(1.0 + 4.0 * scale / (mean * z * z))))
    return shift + ops.where(ops.less_equal(second.uniform(), mean / (mean + x)), x, mean * mean / x)


def _repeated(d: Draw, start: Any, attempt: Callable[[Draw, Any], tuple[Any, Any]]) -> Any:
    """Attempts at each position until one is accepted. attempt: a value, and whether it is accepted."""

    def body(carry: Any) -> Any:
        found, accepted = attempt(Draw(random.fold_in(d.key, carry["step"]), d.sizes, d.dtype), carry["step"])
        value = ops.where(carry["done"], carry["value"], found)
        return {"step": carry["step"] + 1, "done": ops.logical_or(carry["done"], accepted), "value": value}

    init = {"step": np.int64(0), "done": ops.zeros(start.sizes, dtype=bool), "value": start}
    return while_loop(lambda carry: ops.logical_not(ops.all(carry["done"])), body, init)["value"]


def _von_mises(d: Draw, loc: Any, kappa: Any) -> Any:
    """Best and Fisher 1979. Beyond 1e6 a normal distribution differs by less than 1e-6."""
    first, rest = d.apart()
    is_wide, is_narrow = ops.less(kappa, 1e-5), ops.greater(kappa, 1e6)
    k = cast(ops.where(is_wide | is_narrow, 1.0, kappa), "f8")
    r = 1.0 + ops.sqrt(1.0 + 4.0 * k * k)
    rho = (r - ops.sqrt(2.0 * r)) / (2.0 * k)
    # Below 1e-5, the terms of the formula above cancel.
    s = ops.where(is_wide, 1.0 / ops.maximum(cast(kappa, "f8"), 1e-300), (1.0 + rho * rho) / (2.0 * rho))
    k = ops.where(is_wide, cast(kappa, "f8"), k)

    def attempt(d: Draw, step: Any) -> tuple[Any, Any]:
        keys = random.split(d.key, 3)
        u, v, side = (random.uniform(key, d.sizes, dtype="f8") for key in keys)
        z = ops.cos(math.pi * u)
        w = (1.0 + s * z) / (s + z)
        y = k * (s - w)
        accepted = ops.greater_equal(y * (2.0 - y), v) | ops.greater_equal(ops.log(y / v) + 1.0, y)
        angle = ops.acos(ops.minimum(ops.maximum(w, -1.0), 1.0))
        return ops.where(ops.less(side, 0.5), ops.negative(angle), angle), accepted

    around = _repeated(rest, ops.zeros(d.sizes, dtype="f8"), attempt)
    normal = random.normal(first.key, d.sizes, dtype="f8") / ops.sqrt(ops.where(is_narrow, cast(kappa, "f8"), 1.0))
    angle = loc + ops.where(is_narrow, normal, around)
    return ops.remainder(angle + math.pi, 2 * math.pi) - math.pi


def _hypergeometric(d: Draw, good: Any, bad: Any, draws: Any) -> Any:
    """One draw after the other. At most half of the population is drawn: the rest is what remains."""
    total = good + bad
    is_rest = ops.greater(draws * 2, total)
    count = ops.where(is_rest, total - draws, draws)

    def body(carry: Any) -> Any:
        step, found = carry["step"], carry["found"]
        u = random.uniform(random.fold_in(d.key, step), d.sizes, dtype="f8")
        is_good = ops.less(u * cast(total - step, "f8"), cast(good - found, "f8")) & ops.less(step, count)
        return {"step": step + 1, "found": found + cast(is_good, "i8")}

    init = {"step": np.int64(0), "found": ops.zeros(d.sizes, dtype="i8")}
    found = while_loop(lambda carry: ops.any(ops.less(carry["step"], count)), body, init)["found"]
    return ops.where(is_rest, good - found, found)


def _multinomial(d: Draw, n: Any, p: Any) -> Any:
    """The count of one class after the other, binomial among what is left."""
    rest = ops.cumsum(p, dim="core0", reverse=True)
    chance = ops.where(ops.greater(rest, 0.0), ops.minimum(p / rest, 1.0), 0.0)
    # The last class that can occur takes what is left, whatever the rounding.
    is_last = ops.greater(p, 0.0) & ops.less_equal(rest - p, 0.0)
    xs = {"chance": ops.where(is_last, 1.0, chance), "key": random.split(d.key, core0=p.sizes["core0"])}

    def step(left: Any, x: Any) -> tuple[Any, Any]:
        found = random.binomial(x["key"], left, x["chance"], d.sizes)
        return left - found, found

    start = ops.expand_dims(cast(n, "i8"), {k: m for k, m in d.sizes.items() if k not in n.dims})
    return scan(step, start, xs, dim="core0")[1]


def _stick_breaking(d: Draw, alpha: Any, count: Any) -> Any:
    """What is left of a stick after each break, and the differences of that."""
    sizes = {**d.sizes, "core0": int(count)}
    pieces = random.exponential(d.key, sizes, dtype=d.dtype) / alpha  # -log(1 - beta(1, alpha))
    left = ops.exp(ops.negative(ops.cumsum(pieces, dim="core0")))
    whole, nothing = ops.ones({**d.sizes, "core0": 1}, dtype=d.dtype), ops.zeros({**d.sizes, "core0": 1}, dtype=d.dtype)
    return ops.concat([whole, left], "core0") - ops.concat([left, nothing], "core0")


def _wishart(d: Draw, nu: Any, scale: Any) -> Any:
    """The decomposition of Bartlett 1933: a triangle of normals with roots of chi-squares on its diagonal."""
    pair, size = ("core0", "core1"), scale.sizes["core0"]
    first, second = d.apart()
    normals = random.normal(first.key, {**d.sizes, "core0": size, "core1": size}, dtype=d.dtype)
    normals = linalg.tril(normals, dims=pair, k=-1)
    half = (cast(nu, d.dtype) - ops.arange(size, dim="core0", dtype=d.dtype)) * 0.5
    chi = 2.0 * random.gamma(second.key, half, {k: n for k, n in d.sizes.items() if k not in half.dims}, dtype=d.dtype)
    triangle = normals + ops.sqrt(chi) * ops.eye(size, dims=pair, dtype=d.dtype)
    root = renamed(linalg.cholesky(scale, pair), {"core1": "inner"})
    root = ops.dot(root, renamed(triangle, {"core0": "inner"}), dim="inner")
    return ops.dot(renamed(root, {"core1": "inner"}), renamed(root, {"core0": "core1", "core1": "inner"}), dim="inner")


def _matrix_normal(d: Draw, mean: Any, rows: Any, columns: Any) -> Any:
    sizes = {**d.sizes, "row": rows.sizes["core1"], "column": columns.sizes["core1"]}
    z = random.normal(d.key, sizes, dtype=d.dtype)
    z = ops.dot(renamed(rows, {"core1": "row"}), z, dim="row")
    return mean + ops.dot(z, renamed(columns, {"core0": "core1", "core1": "column"}), dim="column")


# Functions of a draw and the parameters, by the name of the class.
DISTRIBUTIONS: dict[str, Callable[..., Any]] = {
    "BernoulliRV": lambda d, p: d.of(random.bernoulli, p),
    "BetaBinomialRV": _beta_binomial,
    "BetaRV": lambda d, a, b: d.float_of(random.beta, a, b),
    "BinomialRV": lambda d, n, p: d.of(random.binomial, n, p),
    "CategoricalRV": lambda d, p: d.of(random.categorical, ops.log(p), dim="core0"),
    "CauchyRV": _scaled(random.cauchy),
    "DirichletRV": lambda d, alpha: d.of(random.dirichlet, alpha, dim="core0", dtype=d.dtype),
    "DiscreteUniformRV": lambda d, low, high: d.of(random.randint, cast(low, "i8"), cast(high, "i8") + 1),
    "ExponentialRV": lambda d, scale: scale * d.float_of(random.exponential),
    "GammaRV": _gamma,
    "GenGammaRV": _generalized_gamma,
    "GeometricRV": _geometric,
    "GumbelRV": _scaled(random.gumbel),
    "HalfCauchyRV": lambda d, loc, scale: loc + scale * ops.abs(d.float_of(random.cauchy)),
    "HalfNormalRV": lambda d, loc, scale: loc + scale * ops.abs(d.float_of(random.normal)),
    "HyperGeometricRV": _hypergeometric,
    "IntegersRV": lambda d, low, high: d.of(random.randint, low, high),
    "InvGammaRV": lambda d, shape, scale: scale / d.float_of(random.gamma, shape),
    "LaplaceRV": _scaled(random.laplace),
    "LogNormalRV": lambda d, mean, sigma: ops.exp(mean + sigma * d.float_of(random.normal)),
    "LogisticRV": _scaled(random.logistic),
    "MatrixNormalRV": _matrix_normal,
    "MoyalRV": _moyal,
    "MultinomialRV": _multinomial,
    "MvNormalRV": lambda d, mean, cov: d.of(
        random.multivariate_normal, mean, cov, dims=("core0", "core1"), dtype=d.dtype
    ),
    "NegBinomialRV": _negative_binomial,
    "NormalRV": _scaled(random.normal),
    "ParetoRV": lambda d, b, scale: scale * ops.exp(d.float_of(random.exponential) / b),
    "PoissonRV": lambda d, rate: d.of(random.poisson, rate),
    "RiceRV": _rice,
    "SkewNormalRV": _skew_normal,
    "SkewStudentTRV": _skew_student_t,
    "StickBreakingWeightsRV": _stick_breaking,
    "StudentTRV": lambda d, df, loc, scale: loc + scale * d.float_of(random.student_t, df),
    "TriangularRV": _triangular,
    "TruncExponentialRV": lambda d, b, loc, scale: loc - scale * ops.log1p(d.uniform() * ops.expm1(ops.negative(b))),
    "TruncatedNormalRV": _truncated_normal,
    "UniformRV": lambda d, low, high: low + (high - low) * d.uniform(),
    "VonMisesRV": _von_mises,
    "WaldRV": _wald,
    "WeibullRV": lambda d, shape: ops.pow(d.float_of(random.exponential), 1.0 / shape),
    "WishartRV": _wishart,
}
