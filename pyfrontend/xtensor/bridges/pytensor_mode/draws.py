"""Random variables of PyTensor: the same distributions, drawn by the counters of `xt.random`.

A generator of NumPy gives a seed for each call of a program. Inside of the program, a key stands for it, and each node
draws with a part of the key. So the numbers are not those of PyTensor's other modes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply

from ... import ops, random
from ...base.errors import UnsupportedError
from .graph import Run, fixed, found, implements
from .values import axis, kept, named, renamed, size


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


# Functions of a draw and the parameters, by the name of the class.
_DISTRIBUTIONS: dict[str, Callable[..., Any]] = {
    "BernoulliRV": lambda d, p: d.of(random.bernoulli, p),
    "BetaBinomialRV": _beta_binomial,
    "BetaRV": lambda d, a, b: d.float_of(random.beta, a, b),
    "BinomialRV": lambda d, n, p: d.of(random.binomial, n, p),
    "CategoricalRV": lambda d, p: d.of(random.categorical, ops.log(p), dim="core0"),
    "CauchyRV": _scaled(random.cauchy),
    "DirichletRV": lambda d, alpha: d.of(random.dirichlet, alpha, dim="core0", dtype=d.dtype),
    "ExponentialRV": lambda d, scale: scale * d.float_of(random.exponential),
    "GammaRV": _gamma,
    "GeometricRV": _geometric,
    "GumbelRV": _scaled(random.gumbel),
    "HalfCauchyRV": lambda d, loc, scale: loc + scale * ops.abs(d.float_of(random.cauchy)),
    "HalfNormalRV": lambda d, loc, scale: loc + scale * ops.abs(d.float_of(random.normal)),
    "IntegersRV": lambda d, low, high: d.of(random.randint, low, high),
    "InvGammaRV": lambda d, shape, scale: scale / d.float_of(random.gamma, shape),
    "LaplaceRV": _scaled(random.laplace),
    "LogNormalRV": lambda d, mean, sigma: ops.exp(mean + sigma * d.float_of(random.normal)),
    "LogisticRV": _scaled(random.logistic),
    "MvNormalRV": lambda d, mean, cov: d.of(
        random.multivariate_normal, mean, cov, dims=("core0", "core1"), dtype=d.dtype
    ),
    "NegBinomialRV": _negative_binomial,
    "NormalRV": _scaled(random.normal),
    "ParetoRV": lambda d, b, scale: scale * ops.exp(d.float_of(random.exponential) / b),
    "PoissonRV": lambda d, rate: d.of(random.poisson, rate),
    "StudentTRV": lambda d, df, loc, scale: loc + scale * d.float_of(random.student_t, df),
    "TriangularRV": _triangular,
    "TruncExponentialRV": lambda d, b, loc, scale: loc - scale * ops.log1p(d.uniform() * ops.expm1(ops.negative(b))),
    "UniformRV": lambda d, low, high: low + (high - low) * d.uniform(),
    "WeibullRV": lambda d, shape: ops.pow(d.float_of(random.exponential), 1.0 / shape),
}


@implements("PermutationRV")
def permutation(op: Any, node: Apply) -> Run:
    type_ = node.inputs[2].type
    if op.batch_ndim(node):
        raise UnsupportedError(f'the mode "XTENSOR" has no batches of permutations, as in {node.outputs[1]}')

    def run(key: Any, _: Any, x: Any) -> Any:
        own, after = random.split(key, 2)
        if not type_.ndim:
            return [after, random.permutation(own, ops.arange(int(fixed(x, "the size", node)), dim=axis(0)), axis(0))]
        return [after, random.permutation(own, named(x, type_), axis(0))]

    return run


@implements("RandomVariable", known=lambda node: node.inputs[1:2])
def random_variable(op: Any, node: Apply) -> Run:
    distribution = found(_DISTRIBUTIONS, op)
    if distribution is None:
        raise UnsupportedError(f'the mode "XTENSOR" has no {type(op).__name__}, as in {node.outputs[1]}')
    out = node.outputs[1].type
    batch = out.ndim - op.ndim_supp
    dtype = out.dtype if np.dtype(out.dtype).kind == "f" else "f8"

    def parameter(x: Any, v: Any, core: int) -> Any:
        own = v.type.ndim - core
        names = {axis(i): axis(batch - own + i) for i in range(own)}
        return renamed(named(x, v.type), names | {axis(own + j): f"core{j}" for j in range(core)})

    def run(key: Any, sizes: Any, *given: Any) -> Any:
        own, after = random.split(key, 2)
        parameters = [parameter(x, v, core) for x, v, core in zip(given, node.inputs[2:], op.ndims_params, strict=True)]
        wanted = {axis(i): n for x in parameters for i in range(batch) if axis(i) in x.dims for n in [size(x, i)]}
        if sizes is not None and np.size(fixed(sizes, "the size", node)):
            wanted |= {axis(i): int(n) for i, n in enumerate(np.atleast_1d(sizes))}
        wanted = {d: n for d, n in wanted.items() if d in {axis(i) for i in kept(out)}}
        x = distribution(Draw(own, wanted, dtype), *parameters)
        return [after, renamed(x, {f"core{j}": axis(batch + j) for j in range(op.ndim_supp)})]

    return run
