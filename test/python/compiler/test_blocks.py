"""Blocks of long dims that are read from a place on, in steps, backwards, or in several of these ways at once."""

from __future__ import annotations

import numpy as np
import pytest
import xtensor as xt

STEPS = (slice(5, None), slice(None, -3), slice(None, None, 2), slice(1, None, 3), slice(None, None, -1))


@pytest.mark.parametrize("dtype", ("f4", "u1"))
@pytest.mark.parametrize("sizes", ((65536,), (65537,), (3, 30011), (5, 16384), (1100, 17, 8)))
def test_slices(sizes: tuple[int, ...], dtype: str) -> None:
    numbers = np.random.default_rng(0).integers(0, 100, sizes).astype(dtype)
    dims = "abc"[: len(sizes)]
    x = xt.array(numbers, tuple(dims))
    for axis, dim in enumerate(dims):
        for step in STEPS:
            at = (slice(None),) * axis + (step,)
            got = xt.jit(lambda x, dim=dim, step=step: x.isel({dim: step}) * 2)(x)
            np.testing.assert_array_equal(np.asarray(got), numbers[at] * 2)


def test_neighbours_and_reductions_of_slices() -> None:
    numbers = np.random.default_rng(0).standard_normal(70_001).astype("f4")
    x = xt.array(numbers, "a")
    run = xt.jit(
        lambda x: xt.exp(x).isel(a=slice(1, None)) - xt.exp(x).isel(a=slice(None, -1)) * x.isel(a=slice(-2, None, -1))
    )
    e = np.exp(numbers)
    np.testing.assert_allclose(np.asarray(run(x)), e[1:] - e[:-1] * numbers[-2::-1], rtol=1e-5, atol=1e-5)
    total = xt.jit(lambda x: xt.sum(x.isel(a=slice(1, None, 2)) * x.isel(a=slice(None, -1, 2))))(x)
    np.testing.assert_allclose(float(total), np.sum(numbers[1::2] * numbers[:-1:2], dtype="f8"), rtol=1e-4)


@pytest.mark.parametrize("rest", (2, 5, 31, 33, 59, 62))
def test_reversed_bytes(rest: int) -> None:
    """LLVM's code generator did not end for some of these (docs/upstream.md)."""
    numbers = np.random.default_rng(0).integers(0, 100, (3, 30_016 - rest)).astype("u1")
    x = xt.array(numbers, ("a", "b"))
    back = numbers[:, ::-1]
    for f, want in ((lambda y: y * 2, back * 2), (lambda y: y ^ 5, back ^ 5), (lambda y: y * 3, back * 3)):
        np.testing.assert_array_equal(np.asarray(xt.jit(lambda x, f=f: f(xt.flip(x, dim="b")))(x)), want)


def test_flips_of_open_sizes() -> None:
    run = xt.jit(lambda x: xt.flip(x, dim="a") - x, dynamic_dims=("a",))
    for size in (2, 1000, 65_536, 70_001):
        numbers = np.arange(size, dtype="f4")
        np.testing.assert_array_equal(np.asarray(run(xt.array(numbers, "a"))), numbers[::-1] - numbers)
