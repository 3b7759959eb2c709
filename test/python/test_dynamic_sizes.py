"""One compiled function for every size: the functions on arrays over dims that are dynamic."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
import xtensor as xt
from against import ours, same, values
from scipy import special

FUNCTIONS = {
    "arithmetic": (lambda x: x * x + 1, lambda x: x * x + 1),
    "sum": (lambda x: x.sum("t"), lambda x: x.sum("t")),
    "mean": (lambda x: x.mean("t"), lambda x: x.mean("t")),
    "mean of all": (lambda x: x.mean(), lambda x: x.mean()),
    "var": (lambda x: x.var(ddof=1), lambda x: x.var(ddof=1)),
    "centred": (lambda x: x - x.mean("t"), lambda x: x - x.mean("t")),
    "gram": (lambda x: xt.dot(x, x.rename(f="g"), dim="t"), lambda x: xr.dot(x, x.rename(f="g"), dim="t")),
    "product": (lambda x: xt.dot(x, x, dim="f"), lambda x: xr.dot(x, x, dim="f")),
    "transpose": (lambda x: x.T, lambda x: x.T),
    "other dim": (lambda x: x.isel(f=[2, 0]), lambda x: x.isel(f=[2, 0])),
    "flip": (lambda x: x.isel(t=slice(None, None, -1)), lambda x: x[::-1]),
    "one": (lambda x: x.isel(t=1), lambda x: x.isel(t=1)),
    "zeros_like": (xt.zeros_like, xr.zeros_like),
    "where": (lambda x: x.where(x > 0, 0.0), lambda x: x.where(x > 0, 0.0)),
    "softmax": (lambda x: xt.nn.softmax(x, "t"), lambda x: x.copy(data=special.softmax(x.values, 0))),
    "logsumexp": (lambda x: xt.logsumexp(x, "t"), lambda x: xr.DataArray(special.logsumexp(x.values, 0), dims="f")),
    "expand": (lambda x: x.expand_dims(n=2), lambda x: x.expand_dims(n=2)),
    "argmax": (lambda x: x.argmax("t"), lambda x: x.argmax("t")),
    "norm": (lambda x: xt.norm(x, "t"), lambda x: xr.DataArray(np.linalg.norm(x.values, axis=0), dims="f")),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_size(name: str) -> None:
    f, peer = FUNCTIONS[name]
    g = xt.jit(f, dynamic_dims=("t",))
    for size in (2, 3, 17):
        x = xr.DataArray(values((size, 3), "f8", size), dims=("t", "f"))
        same(g(ours(x)), peer(x), rtol=1e-12)


def test_two_arrays_of_one_dynamic_dim() -> None:
    g = xt.jit(lambda x, y: (x * y).sum("t") / x.sizes["f"], dynamic_dims="t")
    for size in (1, 5):
        x = xr.DataArray(values((size, 3), "f8", size), dims=("t", "f"))
        y = xr.DataArray(values((size,), "f8", size), dims="t")
        same(g(ours(x), ours(y)), (x * y).sum("t") / 3, rtol=1e-12)


def test_what_needs_the_size_says_so() -> None:
    x = xt.ones(t=4)
    for f in (lambda x: x.roll(t=1), lambda x: xt.pad(x, t=1, mode="edge"), lambda x: x.isel(t=slice(1, 3))):
        with pytest.raises(ValueError, match="dynamic"):
            xt.jit(f, dynamic_dims="t")(x)
