"""PyTensor's mode "XTENSOR" on random graphs of tensors, with gradients: against PyTensor's interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytensor = pytest.importorskip("pytensor", reason="PyTensor is not installed")

import pytensor.tensor as pt  # noqa: E402
import xtensor as xt  # noqa: E402

MODE = xt.pytensor_mode()
SEEDS = 24
UNARY = [
    pt.sin, pt.tanh, pt.sigmoid, pt.softplus, pt.abs, pt.sqr, pt.neg, pt.erf, pt.expm1, pt.arctan, pt.exp2, pt.cumsum,
    lambda x: pt.exp(-pt.sqr(x)), lambda x: pt.log1p(pt.sqr(x)), lambda x: pt.gammaln(pt.sqr(x) + 1),
    lambda x: pt.clip(x, -0.7, 0.9), lambda x: x[::-1], lambda x: x.T, lambda x: x.ravel()[1:],
    lambda x: pt.kve(0.5, pt.sqr(x) + 0.5), lambda x: pt.sort(x, axis=-1), lambda x: pt.repeat(x, 2, axis=0),
    lambda x: pt.set_subtensor(x[0], 2.0), lambda x: pt.inc_subtensor(x[-1], pt.sin(x[0])),
    lambda x: pt.special.softmax(x, axis=-1), lambda x: pt.special.log_softmax(x, axis=0), lambda x: x[[1, 0, 1]],
]  # fmt: skip
REDUCE = [pt.sum, pt.mean, pt.max, pt.min, pt.var, pt.prod, pt.logsumexp]
BINARY = [
    pt.add, pt.sub, pt.mul, pt.maximum, pt.minimum, pt.arctan2, pt.logaddexp, lambda x, y: x / (1 + pt.sqr(y)),
    lambda x, y: pt.switch(x > y, x, 2 * y), lambda x, y: pt.power(pt.abs(x) + 0.5, y), lambda x, y: x % (y**2 + 1),
]  # fmt: skip


def graph(rng: np.random.Generator, inputs: list[Any], values: list[Any]) -> Any:
    """Six random ops. Each value is known, too, so that ops get shapes that fit."""
    have = list(zip(inputs, values, strict=True))
    for _ in range(6):
        x, at = have[rng.integers(len(have))]
        kind = rng.integers(4)
        if kind == 0 and at.ndim:
            y = REDUCE[rng.integers(len(REDUCE))](
                x, axis=int(rng.integers(-at.ndim, at.ndim)), keepdims=rng.random() < 0.3
            )
        elif kind == 1 and at.ndim and min(at.shape) > 1:
            y = UNARY[rng.integers(len(UNARY))](x)
        else:
            fits = [z for z, other in have if other.ndim == 0 or other.shape == at.shape]
            y = BINARY[rng.integers(len(BINARY))](x, fits[rng.integers(len(fits))])
        have.append((y, y.eval(dict(zip(inputs, values, strict=True)), mode="FAST_COMPILE", on_unused_input="ignore")))
    return have[-1][0].sum() + sum(pt.sin(y).sum() for y, _ in have[-3:])


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_random_graph_with_its_gradients(seed: int) -> None:
    rng = np.random.default_rng(seed)
    inputs, values = (
        [pt.dmatrix("a"), pt.dmatrix("b"), pt.dvector("v")],
        [rng.normal(size=s) for s in [(3, 4), (3, 4), 4]],
    )
    y = graph(rng, inputs, values)
    results = [y, *pytensor.grad(y, inputs, disconnected_inputs="ignore")]
    found, wanted = (
        pytensor.function(inputs, results, mode=m, on_unused_input="ignore")(*values)
        for m in ("XTENSOR", "FAST_COMPILE")
    )
    for f, w in zip(found, wanted, strict=True):
        assert (f.shape, f.dtype) == (w.shape, w.dtype)
        np.testing.assert_allclose(f, w, rtol=1e-9, atol=1e-11)
