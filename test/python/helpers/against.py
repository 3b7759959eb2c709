"""Named arrays at random, and the comparison of a result with what xarray or NumPy gives."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xarray as xr
import xtensor as xt
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from tiers import count

DIMS = ("a", "b", "c")
SIZES = (0, 1, 2, 3, 5)
FLOATS = ("f4", "f8")
NUMBERS = ("i1", "u1", "i2", "i4", "u4", "i8", "u8", "f2", "f4", "f8")
DTYPES = ("?", *NUMBERS)
# The dtype of a Python float that meets nothing which decides: the widest float that the device of this run has.
WEAK_FLOAT = np.dtype("f4" if os.environ.get("XTENSOR_TEST_DEVICE") == "metal" else "f8")
TOLERANCE = {"f2": 2e-3, "f4": 2e-6, "f8": 1e-12}


def examples(n: int) -> settings:
    """That many examples in the full matrix, fewer by default; the same ones in every run."""
    return settings(
        max_examples=count(max(8, n // 3), n),
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


def values(shape: tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray:
    """Numbers of either sign with ties among them."""
    random = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return random.random(shape) < 0.5
    if kind in "iu":
        return random.integers(0 if kind == "u" else -7, 8, shape).astype(dtype)
    return (
        np.round(random.normal(size=shape) * 4) / 2 + random.normal(size=shape) * (random.random(shape) < 0.6)
    ).astype(dtype)


@st.composite
def named(draw: Any, dtypes: tuple[str, ...] = FLOATS, least: int = 0, sizes: tuple[int, ...] = SIZES) -> xr.DataArray:
    """An array over some of the dims in some order."""
    (x,) = draw(several(1, dtypes, least, sizes))
    return x


@st.composite
def several(
    draw: Any, count: int, dtypes: tuple[str, ...] = FLOATS, least: int = 0, sizes: tuple[int, ...] = SIZES
) -> tuple[xr.DataArray, ...]:
    """Arrays whose equal names have equal sizes."""
    size = {d: draw(st.sampled_from(sizes)) for d in DIMS}
    found = []
    for i in range(count):
        order = draw(st.permutations(DIMS))
        dims = order[: draw(st.integers(least, len(DIMS)))]
        shape = tuple(size[d] for d in dims)
        found.append(xr.DataArray(values(shape, draw(st.sampled_from(dtypes)), i + 1), dims=tuple(dims)))
    return tuple(found)


def ours(x: xr.DataArray) -> Any:
    """The same array as ours."""
    return xt.array(x.values, dims=x.dims)


def same(got: Any, want: Any, rtol: float | None = None, atol: float | None = None) -> None:
    """Dims, dtype and values agree."""
    if not isinstance(want, xr.DataArray):
        want = xr.DataArray(want)
    assert tuple(got.dims) == tuple(want.dims), (got.dims, want.dims)
    assert got.dtype == want.dtype, (got.dtype, want.dtype)
    assert tuple(got.shape) == want.shape, (got.shape, want.shape)
    tolerance = TOLERANCE.get(np.dtype(want.dtype).str[1:], 0)
    rtol = tolerance if rtol is None else rtol
    np.testing.assert_allclose(
        np.asarray(got.values), want.values, rtol=rtol, atol=rtol if atol is None else atol, equal_nan=True
    )


def finished(result: Any) -> Any:
    """What a program gives, once it is there: a device tells of an index out of range when its result is read."""
    xt.tree.map(lambda r: r.values if isinstance(r, xt.Array) else r, result)
    return result


def jax_or_skip() -> Any:
    """JAX with 64 bits, or a skip that says why."""
    jax = pytest.importorskip("jax", reason="JAX is not installed: pip install 'xtensor-mlir[test-peers]'")
    jax.config.update("jax_enable_x64", True)
    return jax


def eager_and_jit(f: Callable[..., Any], *args: Any) -> list[Any]:
    """Eagerly and inside of jit."""
    return [f(*args), xt.jit(f)(*args)]
