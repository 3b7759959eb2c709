"""Derivative rules in float32 on Metal, which has no float64 to take differences in (test_gradient_rules.py): against
the CPU in float64, from the same arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xtensor as xt
from cases import Case
from derivative_cases import PUBLIC

TOLERANCE = 3e-4  # of the largest element: a case is a few operations of float32


def derivatives(case: Case, device: str, dtype: str) -> Any:
    """Value, directional derivative and gradient, each result weighted by 1."""

    def run(x: list[Any]) -> Any:
        y, dy = xt.jvp(case.f, tuple(x), tuple(x))
        return y, dy, xt.vjp(case.f, *x)[1](xt.tree.map(lambda y: xt.ones_like(y), y))

    x = [xt.array(v.values.astype("f4").astype(dtype), v.dims, device=device) for v in case.primals()]
    return xt.jit(run, device=device)(x)


@pytest.mark.sampled(64)
@pytest.mark.parametrize("case", PUBLIC, ids=lambda c: c.name)
def test_rules_in_float32(metal: str, case: Case) -> None:
    if case.name == "quantile skipna":
        pytest.skip("positions among the numbers of a row are float64, and metal has none")
    if any(y.dtype == "f8" for y in xt.tree.leaves(derivatives(case, "cpu", "f4"))):
        pytest.skip("the case has float64 arrays of its own, and metal has none")
    got = derivatives(case, metal, "f4")
    want = derivatives(case, "cpu", "f8")
    for g, w in zip(xt.tree.leaves(got), xt.tree.leaves(want), strict=True):
        assert (g.dims, g.shape) == (w.dims, w.shape)
        size = float(np.max(np.abs(w.values), initial=1.0))
        np.testing.assert_allclose(g.values.astype("f8"), w.values, rtol=0, atol=TOLERANCE * size)
