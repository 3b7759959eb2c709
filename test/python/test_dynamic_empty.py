"""Open dims that a call gives size 0, and matrices that a call makes square or not: as with fixed sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xtensor as xt

pytestmark = pytest.mark.cpu_only("bundles hold code for CPUs")

Function = Callable[..., Any]


def opened(f: Function, *arrays: xt.Array, dims: tuple[str, ...]) -> dict[str, Function]:
    """`f` with dims whose sizes only a call knows: compiled, and out of a bundle."""
    specs = [xt.spec({d: None if d in dims else n for d, n in a.sizes.items()}, dtype=a.dtype) for a in arrays]
    return {"jit": xt.jit(f, dynamic_dims=dims), "loaded": xt.load(xt.export(f, args=specs, c=False))}


@pytest.mark.parametrize("n", [0, 1, 2, 3])
@pytest.mark.parametrize("batch", [{}, {"b": 2}])
def test_determinants(n: int, batch: dict[str, int]) -> None:
    a = xt.array(np.random.default_rng(n).normal(size=(*batch.values(), n, n)), (*batch, "r", "k"))

    def f(x: Any) -> Any:
        return xt.linalg.det(x, dims=("r", "k"))

    for how, g in opened(f, a, dims=("r", "k")).items():
        np.testing.assert_allclose(g(a).values, np.linalg.det(a.values), rtol=1e-12, err_msg=how)
