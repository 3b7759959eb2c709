"""Gradients through several slices of one array: what each gives back is summed where they overlap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from xtensor.testing import check_gradients

SIZE = 9
SLICES = {
    "halves": (slice(0, 4), slice(4, 9)),
    "neighbours": (slice(0, 8), slice(1, 9)),
    "three in a row": (slice(0, 7), slice(1, 8), slice(2, 9)),
    "far apart": (slice(0, 2), slice(6, 7)),
    "one inside of the other": (slice(1, 8), slice(3, 5)),
    "the same twice": (slice(2, 5), slice(2, 5)),
    "single elements": tuple(slice(i, i + 1) for i in (8, 0, 3, 3, 4)),
    "every other": (slice(0, 9, 2), slice(1, 9, 2)),
    "backwards": (slice(None, 2, -1), slice(0, 6)),
    "nothing and something": (slice(4, 4), slice(1, 3), slice(5, 7)),
}


def weighted(x: Any, slices: tuple[slice, ...], dim: str, f: Callable[[Any], Any] = lambda v: v) -> Any:
    return sum(xt.sum(f(x.isel({dim: s})) * 10.0**k) for k, s in enumerate(slices))


def expected(shape: tuple[int, ...], axis: int, slices: tuple[slice, ...]) -> np.ndarray:
    want = np.zeros(shape)
    for k, s in enumerate(slices):
        want[tuple(s if i == axis else slice(None) for i in range(len(shape)))] += 10.0**k
    return want


@pytest.mark.parametrize("slices", SLICES.values(), ids=SLICES.keys())
@pytest.mark.parametrize("axis", [0, 1])
def test_gradient_of_slices(slices: tuple[slice, ...], axis: int) -> None:
    shape = (SIZE, 5) if axis == 0 else (5, SIZE)
    x = xt.array(np.random.default_rng(0).standard_normal(shape), ("i", "j"))
    want = expected(shape, axis, slices)
    np.testing.assert_array_equal(xt.grad(lambda x: weighted(x, slices, "ij"[axis]))(x).values, want)
    # Beside a use of all of it.
    got = xt.grad(lambda x: xt.sum(x * 0.5) + weighted(x, slices, "ij"[axis]))(x)
    np.testing.assert_array_equal(got.values, want + 0.5)
    # The second derivative of sum(x ** 2 / 2): a diagonal of the same numbers.
    tangent = xt.array(np.arange(1.0, 1 + x.size).reshape(shape), ("i", "j"))
    got = xt.hvp(lambda x: weighted(x, slices, "ij"[axis], lambda v: v * v * 0.5), (x,), (tangent,))
    np.testing.assert_array_equal(got.values, want * tangent.values)


@pytest.mark.parametrize("slices", SLICES.values(), ids=SLICES.keys())
def test_slices_of_what_was_computed(slices: tuple[slice, ...]) -> None:
    x = xt.array(np.random.default_rng(1).standard_normal((3, SIZE)), ("i", "j"))

    def f(x: Any) -> Any:
        return xt.sum(xt.tanh(weighted(xt.sin(x), slices, "j", lambda v: v * v) / 10**4))

    check_gradients(f, (x,))


def test_slices_along_two_dims() -> None:
    x = xt.array(np.arange(30.0).reshape(5, 6), ("i", "j"))
    stencil = {(0, 1): 1.0, (2, 1): 10.0, (1, 0): 100.0, (1, 2): 1e3, (1, 1): 1e4}

    def loss(x: Any) -> Any:
        return sum(xt.sum(x.isel(i=slice(i, i + 3), j=slice(j, j + 4))) * w for (i, j), w in stencil.items())

    want = np.zeros((5, 6))
    for (i, j), w in stencil.items():
        want[i : i + 3, j : j + 4] += w
    np.testing.assert_array_equal(xt.grad(loss)(x).values, want)


@pytest.mark.parametrize("count", [3, 17, 40, 300, 700])
def test_many_rows_taken_one_by_one(count: int) -> None:
    x = xt.array(np.random.default_rng(2).standard_normal((count, 3)), ("i", "j"))
    got = xt.grad(lambda x: sum(xt.sum(x.isel(i=k) * float(k + 1)) for k in range(0, count, 2)))(x)
    want = np.where(np.arange(count) % 2 == 0, np.arange(count) + 1.0, 0.0)
    np.testing.assert_array_equal(got.values, np.broadcast_to(want[:, None], (count, 3)))


def test_what_is_not_finite_stays_in_its_slice() -> None:
    x = xt.array([1.0, 2.0, 3.0, 4.0], "i")
    weights = xt.array([np.inf, np.nan], "i")
    got = xt.grad(lambda x: xt.sum(x.isel(i=slice(0, 2)) * weights) + xt.sum(x.isel(i=slice(1, 3)) * 2.0))(x)
    np.testing.assert_array_equal(got.values, [np.inf, np.nan, 2, 0])


@pytest.mark.parametrize("dtype", ["f2", "f4"])
def test_slices_per_instance(dtype: str) -> None:
    x = xt.array(np.arange(24).reshape(4, 6).astype(dtype), ("n", "i"))
    halves = xt.vectorize(xt.grad(lambda x: xt.sum(x.isel(i=slice(0, 3)) * x.isel(i=slice(3, 6)))), dims="n")
    np.testing.assert_array_equal(halves(x).values, np.roll(x.values, 3, axis=1))


def test_nothing_of_the_whole_size_is_added() -> None:
    """Of the gradient of slices one array is made, not one per slice that is filled with zeros."""
    x = xt.array(np.zeros((64, 64), "f4"), ("i", "j"))
    text = xt.jit(xt.grad(lambda x: weighted(x, SLICES["three in a row"], "j", lambda v: v * v))).lower(x)
    assert "xtensor.pad" not in text.as_text("differentiated")
    assert "linalg.fill" not in text.as_text("buffers")
